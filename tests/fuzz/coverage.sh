#!/usr/bin/env bash
# coverage.sh SECONDS [FOLDER]: libFuzzer on the parser and on the .npy reader, with the address and undefined behaviour sanitizers: builds both,
# replays the seeds of tests/corpus, then looks for inputs that reach new code, SECONDS each. Inputs that fail are written to
# FOLDER/*/crash-*; exit status 1 then. Needs clang with its libFuzzer (Debian: clang, libclang-rt-*-dev).
set -euo pipefail
seconds=${1:?"seconds for each of the two"}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=${2:-$root/build/fuzz}
clang=${CLANG:-clang}
sanitizers=address,undefined
mkdir -p "$folder"
if ! echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n); int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return d && n > 9; }' |
    "$clang" -x c -fsanitize=fuzzer,$sanitizers -o "$folder/probe" - 2>/dev/null; then
    echo "skipped: $clang has no libFuzzer"
    exit 77
fi

cmake -S "$root" -B "$folder/library" -DCMAKE_C_COMPILER="$clang" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG="-O1 -g" \
    -DKRF_SANITIZE="fuzzer-no-link;address;undefined" -DKRF_TESTS=OFF -DKRF_TOOLS=OFF -DKRF_EXAMPLES=OFF >/dev/null
cmake --build "$folder/library" --target kerfuse_static -j "${JOBS:-2}" >/dev/null

# The words of the text form, for the parser.
{
    sed -nE 's/^(OP|REDUCE)\((\w+),.*/"\2("/p; s/^ALIAS\((\w+),.*/"\1("/p' "$root/src/ir/ops.def"
    sed -nE 's/^DTYPE\(\w+, (\w+),.*/"\1"/p' "$root/src/ir/dtypes.def"
    printf '"%s"\n' return strides axis= keepdims= dtype= reshape transpose broadcast_to expand_dims squeeze flip slice cast .T .mT int float \
        True None ... '**' '//' '<<' '>>' ::-1 np. inf nan pi 'u_far(' 'u_both(' 'u_least(' result= scan= .reduce .accumulate .outer
} >"$folder/words"

status=0
fuzz() { # NAME SEEDS OPTION...
    local name=$1 seeds=$2
    shift 2
    "$clang" -std=c11 -D_GNU_SOURCE -O1 -g -fsanitize=fuzzer,$sanitizers -fno-sanitize-recover=all -I"$root/include" -I"$root/src" \
        "$root/tests/fuzz/$name.c" "$folder/library/libkerfuse.a" -lpthread -ldl -lm -o "$folder/$name"
    mkdir -p "$folder/$name.found" "$folder/$name.crashes"
    "$folder/$name" "$seeds"/* >"$folder/$name.replay" 2>&1 || { tail -30 "$folder/$name.replay"; status=1; }
    echo "$name: $(find "$seeds" -type f | wc -l) seeds replayed; $seconds s of new inputs"
    "$folder/$name" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2000 -artifact_prefix="$folder/$name.crashes/" "$@" \
        "$folder/$name.found" "$seeds" >"$folder/$name.log" 2>&1 || { tail -40 "$folder/$name.log"; status=1; }
    grep -E 'DONE|cov:' "$folder/$name.log" | tail -1
}

rm -rf "$folder/npy-seeds"
bash "$root/tests/corpus/npy/make.sh" "$folder/npy-seeds"
fuzz fuzz_parse "$root/tests/corpus/parse" -max_len=400 -dict="$folder/words"
fuzz fuzz_npy "$folder/npy-seeds" -max_len=512
exit $status
