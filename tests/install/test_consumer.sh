#!/usr/bin/env bash
# What is installed serves programs: by find_package and by pkg-config, shared and static, C11 and C++17.
set -eu
build=${KRF_BUILD_DIR:?} cc=${CC:-cc}
if ! grep -q '^KRF_SANITIZE:[A-Z]*=$' "$build/CMakeCache.txt"; then
    echo "skipped: programs would need the sanitizers as well"
    exit 77
fi
generator=$(sed -n 's/^CMAKE_GENERATOR:INTERNAL=//p' "$build/CMakeCache.txt")
cxx=${CXX:-$(command -v g++ || command -v clang++ || true)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" >/dev/null
mkdir "$work/source"
cat >"$work/source/main.c" <<'END'
#include <kerfuse/kerfuse.h>
#include <stdio.h>
int main(void) {
    printf("%s %d\n", krf_version_text(), (int)krf_dtype_size(KRF_F64));
    return krf_version() == KRF_VERSION_NUMBER ? 0 : 1;
}
END
cp "$work/source/main.c" "$work/source/main.cc"
cat >"$work/source/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES C)
find_package(kerfuse 0.1 CONFIG REQUIRED)
add_executable(shared main.c)
target_link_libraries(shared PRIVATE kerfuse::kerfuse)
add_executable(static main.c)
target_link_libraries(static PRIVATE kerfuse::kerfuse_static)
if(CMAKE_CXX_COMPILER)
    enable_language(CXX)
    set(CMAKE_CXX_STANDARD 17)
    add_executable(cxx main.cc)
    target_link_libraries(cxx PRIVATE kerfuse::kerfuse_static)
endif()
END
if ! { cmake -S "$work/source" -B "$work/build" -G "$generator" -DCMAKE_PREFIX_PATH="$work/prefix" \
    -DCMAKE_C_COMPILER="$cc" ${cxx:+-DCMAKE_CXX_COMPILER="$cxx"} && cmake --build "$work/build"; } >"$work/log" 2>&1; then
    cat "$work/log"
    exit 1
fi
for program in shared static ${cxx:+cxx}; do
    echo "find_package, $program: $("$work/build/$program")"
done

if command -v pkg-config >/dev/null; then
    PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name kerfuse.pc)")
    export PKG_CONFIG_PATH
    libdir=$(pkg-config --variable=libdir kerfuse)
    # shellcheck disable=SC2046 # flags are words
    "$cc" "$work/source/main.c" -o "$work/main" $(pkg-config --cflags --libs kerfuse)
    echo "pkg-config, shared: $(LD_LIBRARY_PATH=$libdir "$work/main")"
fi
"$work/prefix/bin/fusedump" --version
