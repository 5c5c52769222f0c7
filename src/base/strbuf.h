/* A growing string. Out of memory is sticky: nothing more is added, and one check at the end is enough. Independent of the locale. */
#ifndef KRF_BASE_STRBUF_H
#define KRF_BASE_STRBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct krf__str {
    char *data; /* NUL-terminated once anything was added; NULL before */
    size_t length, capacity;
    bool failed;
} krf__str;

void krf__str_put(krf__str *s, const char *text);
void krf__str_putn(krf__str *s, const char *text, size_t length);
void krf__str_char(krf__str *s, char c);
void krf__str_printf(krf__str *s, const char *format, ...) __attribute__((format(printf, 2, 3))); /* no floating point */
void krf__str_i64(krf__str *s, int64_t value);

/* The shortest decimal text that reads back as the same double: "0.1", "1e-05", "inf", "nan"; always with a '.', an 'e' or letters. */
void krf__str_f64(krf__str *s, double value);

/* "(3, 4)", "(3,)", "()". */
void krf__str_shape(krf__str *s, int rank, const int64_t *shape);

void krf__str_clear(krf__str *s);  /* empties, keeps the memory */
void krf__str_free(krf__str *s);
char *krf__str_take(krf__str *s);  /* the text, to be freed with krf__mem_free; NULL when it failed; leaves s empty */

#endif
