#!/usr/bin/env bash
# docs/conventions.md: every row whose first two columns are an expression and a value is run. Runs on KRF_TEST_DEVICE, else on the CPU.
set -u
failed=0 checked=0 device=${KRF_TEST_DEVICE:-cpu}
while IFS='|' read -r _ expression value _; do
    expression=${expression# \`} expression=${expression%\` }
    value=${value# \`} value=${value%\` }
    got=$("${KRF_BUILD_DIR:?}/fuserun" --device "$device" -- "$expression" 2>&1)
    if [[ $device = cuda && $got == *libcuda* ]]; then
        echo "skipped: $got"
        exit 77
    fi
    checked=$((checked + 1))
    [ "$got" = "$value" ] || { echo "$expression is $got, not $value as docs/conventions.md says"; failed=$((failed + 1)); }
done < <(grep -E '^\| `[^`|]+` \| `[^`|]+` \|' "${KRF_SOURCE_DIR:?}/docs/conventions.md")
echo "$checked checked, $failed failed"
[ "$failed" = 0 ] && [ "$checked" -gt 60 ]
