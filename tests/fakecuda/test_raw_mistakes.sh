#!/usr/bin/env bash
# What docs/raw.md promises about mistakes in raw kernels: the race of examples/raw_counter.c is found by ThreadSanitizer, the write outside by AddressSanitizer at the kernel's line,
# and by the doubles' own red zones without any sanitizer. The correct program stays silent.
# ctest: simulated. KRF_TEST_DEVICE
set -euo pipefail
root=${KRF_SOURCE_DIR:?}
build=${KRF_BUILD_DIR:?}
cc=${CC:-cc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$root"

skip() {
    echo "skipped: $1"
    exit 77
}
[ -n "${KRF_LIBCUDA:-}" ] || skip "no doubles"
[ -f "$build/libkerfuse.a" ] || skip "no static library"
grep -q '^KRF_SANITIZE:[A-Z]*=$' "$build/CMakeCache.txt" || skip "the library is built with sanitizers itself"
types=''
case $("$cc" --version) in
*clang*) FAKECUDA_CXX=clang++ types=' -fno-sanitize=function,vptr' ;; # they ask the C++ library for the types of functions
*) FAKECUDA_CXX=g++ ;;
esac
command -v "$FAKECUDA_CXX" >/dev/null || skip "no $FAKECUDA_CXX"
export FAKECUDA_CXX FAKECUDA_TMPDIR=$work/images KRF_CACHE=off KRF_EXACT_MEMORY=1
THREADS=100

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
    if [ $# -gt 0 ]; then
        echo 'int main(void) { return 0; }' | "$cc" "$@" -x c - -o "$out/probe" 2>/dev/null && "$out/probe" || skip "the compiler has no $*"
    fi
    # shellcheck disable=SC2046
    "$cc" "${settings[@]}" "$@" -fvisibility=hidden -shared -o "$out/libfakecuda.so" -pthread -ldl -lm $(printf 'tests/fakecuda/%s.c ' "${both[@]}" "${driver[@]}")
    # shellcheck disable=SC2046
    "$cc" "${settings[@]}" "$@" -fvisibility=hidden -shared -o "$out/libfakenvrtc.so" -pthread -ldl $(printf 'tests/fakecuda/%s.c ' "${both[@]}" "${nvrtc[@]}")
    "$cc" -D_GNU_SOURCE -std=c11 -g1 "$@" -Iinclude -o "$out/raw_counter" examples/raw_counter.c "$build/libkerfuse.a" -pthread -ldl -lm
    export KRF_LIBCUDA=$out/libfakecuda.so KRF_LIBNVRTC=$out/libfakenvrtc.so FAKECUDA_CXXFLAGS="$* -g1 -fno-omit-frame-pointer$types"
    program=$out/raw_counter
}

failed=0
silent() {
    if ! "$program" "$1" $THREADS >"$work/log" 2>&1; then
        echo "FAIL: $1 is correct, but:"
        cat "$work/log"
        failed=1
    fi
}
finds() {
    local mode=$1
    shift
    if "$program" "$mode" $THREADS >"$work/log" 2>&1; then
        echo "FAIL: $mode: nothing was found"
        failed=1
    fi
    for pattern; do
        if ! grep -q "$pattern" "$work/log"; then
            echo "FAIL: $mode: no '$pattern' in"
            cat "$work/log"
            failed=1
        fi
    done
}

build plain
silent atomic
finds outside "fakecuda: something wrote to .* 400 bytes from the start of an allocation of 400 bytes"

build thread -fsanitize=thread
export TSAN_OPTIONS=halt_on_error=1 FAKECUDA_RACE=1
silent atomic
finds race "data race" "count_threads.cu:5"
unset FAKECUDA_RACE

build address -fsanitize=address,undefined -fno-sanitize-recover=all
export ASAN_OPTIONS=detect_leaks=0
silent atomic
finds outside "AddressSanitizer: use-after-poison" "count_threads.cu:11"

[ "$failed" = 0 ] && echo ok
exit "$failed"
