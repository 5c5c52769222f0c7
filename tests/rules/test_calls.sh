#!/usr/bin/env bash
# The library never ends the program, never prints, and takes all memory from src/base/mem.c: in the sources, and in
# what the linker sees.
source "$(dirname "$0")/common.sh"

mapfile -t sources < <(find src codegen -name '*.c' -o -name '*.inc' | sort)
[ "${#sources[@]}" -gt 0 ] || fail "no source found"
code "${sources[@]}" >"$work/code"
start='(^|[^A-Za-z0-9_.>])'
forbid "the library ends no program" "$start(abort|exit|_exit|_Exit|quick_exit|assert)[[:space:]]*\(" <"$work/code"
forbid "the library does not print" "$start(printf|vprintf|puts|putchar|perror)[[:space:]]*\(" <"$work/code"
forbid "the library does not print" "$start(v?fprintf|fputs|fputc|putc)[[:space:]]*\(.*(stderr|stdout)" <"$work/code"
grep -v '^src/base/mem\.c:' "$work/code" |
    forbid "memory comes from src/base/mem.h" "$start(malloc|calloc|realloc|strdup|strndup|asprintf)[[:space:]]*\("

library=${KRF_BUILD_DIR:-}/libkerfuse.so
if [ -e "$library" ] && command -v nm >/dev/null; then
    nm -D --undefined-only "$library" | awk '{ sub(/@.*/, "", $NF); print $NF }' |
        grep -xE 'abort|exit|_exit|_Exit|quick_exit|__assert_fail|(__)?v?printf(_chk)?|puts|putchar|perror' \
            >"$work/found" &&
        fail "the shared library calls" "$work/found"
    # What it exports is its public interface and nothing else.
    nm -D --defined-only "$library" | awk '{ print $NF }' | grep -vE '^krf_[a-z]' |
        grep -vE '^(_init|_fini|_edata|_end|__bss_start|__asan.*|__odr_asan.*|__ubsan.*)$' >"$work/found" &&
        fail "the shared library exports" "$work/found"
fi
finish
