/* The environment variables that are options of contexts. Paths are read where they are needed: NULL says so. */
#include "api/environment.h"

#include "pass/pass.h"
#include "sched/memory.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* The place of text among words; -1 for none. */
static int word(const char *text, int n, const char *const *words) {
    while (n > 0 && strcmp(text, words[n - 1]) != 0) {
        n--;
    }
    return n - 1;
}

static bool read_switch(const char *text, bool *on) {
    static const char *const words[] = {"0", "1", "off", "on", "false", "true", "no", "yes"};
    const int at = word(text, 8, words);
    *on = at >= 0 ? at % 2 == 1 : *on;
    return at >= 0;
}

static bool read_threads(const char *text, krf_context_options *o) {
    char *end = NULL;
    errno = 0;
    const long n = strtol(text, &end, 10);
    const bool valid = *text >= '0' && *text <= '9' && n <= INT_MAX && errno == 0 && *end == '\0';
    o->threads = valid ? (int)n : o->threads;
    return valid;
}

static bool read_tier(const char *text, krf_context_options *o) {
    const int at = word(text, 2, (const char *const[]){"0", "1"});
    o->cpu_tier = at < 0 ? o->cpu_tier : at == 0 ? KRF_CPU_INTERPRET : KRF_CPU_COMPILE;
    return at >= 0;
}

static bool read_cache(const char *text, krf_context_options *o) {
    static const krf_cache_mode modes[] = {KRF_CACHE_ON, KRF_CACHE_READ_ONLY, KRF_CACHE_OFF};
    const int at = word(text, 3, (const char *const[]){"on", "read-only", "off"});
    o->cache = at >= 0 ? modes[at] : o->cache;
    return at >= 0;
}

static bool read_math(const char *text, krf_context_options *o) {
    const int at = word(text, 2, (const char *const[]){"precise", "fast"});
    o->math = at < 0 ? o->math : at == 0 ? KRF_MATH_PRECISE : KRF_MATH_FAST;
    return at >= 0;
}

static bool read_memory_limit(const char *text, krf_context_options *o) {
    size_t bytes;
    const bool valid = krf__memory_limit_parse(text, 1, &bytes);
    o->memory_limit = valid ? text : o->memory_limit;
    return valid;
}

static bool read_fusion(const char *text, krf_context_options *o) {
    krf__limits limits;
    const bool valid = krf__limits_parse(text, &limits);
    o->fusion = valid ? text : o->fusion;
    return valid;
}

static bool read_blocking(const char *text, krf_context_options *o) { return read_switch(text, &o->blocking_compile); }
static bool read_exact(const char *text, krf_context_options *o) { return read_switch(text, &o->exact_memory); }

static const struct {
    const char *name;
    bool (*read)(const char *text, krf_context_options *options);
    const char *right;
} variables[] = {
    {"KRF_THREADS", read_threads, "a number such as 8 is, and 0 for as many as the process may use"},
    {"KRF_CPU_TIER", read_tier, "0 (interpret) and 1 (compile) are"},
    {"KRF_BLOCKING_COMPILE", read_blocking, "1 and 0 are"},
    {"KRF_EXACT_MEMORY", read_exact, "1 and 0 are"},
    {"KRF_CACHE", read_cache, "on, read-only and off are"},
    {"KRF_MATH", read_math, "precise and fast are"},
    {"KRF_MEMORY_LIMIT", read_memory_limit, "a number of bytes such as 8G, 512M or 50% is"},
    {"KRF_FUSION", read_fusion, "off is, and limits such as operations=8,results=1"},
};

krf__bad_variable krf__environment_read(krf_context_options *o) {
    krf__bad_variable bad = {NULL, NULL, NULL};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i].name);
        if (value != NULL && *value != '\0' && !variables[i].read(value, o) && bad.name == NULL) {
            bad = (krf__bad_variable){variables[i].name, value, variables[i].right};
        }
    }
    return bad;
}
