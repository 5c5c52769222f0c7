#!/usr/bin/env bash
# One file, one reason to change: at most 500 lines. Tables (*.def) and tests are exempt.
source "$(dirname "$0")/common.sh"

find src codegen include tools -type f -not -name '*.def' -print0 | sort -z | xargs -0 wc -l |
    awk '$2 != "total" && $1 > 500 { print $2 ": " $1 " lines" }' >"$work/found"
[ -s "$work/found" ] && fail "files of more than 500 lines" "$work/found"
finish
