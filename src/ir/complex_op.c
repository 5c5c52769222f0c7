/* What complex.def says of functions. */
#include "ir/complex_op.h"

enum { PAIR, PART, BOOL };

bool krf__complex_defined(krf__op op) {
    switch (op) {
#define COMPLEX(name, ...) case KRF__##name:
#define COMPOSED(name) case KRF__##name:
#include "ir/complex.def"
        return true;
    default: return false;
    }
}

static int result_of(krf__op op) {
    switch (op) {
#define COMPLEX(name, RESULT, ...) case KRF__##name: return RESULT;
#define COMPOSED(name)
#include "ir/complex.def"
    default: return PAIR;
    }
}

bool krf__complex_gives_real(krf__op op) { return result_of(op) == PART; }
