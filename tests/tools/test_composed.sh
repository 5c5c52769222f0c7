#!/usr/bin/env bash
# Ranges, and reductions that are expressions over others: values that follow from the definitions by hand. Runs on
# KRF_TEST_DEVICE, else on both CPU tiers.
set -u
failed=0 checked=0
expect() { # expect VALUE EXPRESSION
    local got
    for tier in ${tiers:?}; do
        got=$(KRF_CPU_TIER=$tier KRF_BLOCKING_COMPILE=1 "${KRF_BUILD_DIR:?}/fuserun" "$2" --device "$device" 2>&1)
        if [[ $device = cuda && $got == *libcuda* ]]; then
            echo "skipped: $got"
            exit 77
        fi
        checked=$((checked + 1))
        [ "$got" = "$1" ] || { echo "$2 on $device, tier $tier: $got, not $1"; failed=$((failed + 1)); }
    done
}
device=${KRF_TEST_DEVICE:-cpu} tiers="0 1"
if [ "$device" = cuda ]; then tiers=1; fi
expect 500000500000 'sum(arange(1000001))'
expect 57 'sum(arange(2, 20, 3))'
expect 30 'sum(arange(10, 0, -2)) + sum(arange(5, 0))'
expect 2.5 'sum(linspace(0, 1, 5))'
expect 2 'sum(linspace(0, 1, 5, endpoint=False))'
expect 1 'max(linspace(0.3, 1, 7))'
expect 3 'sum(eye(3))'
expect 6 'sum(tri(3))'
expect 20 'sum(triu(arange(9).reshape(3, 3)))'
expect 16 'sum(tril(arange(9).reshape(3, 3), -1))'
expect 42 'sum(full((2, 3), 7))'
expect 8.25 'var(arange(10))'
expect 2.5 'var(arange(5), ddof=1)'
expect 2 'std(arange(4) % 2 * 4)'
expect 6 'var(f32(arange(99999) % 3 * 3) + 16384)'
expect 0 'std(f32(full(40000, 0.5)))'
expect 37 'argmax(0 - abs(arange(100) - 37))'
expect 2 'argmin(where(arange(5) == 2, nan, 1.0))'
expect 1 'sum(argmax(arange(4).reshape(2, 2) * (arange(2) * 2 - 1), axis=0))'
expect 6 'count_nonzero(arange(10) % 3)'
expect 9 'ptp(arange(10))'
expect 1024 'logsumexp(where(arange(4) == 1, 1024.0, -1000.0))'
expect 3 'nansum(where(arange(4) == 3, nan, arange(4)))'
expect 1 'nanmean(where(arange(4) == 3, nan, arange(4)))'
expect 2 'nanmax(where(arange(4) == 3, nan, arange(4)))'
expect nan 'nanmin(where(arange(4) >= 0, nan, 1.0))'
expect 20 'sum(cumsum(arange(5)))'
expect 33 'sum(cumprod(arange(4) + 1))'
expect 16 'sum(cumsum(ones((2, 3)), axis=0)[1:]) + sum(cummax(arange(5)))'
expect 21 'sum(cumsum(ones((2, 3))))'
expect 30 'sum(cumulative_sum(arange(4), 0) * cumulative_prod(full(4, 1)) * 3)'
expect 5 'norm(arange(2) + 3)'
expect 7 'norm1(arange(2) - 4)'
expect 4 'norminf(arange(2) - 4)'
echo "$checked checked, $failed failed"
[ "$failed" = 0 ]
