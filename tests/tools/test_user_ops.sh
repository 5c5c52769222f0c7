#!/usr/bin/env bash
# The example of what users write finds every number that it expects, and the benchmark of it runs to its end, on the device KRF_TEST_DEVICE.
set -euo pipefail
device=${KRF_TEST_DEVICE:-cpu}
if [[ $device == cuda ]] && ! message=$("$KRF_BUILD_DIR/fuserun" --device cuda 1 2>&1); then
    echo "skipped: $message"
    exit 77
fi
"$KRF_BUILD_DIR/user_ops" | tee /dev/stderr | grep -q "^all as expected$"
lines=$("$KRF_BUILD_DIR/kerfuse-defined" --device "$device" --elements 1024 --turns 1 | wc -l)
[[ $lines == 20 ]] || { echo "kerfuse-defined wrote $lines lines" >&2; exit 1; }
