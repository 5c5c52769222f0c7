/* Functions that are expressions over others: expands compose.def. */
#include "ir/compose.h"

#include "ir/build_calls.h"

bool krf__is_composed(krf__op op) {
    switch (op) {
#define COMPOSE(name, ...) case KRF__##name: return true;
#include "ir/compose.def"
#undef COMPOSE
    default: return false;
    }
}

bool krf__composed_rounds_often(krf__op op) {
    enum { ONCE, OFTEN };
    switch (op) {
#define COMPOSE(name, rounds, ...) case KRF__##name: return rounds == OFTEN;
#include "ir/compose.def"
#undef COMPOSE
    default: return false;
    }
}

uint32_t krf__compose(krf_graph *g, krf__op op, const uint32_t *args) {
    const uint32_t A = args[0], B = args[1], C = args[2];
    switch (op) {
#define COMPOSE(name, rounds, ...) case KRF__##name: return __VA_ARGS__;
#include "ir/compose.def"
#undef COMPOSE
    default: return (void)B, (void)C, 0;
    }
}
