# shellcheck shell=bash
# What tools/quickstart and tools/test share: finding what is missing, installing it, building. Sourced.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
name=$(basename "$0")
packages=()

say() { printf '%s: %s\n' "$name" "$*" >&2; }
die() { say "$@"; exit 1; }

compiler() { command -v "${CC:-cc}" || command -v gcc || command -v clang; }

# A Python that has NumPy; prints nothing when there is none.
find_python() {
    local python
    for python in python3 /usr/bin/python3; do
        if command -v "$python" >/dev/null && "$python" -c 'import numpy' 2>/dev/null; then
            command -v "$python"
            return
        fi
    done
}

has_header() { printf '#include <%s>\n' "$1" | "$(compiler)" -E - >/dev/null 2>&1; }
has_cmake() {
    local version
    version=$(cmake --version 2>/dev/null | sed -n 's/^cmake version //p') && [ -n "$version" ] &&
        [ "$(printf '3.25\n%s\n' "$version" | sort -V | head -n 1)" = 3.25 ]
}

# need CHECK PACKAGE...: the packages are needed when the check (a command) fails.
need() {
    local check=$1
    shift
    if ! eval "$check" >/dev/null 2>&1; then packages+=("$@"); fi
}

need_for_build() {
    need compiler gcc
    need 'compiler && has_header stdio.h' libc6-dev
    need has_cmake cmake
    need 'command -v ninja' ninja-build
    need 'compiler && has_header xxhash.h' libxxhash-dev
}

need_for_tests() {
    need 'command -v g++ || command -v clang++' g++
    need 'compiler && has_header cmocka.h' libcmocka-dev
    need 'compiler && has_header mpfr.h' libmpfr-dev
    # shellcheck disable=SC2016 # need evaluates it
    need '[ -n "$(find_python)" ]' python3 python3-numpy
}

# What one example wants, and nothing else: installed where that is possible, and done without elsewhere.
want_for_examples() {
    if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then need 'compiler && has_header nlopt.h' libnlopt-dev; fi
}

# Installs what is missing; without the right to, says how and ends.
install_missing() {
    if [ ${#packages[@]} -eq 0 ]; then return; fi
    if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
        say "missing: ${packages[*]}. On Debian and Ubuntu this installs it:"
        printf '    %sapt-get update && %sapt-get install -y --no-install-recommends %s\n' \
            "${sudo=$([ "$(id -u)" -eq 0 ] || echo 'sudo ')}" "$sudo" "${packages[*]}" >&2
        exit 1
    fi
    say "installing ${packages[*]}"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -q >&2
    apt-get install -y -q --no-install-recommends "${packages[@]}" >&2
    has_cmake || die "CMake 3.25 or newer is needed, and this system's packages have an older one"
}

# configure PRESET OPTION...: of build/PRESET, with CMake's options.
configure() {
    local preset=$1 python
    shift
    python=$(find_python)
    (cd "$root" && cmake --preset "$preset" ${python:+"-DKRF_PYTHON=$python"} "$@" >&2)
}

# compile PRESET TARGET...: what is configured; all of it where no target is named.
compile() {
    local preset=$1
    shift
    (cd "$root" && cmake --build --preset "$preset" --parallel "$(nproc)" ${1:+--target "$@"} >&2)
}

# build PRESET OPTION...
build() { configure "$@" && compile "$1"; }
