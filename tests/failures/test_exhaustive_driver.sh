#!/usr/bin/env bash
# The failure loops of the CUDA path without short cuts, on the doubles. ctest: slow. ctest: simulated
set -u
export KRF_EXHAUSTIVE=1
for name in driver memory; do
    "${KRF_BUILD_DIR:?}/tests/test_$name" || exit $?
done
