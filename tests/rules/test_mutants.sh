#!/usr/bin/env bash
# Faults that tests/mutants plants name the text that they change: where the text has moved, nothing would be planted.
source "$(dirname "$0")/common.sh"

python3 - >"$work/found" <<'PYTHON' || fail "tests/mutants/mutants.py cannot be read"
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, "tests/mutants")
from mutants import MUTANTS

names = [m[0] for m in MUTANTS]
assert len(names) > 100 and len(set(names)) == len(names), "names"
for name, file, old, new, _ in MUTANTS:
    n = open(file).read().count(old)
    if n != 1 or old == new:
        print(f"{name}: its text occurs {n} times in {file}")
PYTHON
[ -s "$work/found" ] && fail "faults that do not apply" "$work/found"
finish
