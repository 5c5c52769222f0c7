#!/usr/bin/env bash
# The direction of includes: base < ir < pass < plan < codegen < cache < backend < sched < api. A file includes
# headers of its own folder and of folders earlier in that list.
source "$(dirname "$0")/common.sh"

# "file folder-of-the-file folder-included header" for each quoted include.
find src codegen -name '*.[ch]' -o -name '*.inc' | sort | xargs grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' |
    sed -E 's/^([^:]*):[0-9]+:[^"]*"([^"]*)".*/\1 \2/' |
    while read -r file header; do
        folder=${file#src/}
        echo "$file ${folder%%/*} ${header%%/*} $header"
    done >"$work/includes"
[ -s "$work/includes" ] || fail "no include found: this test looks in the wrong place"

awk 'BEGIN { n = split("base ir pass plan codegen cache backend sched api", list, " "); for (i = 1; i <= n; i++) rank[list[i]] = i }
     !($2 in rank) { print $1 " stands in a folder without a place in the order" }
     !($3 in rank) { print $1 " includes \"" $4 "\", which names no folder of src or codegen" }
     ($2 in rank) && ($3 in rank) && rank[$3] > rank[$2] { print $1 " includes \"" $4 "\" from a later folder" }' \
    "$work/includes" >"$work/found"
[ -s "$work/found" ] && fail "includes against the order" "$work/found"

# Behind the contract of backend.h each device is on its own.
awk '$3 == "backend" && $4 != "backend/backend.h" {
         split($4, h, "/"); split($1, f, "/")
         if (!(f[2] == "backend" && f[3] == h[2])) print $1 " includes \"" $4 "\"" }' "$work/includes" >"$work/found"
[ -s "$work/found" ] && fail "only src/backend/X includes what is inside src/backend/X" "$work/found"

awk '$3 ~ /^(plan|codegen|cache|backend)$/ { key = $1 " " $3; if (!(key in seen)) { seen[key] = 1; count[$1]++ } }
     END { for (f in count) if (count[f] == 4 && f != "src/sched/exec.c") print f }' "$work/includes" >"$work/found"
[ -s "$work/found" ] && fail "only src/sched/exec.c sees plan, codegen, cache and backend together" "$work/found"

grep -rnE '#[[:space:]]*include[[:space:]]*[<"](cuda|nvrtc|cuda_runtime)[a-z_]*\.h' src codegen include tools >"$work/found" &&
    fail "CUDA's headers are not used: driver and NVRTC are declared by src/backend/cuda" "$work/found"
find src codegen tools -name '*.c' -not -path 'src/backend/cuda/*' -print0 | xargs -0 awk -f tests/rules/code.awk |
    forbid "only src/backend/cuda knows the driver" ' (.*[^A-Za-z0-9_])?(cu[A-Z][A-Za-z0-9_]*|nvrtc[A-Z][A-Za-z0-9_]*)[[:space:]]*\('
grep -rlE 'include[[:space:]]*[<"]xxhash\.h' src codegen | grep -v '^src/base/hash\.c$' >"$work/found" &&
    fail "only src/base/hash.c includes xxhash.h" "$work/found"
finish
