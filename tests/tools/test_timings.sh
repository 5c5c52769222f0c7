#!/usr/bin/env bash
# kerfuse-overlap and kerfuse-startup run to their end and say what they are for: every figure, no NVRTC with a warm cache, a compiler with a cold one. How
# long things take is no test. Runs on the device KRF_TEST_DEVICE.
set -euo pipefail
device=${KRF_TEST_DEVICE:-cpu}
fail() {
    echo "$1" >&2
    exit 1
}
expect() { # expect text lines...: each line is found
    local text=$1
    shift
    for line in "$@"; do
        grep -qE "$line" <<<"$text" || fail "no line '$line' in:
$text"
    done
}
number='[0-9]+\.[0-9]+'

if [[ $device == cuda ]] && ! message=$("$KRF_BUILD_DIR/fuserun" --device cuda 1 2>&1); then
    echo "skipped: $message"
    exit 77
fi

overlap=$("$KRF_BUILD_DIR/kerfuse-overlap" --device "$device" --chunks 4 --bytes 65536 --microseconds 1)
expect "$overlap" "^one kernel alone, replayed: $number us" "^two independent kernels, replayed: $number us, $number of one" \
    "^two independent kernels, launched: $number us" "^copy in alone: $number ms" "^compute alone: $number ms" "^copy out alone: $number ms" \
    "^all three: $number ms, $number of the slowest leg"

startup=$("$KRF_BUILD_DIR/kerfuse-startup" --device "$device" --runs 1)
expect "$startup" "^warm disk cache: context $number ms, then the first result $number ms .* 0 compiled, 1 from disk; libnvrtc is not mapped" \
    "^cold disk cache: context $number ms, then the first result $number ms .* 1 compiled, 0 from disk; libnvrtc is"
if [[ $device == cuda ]]; then
    expect "$startup" "^driver alone: .* $number ms" "^cold .* libnvrtc is mapped"
fi
[[ $("$KRF_BUILD_DIR/kerfuse-overlap" --chunks 2>&1 || echo "status $?") == *"status 2"* ]] || fail "an option without a value is accepted"
