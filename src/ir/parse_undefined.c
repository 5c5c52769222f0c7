/* Names that stand for nothing: what to write instead, or the nearest known one. */
#include "ir/parser.h"

#include <string.h>

/* Words that Python has between operands and that have no array meaning. */
void krf__parse_refuse_word(krf__parser *p) {
    static const char *const words[][2] = {{"and", "use & or logical_and, with comparisons in parentheses"},
                                           {"or", "use | or logical_or, with comparisons in parentheses"},
                                           {"not", "use ~ or logical_not"},
                                           {"if", "use where(condition, x, y)"},
                                           {"is", "use =="},
                                           {"in", "it has no meaning for arrays"},
                                           {"def", "write f(x) = ..."},
                                           {"lambda", "write f(x) = ..., a statement of its own"},
                                           {"for", "an expression is over all elements"},
                                           {"while", "an expression is over all elements"},
                                           {"import", "all functions are there, with np. or without"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (krf__token_is(&p->token, words[i][0])) {
            krf__parse_fail(p, KRF_E_PARSE, p->token.start, "'%s' is not supported: %s", words[i][0], words[i][1]);
        }
    }
}

/* Edit distance (insert, delete, replace) of two short names; anything above 2 is 3. */
static int distance(const char *a, size_t n, const char *b, size_t m) {
    enum { MOST = 32 };
    int row[MOST + 1];
    if (n > MOST || m > MOST || n > m + 2 || m > n + 2) {
        return 3;
    }
    for (size_t j = 0; j <= m; j++) {
        row[j] = (int)j;
    }
    for (size_t i = 1; i <= n; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= m; j++) {
            int replace = diagonal + (a[i - 1] != b[j - 1]);
            int other = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = replace < other ? replace : other;
        }
    }
    return row[m] > 2 ? 3 : row[m];
}

enum { LONG = 5 }; /* letters */

typedef struct nearest {
    const krf__token *wanted;
    const char *name;
    size_t length;
    int distance;
} nearest;

/* Of short names those that differ in two letters are no suggestion (copy and conj). Ties go to the first in alphabetical order: the map has none of
 * its own. */
static void consider(nearest *best, const char *name, size_t length) {
    int d = distance(best->wanted->start, best->wanted->length, name, length);
    if (d > 2 || (d > 1 && best->wanted->length < LONG) || (size_t)d >= best->wanted->length || (size_t)d >= length || d > best->distance) {
        return;
    }
    if (d == best->distance && best->name != NULL) {
        int order = memcmp(name, best->name, length < best->length ? length : best->length);
        if (order > 0 || (order == 0 && length >= best->length)) {
            return;
        }
    }
    *best = (nearest){best->wanted, name, length, d};
}

static void consider_all(nearest *best, const krf__map *map) {
    for (size_t i = 0; i < map->capacity; i++) {
        if (map->entries[i].key != NULL) {
            consider(best, map->entries[i].key, map->entries[i].key_bytes);
        }
    }
}

uint32_t krf__parse_undefined(krf__parser *p, const krf__token *name, bool function) {
    nearest best = {.wanted = name, .distance = 2};
    if (function) {
        consider_all(&best, &p->functions);
    }
    for (size_t i = 0; function && krf__parse_function_name(i) != NULL; i++) {
        consider(&best, krf__parse_function_name(i), strlen(krf__parse_function_name(i)));
    }
    if (!function) {
        static const char *const words[] = {"True", "False", "inf", "nan", "pi"};
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
            consider(&best, words[i], strlen(words[i]));
        }
        consider_all(&best, &p->values);
        consider_all(&best, &p->extents);
    }
    const char *reason = function ? "is not a function" : "is not defined";
    if (best.name == NULL) {
        return krf__parse_fail(p, KRF_E_PARSE, name->start, "%.*s %s", KRF__SHOWN(name), reason);
    }
    return krf__parse_fail(p, KRF_E_PARSE, name->start, "%.*s %s; did you mean %.*s?", KRF__SHOWN(name), reason,
                           (int)best.length, best.name);
}
