#!/usr/bin/env bash
# The committed headers that come from tables are what tools/gen_headers.c prints. `cmake --build BUILD -t headers`
# renews them.
source "$(dirname "$0")/common.sh"

if ! "$cc" -std=c11 -D_GNU_SOURCE -Iinclude -Isrc -I. -o "$work/gen_headers" tools/gen_headers.c; then
    fail "tools/gen_headers.c does not compile"
    finish
fi
for name in enums ops; do
    "$work/gen_headers" "$name" | diff -u "include/kerfuse/$name.h" - >"$work/found" ||
        fail "include/kerfuse/$name.h is not what the tables say" "$work/found"
done
"$work/gen_headers" functions | diff -u docs/functions.md - >"$work/found" ||
    fail "docs/functions.md is not what the tables say" "$work/found"
finish
