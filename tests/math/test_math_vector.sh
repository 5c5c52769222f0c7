#!/bin/sh
# Each function of codegen/math/real.h, called in a plain loop, must become packed zmm code without calls.
# Arguments: the compilers to try (default: gcc, and clang where there is one).
set -u
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
case $(uname -m) in
x86_64 | amd64) ;;
*)
    echo "skipped: not an x86-64 machine"
    exit 77
    ;;
esac
if [ $# -eq 0 ]; then
    set -- gcc
    if command -v clang >/dev/null 2>&1; then set -- gcc clang; fi
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
status=0

# compiler, function, type, suffix of packed instructions
check() {
    cat >"$work/loop.c" <<END
#define KRF_FN static inline
#include "codegen/math/real.h"
void loop(const $3 *restrict x, $3 *restrict y, long n);
void loop(const $3 *restrict x, $3 *restrict y, long n) {
    for (long i = 0; i < n; i++) y[i] = $2(x[i]);
}
END
    # shellcheck disable=SC2086 # the compiler may come with arguments
    if ! $1 -std=c11 -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=off -fno-math-errno -fno-trapping-math \
        -I"$root" -S -o "$work/loop.s" "$work/loop.c"; then
        echo "FAIL $1 $2: does not compile"
        status=1
        return
    fi
    packed=$(grep -Ec "vfn?m(add|sub)[0-9]*$4[[:space:]].*%zmm" "$work/loop.s")
    # A body that is vectorised in part extracts lanes and works on xmm: the remainder has scalar fma, lane moves are the mark.
    lanes=$(grep -Ec "vextract[fi](32|64)x[0-9][[:space:]].*%zmm" "$work/loop.s")
    calls=$(grep -Ec "^[[:space:]]*(call|jmp)q?[[:space:]]+[*A-Za-z_]" "$work/loop.s")
    if [ "$packed" -ge 5 ] && [ "$calls" -eq 0 ] && [ "$lanes" -eq 0 ]; then
        echo "ok   $1 $2: $packed packed fma"
    else
        echo "FAIL $1 $2: $packed packed fma, $lanes lane extractions, $calls calls"
        status=1
    fi
}

for cc in "$@"; do
    for name in exp expm1 log log1p tanh; do
        check "$cc" "krf_${name}f" float ps
        check "$cc" "krf_$name" double pd
    done
done
exit $status
