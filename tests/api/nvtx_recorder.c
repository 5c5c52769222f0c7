/* A profiler's library, as NVTX_INJECTION64_PATH names it: remembers domains and ranges as lines, "DOMAIN > text" and "DOMAIN <". Written against the protocol of NVTX 3
 * alone, not against src/base. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define SHOWN __attribute__((visibility("default")))

typedef void (*any_function)(void);
struct callbacks {
    size_t size;
    int (*get_module_function_table)(unsigned module, any_function ***table, unsigned *size);
};
struct attributes {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    const char *message;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char lines[1 << 20];
static size_t length;
static int starts;

SHOWN const char *recorder_lines(void);
SHOWN void recorder_clear(void);
SHOWN int recorder_starts(void);
SHOWN int InitializeInjectionNvtx2(const void *(*get_export_table)(uint32_t id));

const char *recorder_lines(void) { return lines; }
int recorder_starts(void) { return starts; }
void recorder_clear(void) {
    length = 0;
    lines[0] = '\0';
}

static void add(const char *domain, const char *sign, const char *text) {
    pthread_mutex_lock(&lock);
    const int n = snprintf(lines + length, sizeof lines - length, "%s %s%s\n", domain, sign, text);
    length += n > 0 && length + (size_t)n < sizeof lines ? (size_t)n : 0;
    pthread_mutex_unlock(&lock);
}

static void *create(const char *name) {
    static char names[4][64];
    static int n;
    if (n == 4) {
        return NULL;
    }
    snprintf(names[n], sizeof names[n], "%s", name);
    return names[n++];
}

static int push(void *domain, const struct attributes *a) {
    const int right = a->version == 3 && a->size == 48 && a->message_type == 1;
    add(domain, "> ", right ? a->message : "?");
    return 0;
}

static int pop(void *domain) {
    add(domain, "<", "");
    return 0;
}

int InitializeInjectionNvtx2(const void *(*get_export_table)(uint32_t id)) {
    const struct callbacks *c = get_export_table(1);
    any_function **table = NULL;
    unsigned size = 0;
    starts++;
    for (unsigned module = 1; module <= 6; module++) { /* all are there */
        if (c == NULL || c->size < sizeof *c || !c->get_module_function_table(module, &table, &size) || table == NULL || size < 7 || table[0] != NULL || table[size] != NULL) {
            return 0;
        }
    }
    if (c->get_module_function_table(7, &table, &size) || !c->get_module_function_table(5, &table, &size) || size != 16) {
        return 0;
    }
    *table[4] = (any_function)push;
    *table[5] = (any_function)pop;
    *table[12] = (any_function)create;
    return 1;
}
