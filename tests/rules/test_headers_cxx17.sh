#!/usr/bin/env bash
# Each public header compiles alone as C++17, and krf_scalar takes every number.
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
# Numbers of every type make scalars.
cat >"$work/scalar.cc" <<'END'
#include <complex>
#include <kerfuse/kerfuse.h>
void all(krf_graph *g) {
    krf_scalar(g, true), krf_scalar(g, 'a'), krf_scalar(g, short(1)), krf_scalar(g, 1), krf_scalar(g, 1u), krf_scalar(g, 1l), krf_scalar(g, 1ul);
    krf_scalar(g, 1ll), krf_scalar(g, 1ull), krf_scalar(g, sizeof g), krf_scalar(g, uint8_t(1)), krf_scalar(g, uint64_t(1)), krf_scalar(g, int64_t(1));
    krf_scalar(g, 1.0f), krf_scalar(g, 1.0), krf_scalar(g, 1.0L), krf_scalar(g, std::complex<float>(1, 2)), krf_scalar(g, std::complex<double>(1, 2));
}
END
"$cxx" -std=c++17 -Wall -Wextra -Wpedantic -Wconversion -Werror -Iinclude -fsyntax-only "$work/scalar.cc" 2>"$work/found" || fail "krf_scalar in C++17" "$work/found"
finish
