#!/usr/bin/env bash
# wrap.def names every call of the library to the system that can fail; those left out stand here with the reason.
set -u
library=${KRF_BUILD_DIR:?}/libkerfuse.so
source=${KRF_SOURCE_DIR:?}
if [ ! -e "$library" ] || ! command -v nm >/dev/null; then
    echo "skipped: no shared library, or no nm"
    exit 77
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

sed -nE 's/^BY_HAND\(([a-z0-9_]+)\).*/\1/p; s/^(CALL|CLOSE)\([^,]*, ([a-z0-9_]+),.*/\2/p' \
    "$source/tests/failures/wrap.def" | sort >"$work/wrapped"
[ -s "$work/wrapped" ] || { echo "FAIL: wrap.def is empty"; exit 1; }

# One regular expression a line, then why it is not made to fail.
cat >"$work/left_out" <<'EOF'
(malloc|calloc|realloc|free)                    test_memory does that
(mem|str)[a-z_]*|bcmp|qsort|__ctype.*|.*sscanf|snprintf|vsnprintf  no system call
(new|free)locale|secure_getenv|getenv|environ|__environ       no system call
(sin|cos|tan|pow|atan2|hypot|fma|fmod|sqrt|ilogb|ldexp|nearbyint|ceil|floor|rint|trunc)f?   arithmetic
(sig[a-z]*set|sigismember|sigaddset|sigdelset)  no system call
sigtimedwait|pthread_sigmask                    fail only when called wrongly
pthread_(mutex|cond)_[a-z]+|pthread_join|pthread_once  fail only when called wrongly, or for want of memory that Linux does not need
pthread_setname_np|madvise|munmap|kill          nothing depends on them
get(pid|uid|euid|gid|egid)|sysconf|__sched_cpu.*              cannot fail as they are called
posix_spawn_file_actions_.*|posix_spawnattr_.*  memory of the C library's own
nanosleep                                       sleeping less only polls more often
dlsym|dlerror|dlinfo|dlclose|glob|globfree      the CUDA back end, or after a dlopen that went well
fclose|fflush|fprintf|stderr                    the log: what it loses is lost
__errno_location|__tls_get_addr|__gmon_start__|_ITM_.*|__cxa_finalize|__stack_chk_fail  the compiler's
EOF
awk '{ print $1 }' "$work/left_out" | sed 's/^/^(/; s/$/)$/' >"$work/patterns"

nm -D --undefined-only "$library" | awk '{ sub(/@.*/, "", $NF); print $NF }' | grep -vE '^__(a|ub|t|l)san|^__sanitizer|^__interceptor' |
    sort -u >"$work/called"
comm -23 "$work/called" "$work/wrapped" | grep -vEf "$work/patterns" >"$work/missing"
if [ -s "$work/missing" ]; then
    echo "FAIL: the library calls, and neither wrap.def nor this script knows:"
    cat "$work/missing"
    exit 1
fi
comm -13 "$work/called" "$work/wrapped" >"$work/unused"
if [ -s "$work/unused" ]; then
    echo "FAIL: wrap.def knows, and the library does not call:"
    cat "$work/unused"
    exit 1
fi
echo "$(wc -l <"$work/wrapped") calls are made to fail; ok"
