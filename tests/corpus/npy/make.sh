#!/usr/bin/env bash
# make.sh FOLDER: small .npy files for fuzz_npy to start from: versions, byte orders, memory orders, dtypes, shapes, and damage.
set -euo pipefail
folder=${1:?"the folder to write to"}
mkdir -p "$folder"

# npy NAME VERSION HEADER DATA: DATA as printf writes it. The header is padded with blanks to a multiple of 16 bytes.
npy() {
    local header=$3 length octal
    while [ $(((${#header} + 11) % 16)) -ne 0 ]; do header+=' '; done
    length=$((${#header} + 1))
    octal=$(printf '\\%03o\\%03o' $((length % 256)) $((length / 256)))
    [ "$2" = 1 ] || octal+='\000\000'
    { printf '\223NUMPY'; printf "\\00$2\\000$octal"; printf '%s\n' "$header"; printf "$4"; } >"$folder/$1"
}

zeros() { printf '\\000%.0s' $(seq "$1"); }
npy f32 1 "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }" "$(zeros 24)"
npy f64_fortran 1 "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 2), }" "$(zeros 32)"
npy i32_big 2 "{'descr': '>i4', 'fortran_order': False, 'shape': (3,), }" '\000\000\000\001\000\000\000\002\377\377\377\377'
npy i64_scalar 3 "{'descr': '<i8', 'fortran_order': False, 'shape': (), }" "$(zeros 8)"
npy bool 1 "{'shape': (4,), 'descr': '|b1', 'fortran_order': False}" '\000\001\002\377'
npy empty 1 "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 5), }" ''
npy short 1 "{'descr': '<f4', 'fortran_order': False, 'shape': (9,), }" "$(zeros 8)"
npy huge 1 "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }" "$(zeros 8)"
npy complex 1 "{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }" "$(zeros 8)"
npy structured 1 "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }" "$(zeros 4)"
