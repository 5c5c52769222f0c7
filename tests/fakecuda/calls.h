/* What both doubles do first in every entry point: count the call, and return the error that a test asked for instead
 * of working. And how they report misuse. Each of the two libraries has its own copy of all this. */
#ifndef FAKECUDA_CALLS_H
#define FAKECUDA_CALLS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define FAKE_API __attribute__((visibility("default")))

typedef struct fake_entry {
    const char *name;
    atomic_uint calls;
} fake_entry;

/* Defined by each library. */
extern fake_entry fake_entries[];
extern const int fake_entry_count;

/* The code that this call of the entry must return without doing its work; 0: none. */
unsigned fake_call(int entry);

/* The application did what the real library leaves undefined, or what is certainly a bug: says so and ends the process
 * with status 99. With FAKECUDA_STRICT=0 returns code, which is what the real library returns as far as that is
 * defined. */
unsigned fake_misuse(unsigned code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Ends the process with status 99: what cannot be told by any code. */
_Noreturn void fake_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A number from the environment. */
long fake_setting(const char *name, long otherwise);

/* Where images are files while they are loaded. */
const char *fake_folder(void);

/* For tests in the same process, found with dlsym in each of the two libraries. */
FAKE_API unsigned fakecuda_calls(const char *entry);                            /* so far, or since the last reset */
FAKE_API void fakecuda_fail(const char *entry, unsigned n, unsigned code);      /* the n-th call from the last reset */
FAKE_API void fakecuda_fail_from(const char *entry, unsigned n, unsigned code); /* that and all later ones */
FAKE_API void fakecuda_reset(void); /* counts to 0, no failures asked for, no sticky error */

/* Run by fakecuda_reset. */
void fake_reset_more(void);

#endif
