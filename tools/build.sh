# shellcheck shell=bash
# Configuring and building by preset. Sourced by dev.

# Terminals see ninja's progress; logs do not.
build_quietly=()
[[ -t 1 ]] || build_quietly=(-- --quiet)

# configure PRESET [OPTION...]
configure() {
    local launcher=()
    if command -v ccache >/dev/null; then
        launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
    fi
    cmake --preset "$1" --log-level=WARNING "${launcher[@]}" "${@:2}" >/dev/null
}

# build PRESET [TARGET...]
build() {
    local targets=("${@:2}")
    configure "$1" && cmake --build --preset "$1" ${targets:+--target "${targets[@]}"} \
        "${build_quietly[@]}"
}

# Only what `demo` needs. A tree that was configured for more stays so, else its tests would go.
build_program() {
    [[ -f build/build.ninja ]] ||
        configure dev -DHOLDFAST_BUILD_{TESTS,BENCH,EXAMPLES}=OFF
    cmake --build --preset dev --target holdfast_program "${build_quietly[@]}"
}

build_command() {
    need_to_test
    build "${1:-dev}"
}
