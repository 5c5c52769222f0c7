/* libFuzzer entry point: any text parses or fails, and what parses prints to a text that parses and prints alike.
 * Built and run by coverage.sh; seeds: tests/corpus/parse. */
#include "base/mem.h"
#include "ir/graph.h"
#include "ir/text.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int64_t extent(void *user, const char *name) {
    (void)user;
    return (int64_t)(strlen(name) % 5);
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
