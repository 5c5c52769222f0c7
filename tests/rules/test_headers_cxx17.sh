#!/usr/bin/env bash
# Each public header compiles alone as C++17.
source "$(dirname "$0")/common.sh"

cxx=${CXX:-$(command -v g++ || command -v clang++)}
if [ -z "$cxx" ]; then
    echo "skipped: no C++ compiler"
    exit 77
fi
for header in include/kerfuse/*.h; do
    name=kerfuse/$(basename "$header")
    printf '#include <%s>\n#include <%s>\nextern int nothing;\n' "$name" "$name" >"$work/alone.cc"
    "$cxx" -std=c++17 -Wall -Wextra -Wpedantic -Werror -Iinclude -fsyntax-only "$work/alone.cc" 2>"$work/found" ||
        fail "$name alone in C++17" "$work/found"
done
finish
