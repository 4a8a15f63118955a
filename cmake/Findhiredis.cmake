# hiredis, the C client library for Redis, as the target hiredis::hiredis. Debian 12 ships 0.14, whose
# own CMake package has another name and makes no target.

find_path(hiredis_INCLUDE_DIR hiredis/hiredis.h)
find_library(hiredis_LIBRARY hiredis)
mark_as_advanced(hiredis_INCLUDE_DIR hiredis_LIBRARY)

if(hiredis_INCLUDE_DIR)
    file(STRINGS ${hiredis_INCLUDE_DIR}/hiredis/hiredis.h hiredis_lines
        REGEX "^#define HIREDIS_(MAJOR|MINOR|PATCH) [0-9]+")
    string(REGEX MATCHALL "[0-9]+" hiredis_numbers "${hiredis_lines}")
    list(JOIN hiredis_numbers . hiredis_VERSION)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(hiredis
    REQUIRED_VARS hiredis_LIBRARY hiredis_INCLUDE_DIR VERSION_VAR hiredis_VERSION)

if(hiredis_FOUND AND NOT TARGET hiredis::hiredis)
    add_library(hiredis::hiredis UNKNOWN IMPORTED)
    set_target_properties(hiredis::hiredis PROPERTIES
        IMPORTED_LOCATION ${hiredis_LIBRARY}
        INTERFACE_INCLUDE_DIRECTORIES ${hiredis_INCLUDE_DIR})
endif()
