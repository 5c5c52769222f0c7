/* Makes the n-th call of one of the system's functions fail; wrap.def lists them. For programs linked with wrap.c and
 * --wrap: the calls of the library go through here, those of the C library itself and of child processes do not. */
#ifndef FAILURES_WRAP_H
#define FAILURES_WRAP_H

#include <stdbool.h>

enum wrapped {
#define CALL(result, name, parameters, arguments, failed) WRAP_##name,
#define CLOSE(result, name, parameters, arguments) WRAP_##name,
#define BY_HAND(name) WRAP_##name,
#include "failures/wrap.def"
#undef CALL
#undef CLOSE
#undef BY_HAND
    WRAP_COUNT
};

/* Not an errno value: read and write handle half of what they are given. Nothing happens to other calls. */
#define WRAP_SHORT (-1)

const char *wrap_name(enum wrapped call);

/* From now on the n-th call (1 is the next) fails with that errno value, and with `after` all later ones too. */
void wrap_fail(enum wrapped call, long n, int error, bool after);

/* Nothing fails any more. wrap_met: whether something has, since wrap_fail. */
void wrap_stop(void);
bool wrap_met(void);

/* Every write handles at most `bytes`, and sleeps for so long before it; 0: as usual. */
void wrap_slow_writes(long bytes, long microseconds);

#endif
