# shellcheck shell=bash
# The checks that read sources instead of running them. Sourced by dev.

sources() {
    find include src cli tests bench examples \( -name '*.hpp' -o -name '*.cpp' \) -print0
}

scripts() {
    grep -rlIZ --exclude-dir='build*' --exclude-dir=.git -m1 -e '^#!.*bash' -e '^# shellcheck shell' .
}

check_format() {
    sources | xargs -0 clang-format-14 --dry-run -Werror
}

# The tidy preset has each source once and knows Clang's flags. Findings go to stdout.
check_tidy() {
    configure tidy &&
        find src cli -name '*.cpp' -print0 |
        xargs -0 -P "$(nproc)" -n 1 clang-tidy-14 -quiet -p build-tidy 2> >(grep -v 'warnings\? generated' >&2)
}

# Sourced files are read with the script that sources them.
check_scripts() {
    scripts | xargs -0 -n 1 bash -n && scripts | xargs -0 shellcheck -x
}

check_command() {
    need_to_test
    test_rings check layout
}

format_command() {
    need_to_test
    sources | xargs -0 clang-format-14 -i
}
