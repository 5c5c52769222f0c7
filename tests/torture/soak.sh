#!/usr/bin/env bash
# soak.sh ROUNDS: tortures the disk cache so often, each time with other random numbers. KRF_BUILD_DIR: the build
# (default build/dev). Ends with 1 at the first broken promise.
set -u
rounds=${1:-1}
root=$(cd "$(dirname "$0")/../.." && pwd)
export KRF_BUILD_DIR=${KRF_BUILD_DIR:-$root/build/dev} KRF_EXHAUSTIVE=1 KRF_TORTURE_ROUNDS=300
if [ ! -x "$KRF_BUILD_DIR/tests/test_writers" ]; then
    echo "skipped: $KRF_BUILD_DIR has no tests"
    exit 77
fi
for ((round = 1; round <= rounds; round++)); do
    echo "round $round of $rounds"
    # The bits of an entry are the same each time.
    if [ "$round" -gt 1 ]; then unset KRF_EXHAUSTIVE; fi
    for name in entries folders writers; do
        "$KRF_BUILD_DIR/tests/test_$name" || { echo "round $round: test_$name FAILED"; exit 1; }
    done
done
