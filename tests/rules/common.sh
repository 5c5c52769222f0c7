# shellcheck shell=bash disable=SC2034
# What the rule tests share. Sourced; sets root (also the current folder), work (removed at the end) and cc.
set -u
root=${KRF_SOURCE_DIR:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
cc=${CC:-cc}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$root" || exit 1

# fail MESSAGE [FILE with details]
fail() {
    echo "FAIL: $1"
    if [ $# -gt 1 ]; then sed 's/^/    /' "$2"; fi
    touch "$work/failed" # a variable would be lost where this runs in a pipe
}

# Lines of the given C files, comments and literals taken out: "file:line: code".
code() { awk -f tests/rules/code.awk "$@"; }

# forbid MESSAGE PATTERN: the code on stdin must not match.
forbid() {
    if grep -E "$2" >"$work/found"; then fail "$1" "$work/found"; fi
}

finish() {
    if [ -e "$work/failed" ]; then exit 1; fi
    echo "ok"
    exit 0
}
