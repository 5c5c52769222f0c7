/* libFuzzer entry point: any text parses or fails, and what parses prints to a text that parses and prints alike.
 * Built and run by coverage.sh; seeds: tests/corpus/parse. */
#include "base/mem.h"
#include "ir/define.h"
#include "ir/graph.h"
#include "ir/text.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int64_t extent(void *user, const char *name) {
    (void)user;
    return (int64_t)(strlen(name) % 5);
}

/* What a user may have defined: one result and several, and a reduction. The words are in coverage.sh. */
static krf__defined *defined(void) {
    static krf__defined known;
    static krf_op *ops[3];
    static const krf__reduction_text least = {"u_least", "T v, i64 i", "T low, i64 at", "inf, inf", "low = v; at = i;", "bool b = b_low < a_low;\nlow = b ? b_low : a_low;\nat = b ? b_at : a_at;",
                                              NULL, NULL, NULL};
    if (ops[2] != NULL) {
        return &known;
    }
    krf__defined_open(&known);
    const bool made = krf__op_define(&known, "u_far", "F x, f32 y", "F z", "z = x - y;", "dz/dx = where(x > y, 1, 0); dz/dy = -z", &ops[0]) == KRF_OK &&
                      krf__op_define(&known, "u_both", "T x, T y", "T s, i8 d", "s = x; d = y;", NULL, &ops[1]) == KRF_OK && krf__reduction_define(&known, &least, &ops[2]) == KRF_OK;
    if (!made) {
        __builtin_trap();
    }
    return &known;
}

/* The printed program, or NULL. */
static char *print_parsed(const char *text) {
    krf_graph g;
    uint32_t results[8];
    int n;
    char *printed = NULL;
    if (krf__graph_init(&g, NULL) != KRF_OK) {
        return NULL;
    }
    g.defined = defined();
    if (krf__parse(&g, text, NULL, 0, extent, NULL, 8, results, &n) == KRF_OK) {
        krf__str out = {0};
        krf__print(&g, n, results, &out);
        printed = krf__str_take(&out);
    }
    krf__graph_free(&g);
    return printed;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = krf__malloc(size + 1);
    if (text == NULL) {
        return 0;
    }
    memcpy(text, data, size);
    text[size] = '\0';
    char *first = print_parsed(text);
    if (first != NULL) {
        char *second = print_parsed(first);
        if (second == NULL || strcmp(first, second) != 0) {
            __builtin_trap();
        }
        krf__mem_free(second);
    }
    krf__mem_free(first);
    krf__mem_free(text);
    return 0;
}
