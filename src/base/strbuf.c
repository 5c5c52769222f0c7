/* Growing strings, in which keys, text forms and kernel sources are built. Once memory has run out nothing more is
 * added, so that builders need not check each call. Numbers look the same in every locale: a source text is part of a
 * cache key. */
#include "base/strbuf.h"

#include "base/mem.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for `more` characters and the final NUL. */
static bool reserve(krf__str *s, size_t more)
{
    if (!s->failed && (more > SIZE_MAX / 4 || !krf__grow(&s->data, &s->capacity, s->length + more + 1, 1))) {
        s->failed = true;
    }
    return !s->failed;
}

void krf__str_putn(krf__str *s, const char *text, size_t length)
{
    if (!reserve(s, length)) {
        return;
    }
    if (length > 0) {
        memcpy(s->data + s->length, text, length);
    }
    s->length += length;
    s->data[s->length] = '\0';
}

void krf__str_put(krf__str *s, const char *text)
{
    krf__str_putn(s, text, strlen(text));
}

void krf__str_char(krf__str *s, char c)
{
    krf__str_putn(s, &c, 1);
}

void krf__str_printf(krf__str *s, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    if (length < 0) {
        s->failed = true;
    } else if (reserve(s, (size_t)length)) {
        vsnprintf(s->data + s->length, (size_t)length + 1, format, again);
        s->length += (size_t)length;
    }
    va_end(again);
    va_end(args);
}

void krf__str_i64(krf__str *s, int64_t value)
{
    krf__str_printf(s, "%" PRId64, value);
}

/* Prints a finite value with the fewest significant digits that read back as the same double. 15 digits survive
 * decimal -> double -> decimal for normal numbers, so fewer need not be tried: %g drops the zeros behind. Subnormals
 * have fewer. */
static void print_shortest(double value, char *text, size_t size)
{
    int digits = fabs(value) < DBL_MIN ? 1 : DBL_DIG;
    do {
        snprintf(text, size, "%.*g", digits, value);
    } while (strtod(text, NULL) != value && ++digits <= DBL_DECIMAL_DIG);
}

void krf__str_f64(krf__str *s, double value)
{
    if (isnan(value)) {
        krf__str_put(s, "nan");
        return;
    }
    if (isinf(value)) {
        krf__str_put(s, value < 0 ? "-inf" : "inf");
        return;
    }
    char text[64];
    print_shortest(value, text, sizeof text);

    /* Whatever is neither digit, sign nor exponent is the locale's decimal point, which may be several bytes long.
     * Asking localeconv for it would not be thread-safe. */
    static const char plain[] = "0123456789+-e";
    size_t before = strspn(text, plain);
    size_t point = strcspn(text + before, plain);
    krf__str_putn(s, text, before);
    if (point > 0) {
        krf__str_char(s, '.');
        krf__str_put(s, text + before + point);
    } else if (strchr(text, 'e') == NULL) {
        krf__str_put(s, ".0");
    }
}

void krf__str_shape(krf__str *s, int rank, const int64_t *shape)
{
    krf__str_char(s, '(');
    for (int i = 0; i < rank; i++) {
        if (i > 0) {
            krf__str_put(s, ", ");
        }
        krf__str_i64(s, shape[i]);
    }
    krf__str_put(s, rank == 1 ? ",)" : ")");
}

void krf__str_clear(krf__str *s)
{
    s->length = 0;
    s->failed = false;
    if (s->data != NULL) {
        s->data[0] = '\0';
    }
}

void krf__str_free(krf__str *s)
{
    krf__mem_free(s->data);
    *s = (krf__str){0};
}

char *krf__str_take(krf__str *s)
{
    krf__str_putn(s, "", 0); /* an empty text is a text too */
    char *text = s->data;
    if (s->failed) {
        krf__mem_free(text);
        text = NULL;
    }
    *s = (krf__str){0};
    return text;
}
