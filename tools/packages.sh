# shellcheck shell=bash
# What the project needs from Debian 12, and how it gets there. Sourced by dev.

need_to_build() {
    need_packages g++ cmake ninja-build libboost1.81-dev libsqlite3-dev libhiredis-dev libssl-dev \
        libcli11-dev libfmt-dev
}

need_to_test() {
    need_to_build
    need_packages libgtest-dev libgmock-dev libbenchmark-dev clang-14 clang-tidy-14 \
        clang-format-14 libclang-rt-14-dev python3 shellcheck redis-server redis-tools
}

# The toolchains of the peers: those on the PATH, else Debian's.
need_to_meet_peers() {
    command -v javac >/dev/null || need_packages default-jdk-headless
    command -v mvn >/dev/null || need_packages maven
}

missing_packages() {
    local name
    for name in "$@"; do
        [[ $(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null) == installed ]] ||
            echo "$name"
    done
}

# Installs those of the named packages that are missing. Does nothing, quickly, if none is.
need_packages() {
    if ! command -v dpkg-query >/dev/null; then
        echo "dev: not a Debian system; these must be there by other means: $*" >&2
        return
    fi
    local missing as_root=()
    mapfile -t missing < <(missing_packages "$@")
    [[ ${#missing[@]} -gt 0 ]] || return 0
    if [[ $EUID -ne 0 ]]; then
        command -v sudo >/dev/null ||
            fail "packages are missing; as root: apt-get install ${missing[*]}"
        as_root=(sudo)
    fi
    echo "dev: installing ${missing[*]}" >&2
    install_packages >&2 ||
        fail "could not install them; as root: apt-get install ${missing[*]}"
}

# Of need_packages: uses its variables.
install_packages() {
    "${as_root[@]}" apt-get update -qq &&
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
            apt-get install -y -qq --no-install-recommends "${missing[@]}"
}
