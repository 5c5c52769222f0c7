#!/usr/bin/env bash
# The examples of raw kernels and generalised functions check themselves; here they run on the CPU, on the simulated GPU, or on a GPU. KRF_TEST_DEVICE
set -euo pipefail
build=${KRF_BUILD_DIR:?}
if [ ! -x "$build/raw_transpose" ]; then
    echo "skipped: the examples are not built"
    exit 77
fi
wanted=${KRF_TEST_DEVICE:-cpu}
small=yes
if [ "$wanted" = cpu ]; then
    export KRF_LIBCUDA=/nonexistent # then the default device is the CPU
    small=
elif [ -z "${KRF_LIBCUDA:-}" ]; then
    small=
fi

failed=0
# example NAME ARGUMENTS OF A SMALL RUN...
example() {
    local name=$1
    shift
    [ -n "$small" ] || set --
    [ "$name" != raw_matmul ] || set -- "${1:-300}"
    if ! out=$("$build/$name" "$@" 2>&1); then
        failed=1
        echo "FAIL: $name $*"
    fi
    echo "$out"
    if [ "$wanted" != cpu ] && ! grep -q '^device: .*(sm_' <<<"$out"; then
        if grep -q '^device: ' <<<"$out"; then
            echo "skipped: no CUDA device"
            exit 77
        fi
    fi
}
example raw_transpose 70 45
example raw_matmul 40
[ -n "$small" ] && example raw_counter atomic 1000 || example raw_counter
example raw_vmult 1000
example batch_matmul 1000
exit "$failed"
