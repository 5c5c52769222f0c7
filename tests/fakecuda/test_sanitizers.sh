#!/usr/bin/env bash
# The sanitizers find mistakes on the simulated GPU: the programs of plants.c, built with the doubles under
# ThreadSanitizer and under AddressSanitizer. Correct twins stay silent.
# ctest: simulated. KRF_TEST_DEVICE
set -euo pipefail
root=${KRF_SOURCE_DIR:?}
cc=${CC:-cc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$root"

skip() {
    echo "skipped: $1"
    exit 77
}
[ -n "${KRF_LIBCUDA:-}" ] || skip "no doubles"
types=''
case $("$cc" --version) in
*clang*) FAKECUDA_CXX=clang++ types=' -fno-sanitize=function,vptr' ;; # they ask the C++ library for the types of functions
*) FAKECUDA_CXX=g++ ;;
esac
command -v "$FAKECUDA_CXX" >/dev/null || skip "no $FAKECUDA_CXX"
export FAKECUDA_CXX FAKECUDA_TMPDIR=$work/images

settings=(-std=c11 -D_GNU_SOURCE -O1 -g1 -fPIC -fno-omit-frame-pointer -Iinclude -Isrc -I. -Itests
    "-DFAKECUDA_SIM_HEADER=\"$root/tests/fakecuda/cudasim.h\"")
both=(calls compile image_file)
driver=(capture context copy driver engine event fiber fibers graph heap host launch library memory stale stream threads)
nvrtc=(kernels nvrtc)

# build FOLDER FLAGS...
build() {
    local out=$work/$1
    shift
    mkdir "$out"
    echo 'int main(void) { return 0; }' | "$cc" "$@" -x c - -o "$out/probe" 2>/dev/null && "$out/probe" ||
        skip "the compiler has no $*"
    # shellcheck disable=SC2046
    "$cc" "${settings[@]}" "$@" -fvisibility=hidden -shared -o "$out/libfakecuda.so" -pthread -ldl -lm \
        $(printf 'tests/fakecuda/%s.c ' "${both[@]}" "${driver[@]}")
    # shellcheck disable=SC2046
    "$cc" "${settings[@]}" "$@" -fvisibility=hidden -shared -o "$out/libfakenvrtc.so" -pthread -ldl \
        $(printf 'tests/fakecuda/%s.c ' "${both[@]}" "${nvrtc[@]}")
    "$cc" "${settings[@]}" "$@" -o "$out/plants" tests/fakecuda/plants.c \
        src/backend/cuda/{driver,nvrtc,nvrtc_find,symbols}.c src/base/*.c -lcmocka -pthread -ldl -lm
    export KRF_LIBCUDA=$out/libfakecuda.so KRF_LIBNVRTC=$out/libfakenvrtc.so FAKECUDA_CXXFLAGS="$* -g1 -fno-omit-frame-pointer$types"
    plants=$out/plants
}

failed=0
# silent NAME, finds NAME PATTERN...
silent() {
    if ! "$plants" "$1" >"$work/log" 2>&1; then
        echo "FAIL: $1 is correct, but:"
        cat "$work/log"
        failed=1
    fi
}
finds() {
    local name=$1
    shift
    if "$plants" "$name" >"$work/log" 2>&1; then
        echo "FAIL: $name: nothing was found"
        failed=1
    fi
    for pattern; do
        if ! grep -q "$pattern" "$work/log"; then
            echo "FAIL: $name: no '$pattern' in"
            cat "$work/log"
            failed=1
        fi
    done
}

build thread -fsanitize=thread
export TSAN_OPTIONS=halt_on_error=1
silent wait
finds missing_wait "data race"
silent synchronize
finds missing_synchronize "data race"
for race in 0 1; do # threads of a block are real ones in both
    export FAKECUDA_RACE=$race
    silent barrier
    finds missing_barrier "data race" "krf_k.cu:[34]"
    silent cluster
    finds missing_cluster "data race" "krf_k.cu:[46]"
done
silent fence
finds missing_fence "data race"
FAKECUDA_SEED=5 silent fence
unset FAKECUDA_RACE

build address -fsanitize=address,undefined -fno-sanitize-recover=all
export ASAN_OPTIONS=detect_leaks=0
silent in_bounds
silent barrier
silent cluster
finds out_of_bounds "use-after-poison" "krf_k.cu:3"
finds use_after_free "use-after-poison" "krf_k.cu:2"
finds out_of_shared "out of bounds" "krf_k.cu:5"

[ "$failed" = 0 ] && echo ok
exit "$failed"
