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

# name, type, arguments, label unless it is the name: one loop; z also stands for a third operand
loop() {
    printf 'void loop_%s(const %s *restrict x, const %s *restrict z, %s *restrict y);\n' "${4:-$1}" "$2" "$2" "$2"
    printf 'void loop_%s(const %s *restrict x, const %s *restrict z, %s *restrict y) {\n' "${4:-$1}" "$2" "$2" "$2"
    printf '    (void)z;\n    for (int i = 0; i < 256; i++) y[i] = krf_%s(%s);\n}\n' "$1" "$3"
}

# compiler, -march: all loops in one file, whose assembly is cut at their labels
check() {
    # shellcheck disable=SC2086 # the compiler may come with arguments
    if ! $1 -std=c11 -O3 --param max-completely-peel-times=4 -march=$2 -ffp-contract=off -fno-math-errno -fno-trapping-math \
        -I"$root" -S -o "$work/loops.s" "$work/loops.c"; then
        echo "FAIL $1 $2: does not compile"
        status=1
        return
    fi
    awk -v who="$1 $2" '
        function finish() {
            if (name == "") return
            good = packed >= 3 && scalar == 0 && calls == 0
            printf "%s %s krf_%s: %d packed fma and sqrt, %d scalar operations, %d calls\n", good ? "ok  " : "FAIL", who, name, packed, scalar, calls
            bad += !good
            seen++
        }
        /^loop_[a-z0-9_]*:/ { finish(); name = substr($1, 6); sub(/:.*/, "", name); packed = scalar = calls = 0 }
        /^\t\.size\tloop_/ { finish(); name = "" }
        /vfn?m(add|sub)[0-9]*p[sd]|vsqrtp[sd]/ { packed++ }
        /vfn?m(add|sub)[0-9]*s[sd]|v(add|sub|mul|div|sqrt)s[sd]/ { scalar++ }
        /^[ \t]*(call|jmp)q?[ \t]+[*A-Za-z_]/ { calls++ }
        END { finish(); exit bad > 0 || seen == 0 }' "$work/loops.s" || status=1
}

one="exp expm1 log log1p tanh sin cos tan sinpi cospi asin acos atan sinh cosh asinh acosh atanh exp2 exp10 log2 log10 cbrt
    erf erfc erfinv i0 sigmoid silu gelu gelu_tanh logit"
two="pow hypot atan2 logaddexp"
{
    echo '#define KRF_FN static inline __attribute__((always_inline))' # as the library says
    echo '#define KRF_F32(name) __builtin_##name##f'
    echo '#define KRF_F64(name) __builtin_##name'
    for file in real trig explog hyper gates single floats tails powers roots arcs inverse pairs erf special gammas prelude random; do echo "#include \"codegen/math/$file.h\""; done
    for name in $one; do loop "${name}f" float "x[i]" && loop "$name" double "x[i]"; done
    for name in lgamma tgamma digamma; do loop "${name}f" float "x[i]"; done
    loop ndtri_f32 float "x[i]" && loop ndtri_f64 double "x[i]"
    for name in log_rest arc_rest; do loop "$name" double "x[i], z[i], z[i + 256]"; done
    for name in $two; do loop "${name}f" float "x[i], z[i]" && loop "$name" double "x[i], z[i]"; done
    for constant in 2.5 7.0; do
        loop powf float "x[i], ${constant}f" "powf_${constant%.*}" && loop pow double "x[i], $constant" "pow_${constant%.*}"
    done
} >"$work/loops.c"
for cc in "$@"; do
    for arch in x86-64-v3 x86-64-v4; do
        check "$cc" $arch
    done
done
exit $status
