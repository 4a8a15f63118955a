# The functions with which every folder describes its targets.

# Finds a package or says what to install. Nothing is downloaded, nothing is left out in silence.
# Usage: holdfast_require(<cmake package> <Debian package> [version])
function(holdfast_require package debian)
    # Beside this file: modules for packages that describe themselves badly or not at all.
    list(PREPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
    find_package(${package} ${ARGN} QUIET GLOBAL)
    if(NOT ${package}_FOUND)
        message(FATAL_ERROR
            "holdfast needs ${package} ${ARGN}. Install it (Debian: apt-get install ${debian}), or "
            "turn off the HOLDFAST_ option that asks for it.")
    endif()
endfunction()

# What all our targets have in common. Everything is private: nothing of it reaches our users.
function(holdfast_settings target)
    set_target_properties(${target} PROPERTIES
        CXX_EXTENSIONS OFF
        CXX_VISIBILITY_PRESET hidden
        VISIBILITY_INLINES_HIDDEN ON
        POSITION_INDEPENDENT_CODE ON
        BUILD_WITH_INSTALL_RPATH ON
        RUNTIME_OUTPUT_DIRECTORY ${holdfast_runtime_output}
        LIBRARY_OUTPUT_DIRECTORY ${holdfast_library_output})
    target_compile_features(${target} PRIVATE cxx_std_20)
    target_compile_options(${target} PRIVATE
        -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast
        -Wimplicit-fallthrough)
    target_link_libraries(${target} PRIVATE Threads::Threads)
endfunction()

# Our own sources see include/ and src/. Third-party headers are system headers to them.
function(holdfast_internal target)
    holdfast_settings(${target})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include
        ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${target} PRIVATE Boost::headers)
endfunction()

# What our shared libraries have in common. A symbol that is missing shows when the library is
# linked, not at a user's; and nothing but ours is exported.
function(holdfast_shared target)
    set(exports ${PROJECT_SOURCE_DIR}/cmake/exports.map)
    target_link_options(${target} PRIVATE LINKER:-z,defs LINKER:--version-script=${exports})
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${exports})
endfunction()

# A part of the library: holdfast_part(core a.cpp b.cpp) makes the objects holdfast_core, compiled
# once and linked into the shared library and the static one.
function(holdfast_part name)
    add_library(holdfast_${name} OBJECT ${ARGN})
    holdfast_internal(holdfast_${name})
endfunction()

# The same parts compiled again under another definition:
# holdfast_variant(holdfast_planted DEFINITION HOLDFAST_PLANTED_BUGS PARTS core support)
function(holdfast_variant target)
    cmake_parse_arguments(arg "" "DEFINITION" "PARTS" ${ARGN})
    add_library(${target} STATIC EXCLUDE_FROM_ALL)
    foreach(part IN LISTS arg_PARTS)
        get_target_property(sources holdfast_${part} SOURCES)
        get_target_property(folder holdfast_${part} SOURCE_DIR)
        list(TRANSFORM sources PREPEND ${folder}/)
        target_sources(${target} PRIVATE ${sources})
    endforeach()
    holdfast_internal(${target})
    target_include_directories(${target} INTERFACE ${PROJECT_SOURCE_DIR}/include
        ${PROJECT_SOURCE_DIR}/src)
    target_compile_definitions(${target} PUBLIC ${arg_DEFINITION})
endfunction()

# A test program whose cases are tests of one ring (the label):
# holdfast_test(unit_core LABEL unit SOURCES a.cpp LINK holdfast_static)
# With SERIAL its cases run alone: for tests that load the machine. TIMEOUT is per case. FIXTURE is
# what CTest sets up before.
function(holdfast_test name)
    cmake_parse_arguments(arg "SERIAL" "LABEL;TIMEOUT;FIXTURE" "SOURCES;LINK" ${ARGN})
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 60)
    endif()
    add_executable(${name} ${arg_SOURCES})
    holdfast_internal(${name})
    # Tests stay where they are built, so they find libraries by the build tree's absolute paths.
    set_target_properties(${name} PROPERTIES BUILD_WITH_INSTALL_RPATH OFF
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
    target_link_libraries(${name} PRIVATE ${arg_LINK} GTest::gmock GTest::gtest_main)
    # PRE_TEST: the program is asked for its cases when tests run, not while it is built.
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST TEST_PREFIX ${arg_LABEL}.
        PROPERTIES LABELS ${arg_LABEL} TIMEOUT ${arg_TIMEOUT} RUN_SERIAL ${arg_SERIAL}
            FIXTURES_REQUIRED "${arg_FIXTURE}")
endfunction()

# A store's library: holdfast_store(sqlite) makes the target holdfast-sqlite of the part sqlite. It
# registers itself when it is loaded, and no program refers to it by name, so those who link it say
# that it is needed: a linker under --as-needed would drop it.
function(holdfast_store name)
    set(target holdfast-${name})
    add_library(${target} SHARED)
    add_library(holdfast::${name} ALIAS ${target})
    holdfast_settings(${target})
    holdfast_shared(${target})
    set_target_properties(${target} PROPERTIES
        LINKER_LANGUAGE CXX
        EXPORT_NAME ${name}
        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${holdfast_store_dir}
        INSTALL_RPATH $ORIGIN/..)
    target_link_libraries(${target}
        PRIVATE holdfast_${name}
        PUBLIC holdfast
        INTERFACE -Wl,--push-state,--no-as-needed,$<TARGET_FILE:holdfast::${name}>,--pop-state)
endfunction()

# A fuzz target in one file: holdfast_fuzz(url LINK holdfast_static). Its test runs the stored corpus
# and then searches for some seconds; what it finds on the way stays in the build tree.
function(holdfast_fuzz name)
    cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
    add_executable(fuzz_${name} ${name}.cpp)
    holdfast_internal(fuzz_${name})
    set_target_properties(fuzz_${name} PROPERTIES BUILD_WITH_INSTALL_RPATH OFF
        OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
    target_link_libraries(fuzz_${name} PRIVATE ${arg_LINK})
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    if(NOT TARGET fuzz_targets)
        add_custom_target(fuzz_targets)
    endif()
    add_dependencies(fuzz_targets fuzz_${name})
    set(found ${PROJECT_BINARY_DIR}/corpus-${name})
    file(MAKE_DIRECTORY ${found})
    add_test(NAME fuzz.${name} COMMAND fuzz_${name} -max_total_time=10 -timeout=5 -rss_limit_mb=1024
        -artifact_prefix=${found}/../crash-${name}- ${found}
        ${CMAKE_CURRENT_SOURCE_DIR}/corpus/${name})
    set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz TIMEOUT 120)
endfunction()
