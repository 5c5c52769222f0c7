#!/usr/bin/env bash
# A kernel may begin before the one that it depends on has ended (src/backend/cuda/replay.c): the first that each does is to wait for that, unless it says where it does ($WAIT_TO_STORE).
set -eu
cd "$KRF_SOURCE_DIR"
found=0
for file in codegen/skeleton/*.cu; do
    grep -q __global__ "$file" || continue
    found=$((found + 1))
    awk '/__global__/ { head = NR } head && NR == head + 1 { first = $0 } END { exit first !~ /^    [$]BEGIN$/ }' "$file" ||
        { echo "$file: the first line of its kernel is not \$BEGIN"; exit 1; }
done
[ "$found" -gt 5 ] || { echo "only $found skeletons of CUDA kernels found: this test looks in the wrong place"; exit 1; }
