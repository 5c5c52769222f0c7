#!/usr/bin/env bash
# Products of vectors, weighted means and counts in bins: values worked out by hand from NumPy's definitions. A vector is shown as a number whose digits are
# its elements. Runs on KRF_TEST_DEVICE, else on both CPU tiers.
set -u
failed=0 checked=0
run() { KRF_CPU_TIER=$tier KRF_BLOCKING_COMPILE=1 "${KRF_BUILD_DIR:?}/fuserun" "$1" --device "$device" 2>&1; }
expect() { # expect VALUE EXPRESSION
    local got
    for tier in ${tiers:?}; do
        got=$(run "$2")
        if [[ $device = cuda && $got == *libcuda* ]]; then
            echo "skipped: $got"
            exit 77
        fi
        checked=$((checked + 1))
        [ "$got" = "$1" ] || { echo "$2 on $device, tier $tier: $got, not $1"; failed=$((failed + 1)); }
    done
}
refuse() { # refuse MESSAGE EXPRESSION
    local got
    tier=0
    got=$(run "$2")
    checked=$((checked + 1))
    [[ $got == *"$1"* ]] || { echo "$2: $got, not $1"; failed=$((failed + 1)); }
}
device=${KRF_TEST_DEVICE:-cpu} tiers="0 1"
if [ "$device" = cuda ]; then tiers=1; fi
# sum(h * 10 ** place) for a vector of n elements
shown() { echo "h = $1; return sum(h * 10 ** arange($2)[::-1])"; }
expect 55 'vdot(arange(6), arange(6))'
expect 55 'vdot(arange(6).reshape(2, 3), arange(6).reshape(3, 2))'
expect 32 'dot(arange(3) + 1, arange(3) + 4)'
expect 32 'inner(arange(3) + 1, arange(3) + 4)'
expect 32 '(arange(3) + 1).dot(arange(3) + 4)'
expect 12 'sum(inner(arange(4), 2))'
expect 16256 'vdot(i8(full(2, 64)), i8(full(2, 127)))'
expect 21 'sum(outer(arange(3), arange(2) + 3))'
expect 8 'outer(arange(3), arange(2) + 3)[2, 1]'
expect 2 'average(arange(5))'
expect 3 'average(arange(5), weights=arange(5))'
expect 3 'average(arange(5), 0, arange(5))'
expect 1.5 'sum(average(arange(4).reshape(2, 2), axis=1, weights=f32(arange(2)[::-1])) * arange(2) * 0.75)'
expect 4 'sum(average(arange(6).reshape(2, 3), axis=0, weights=arange(2), keepdims=True)[0, 1:2])'
expect 2 'average(arange(4).reshape(2, 2), weights=arange(4).reshape(2, 2) + 1)'
expect 2222 "$(shown 'histogram(arange(8), 4, (0, 7))' 4)"
expect 2222 "$(shown 'histogram(f16(arange(8)), bins=4, range=(0, 8))' 4)"
expect 112 "$(shown 'histogram(arange(5) - 1, 3, (0, 3))' 3)"
expect 12 "$(shown 'histogram(where(arange(5) == 4, nan, arange(5)), 2, (0.5, 3))' 2)"
expect 30 "$(shown 'histogram(full(3, 5), 2, (5, 7))' 2)"
expect 3 'sum(histogram(full(3, 5), 3, (5, 5)))'
expect 3 'histogram(full(3, 5), 3, (5, 5))[1]'
expect 100000 'sum(histogram(random_uniform(100000, 1), 37, (0, 1)))'
refuse 'dot: shapes (3,) and (4,): takes vectors of one length' 'dot(arange(3), arange(4))'
refuse 'inner: shapes (2, 2) and (2,): takes vectors of one length' 'inner(arange(4).reshape(2, 2), arange(2))'
refuse 'vdot: shapes (2,) and (1,): takes as many elements of both' 'vdot(arange(2), arange(1))'
refuse 'average: shapes (2, 2) and (2,): the weights have the shape of x' 'average(arange(4).reshape(2, 2), weights=arange(2))'
refuse 'histogram: 0 bins, not at least 1' 'histogram(arange(4), 0, (0, 1))'
refuse 'histogram: the range from 2 to 1 is not finite, or empty' 'histogram(arange(4), 2, (2, 1))'
refuse 'histogram needs range' 'histogram(arange(4), 2)'
refuse 'the ends of a range are numbers' 'histogram(arange(4), 2, (0, max(arange(4))))'
echo "$checked checked, $failed failed"
[ "$failed" = 0 ]
