#!/usr/bin/env bash
# Each case is a program and, behind "#> ", what it becomes: the plan, the C and the CUDA source. The case is compared
# with what fusedump prints now. UPDATE=1 rewrites the cases: read the diff before you commit it.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
dump=${KRF_BUILD_DIR:?}/fusedump
failed=0 passed=0
for case in "$here"/*.krf; do
    program=$(grep -v '^#>' "$case")
    now=$(
        printf '%s\n' "$program"
        for emit in "--emit plan" "--target c" "--target cuda"; do
            echo "#> ---- $emit"
            # shellcheck disable=SC2086
            printf '%s\n' "$program" >"${TMPDIR:-/tmp}/golden.$$.krf"
            # shellcheck disable=SC2086
            "$dump" "${TMPDIR:-/tmp}/golden.$$.krf" $emit 2>&1 | sed 's/^/#> /; s/ *$//'
        done
    )
    rm -f "${TMPDIR:-/tmp}/golden.$$.krf"
    if [ -n "${UPDATE:-}" ]; then
        printf '%s\n' "$now" >"$case"
    elif ! diff -u "$case" <(printf '%s\n' "$now"); then
        failed=$((failed + 1))
        continue
    fi
    passed=$((passed + 1))
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
