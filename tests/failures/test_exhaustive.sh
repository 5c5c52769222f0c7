#!/usr/bin/env bash
# The failure loops without short cuts: every allocation alone and with all after it, every call with every error.
# ctest: slow
set -u
export KRF_EXHAUSTIVE=1
for name in memory files; do
    "${KRF_BUILD_DIR:?}/tests/test_$name" || exit 1
done
