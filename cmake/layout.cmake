# Where the parts lie. The build tree has the shape of the installed tree, also where the library
# directory is lib/x86_64-linux-gnu, so one set of relative paths is right in both: the program finds
# its libraries and its stores however it was built, installed or moved.

set(holdfast_store_dir ${CMAKE_INSTALL_LIBDIR}/holdfast)
file(RELATIVE_PATH HOLDFAST_BIN_TO_LIB
    ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
# For the program, relative to the directory of its executable.
set(HOLDFAST_STORE_SUBDIR ${HOLDFAST_BIN_TO_LIB}/holdfast)

set(holdfast_runtime_output ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_BINDIR})
set(holdfast_library_output ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR})
