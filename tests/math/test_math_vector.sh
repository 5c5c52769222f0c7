#!/bin/sh
# Each function that ours compute, called in a plain loop over whole vectors, must become packed code without calls, for
# AVX2 and for AVX-512. Arguments: the compilers to try (default: gcc, and clang where there is one).
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

# compiler, -march, function, type, arguments
check() {
    cat >"$work/loop.c" <<END
#define KRF_FN static inline
#include "codegen/math/real.h"
#include "codegen/math/trig.h"
#include "codegen/math/explog.h"
#include "codegen/math/hyper.h"
#include "codegen/math/gates.h"
#include "codegen/math/roots.h"
#include "codegen/math/inverse.h"
#include "codegen/math/erf.h"
void loop(const $4 *restrict x, const $4 *restrict z, $4 *restrict y);
void loop(const $4 *restrict x, const $4 *restrict z, $4 *restrict y) {
    (void)z;
    for (int i = 0; i < 256; i++) y[i] = $3($5);
}
END
    # shellcheck disable=SC2086 # the compiler may come with arguments
    if ! $1 -std=c11 -O3 -march=$2 -ffp-contract=off -fno-math-errno -fno-trapping-math \
        -I"$root" -S -o "$work/loop.s" "$work/loop.c"; then
        echo "FAIL $1 $2 $3: does not compile"
        status=1
        return
    fi
    packed=$(grep -Ec "vfn?m(add|sub)[0-9]*p[sd]" "$work/loop.s")
    scalar=$(grep -Ec "vfn?m(add|sub)[0-9]*s[sd]|v(add|sub|mul|div|sqrt)s[sd]" "$work/loop.s")
    calls=$(grep -Ec "^[[:space:]]*(call|jmp)q?[[:space:]]+[*A-Za-z_]" "$work/loop.s")
    if [ "$packed" -ge 3 ] && [ "$calls" -eq 0 ] && [ "$scalar" -eq 0 ]; then
        echo "ok   $1 $2 $3: $packed packed fma"
    else
        echo "FAIL $1 $2 $3: $packed packed fma, $scalar scalar operations, $calls calls"
        status=1
    fi
}

one="exp expm1 log log1p tanh sin cos tan sinpi cospi asin acos atan sinh cosh asinh acosh atanh exp2 exp10 log2 log10 cbrt
    erf erfc erfinv i0 sigmoid silu gelu gelu_tanh logit"
two="pow hypot atan2 logaddexp"
for cc in "$@"; do
    for arch in x86-64-v3 x86-64-v4; do
        for name in $one; do
            check "$cc" $arch "krf_${name}f" float "x[i]"
            check "$cc" $arch "krf_$name" double "x[i]"
        done
        for name in $two; do
            check "$cc" $arch "krf_${name}f" float "x[i], z[i]"
            check "$cc" $arch "krf_$name" double "x[i], z[i]"
        done
    done
done
exit $status
