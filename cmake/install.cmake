# Installs the libraries, the headers and a CMake package with a component per store.

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/holdfast)

install(TARGETS holdfast EXPORT holdfast-core
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT holdfast-core NAMESPACE holdfast:: DESTINATION ${package_dir})

# A file per store, so that a package manager may ship each store by itself.
if(HOLDFAST_STORE_SQLITE)
    install(TARGETS holdfast-sqlite EXPORT holdfast-sqlite
        LIBRARY DESTINATION ${holdfast_store_dir})
    install(EXPORT holdfast-sqlite NAMESPACE holdfast:: DESTINATION ${package_dir})
endif()

if(HOLDFAST_STORE_REDIS)
    install(TARGETS holdfast-redis EXPORT holdfast-redis
        LIBRARY DESTINATION ${holdfast_store_dir})
    install(EXPORT holdfast-redis NAMESPACE holdfast:: DESTINATION ${package_dir})
endif()

if(HOLDFAST_BUILD_CLI)
    install(TARGETS holdfast_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    install(TARGETS holdfast-networked RUNTIME DESTINATION ${holdfast_store_dir})
    if(TARGET holdfast-demo)
        install(TARGETS holdfast-demo RUNTIME DESTINATION ${holdfast_store_dir})
    endif()
endif()

configure_package_config_file(cmake/holdfastConfig.cmake.in
    ${PROJECT_BINARY_DIR}/holdfastConfig.cmake INSTALL_DESTINATION ${package_dir})
# Before 1.0 a new minor version may break what was promised.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/holdfastConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES
    ${PROJECT_BINARY_DIR}/holdfastConfig.cmake ${PROJECT_BINARY_DIR}/holdfastConfigVersion.cmake
    DESTINATION ${package_dir})
