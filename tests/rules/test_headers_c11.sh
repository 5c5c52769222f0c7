#!/usr/bin/env bash
# Each public header compiles alone, as strict C11, and includes nothing but the standard's headers and its own kind.
source "$(dirname "$0")/common.sh"

for header in include/kerfuse/*.h; do
    name=kerfuse/$(basename "$header")
    # Twice: include guards.
    printf '#include <%s>\n#include <%s>\nextern int nothing;\n' "$name" "$name" >"$work/alone.c"
    "$cc" -std=c11 -Wall -Wextra -Wpedantic -Werror -Iinclude -fsyntax-only "$work/alone.c" 2>"$work/found" ||
        fail "$name alone in C11" "$work/found"
done
grep -nE '#[[:space:]]*include' include/kerfuse/*.h | grep -vE '<(stdint|stddef|stdbool)\.h>|<kerfuse/[a-z]+\.h>' >"$work/found" &&
    fail "public headers include" "$work/found"
finish
