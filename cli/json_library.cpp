// Boost.JSON's own sources, compiled into this program: no shared library to load at every start.
#include <boost/json/src.hpp>
