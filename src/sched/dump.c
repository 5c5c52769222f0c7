#include "sched/dump.h"

#include "base/fail.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "ir/text.h"
#include "sched/kernels.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

krf_status krf__graph_text(const krf_graph *graph, int n, const uint32_t *ids, krf__str *out) {
    krf_graph canonical;
    uint32_t *outputs = krf__malloc((size_t)n * sizeof *outputs);
    if (outputs == NULL) {
        return krf__fail_memory();
    }
    memcpy(outputs, ids, (size_t)n * sizeof *ids);
    krf_status status = krf__canon(graph, n, outputs, &canonical);
    if (status == KRF_OK) {
        krf__print(&canonical, n, outputs, out);
        krf__graph_free(&canonical);
    }
    krf__mem_free(outputs);
    return status == KRF_OK && out->failed ? krf__fail_memory() : status;
}

static void write_file(const krf_context *c, const char *stem, const char *ending, const krf__str *text) {
    krf__str path = {0};
    krf__str_put(&path, c->dump);
    krf__str_char(&path, '/');
    krf__str_put(&path, stem);
    krf__str_put(&path, ending);
    const krf__piece piece = {text->data, text->length};
    const int error = path.failed || text->failed ? -1 : krf__file_publish_new(path.data, &piece, 1);
    if (error != 0) {
        krf__log_line(&c->log, "KRF_DUMP: %s/%s%s: %s", c->dump, stem, ending, error > 0 ? strerror(error) : "out of memory");
    }
    krf__str_free(&path);
}

/* The name as a part of a file's name. */
static void make_stem(char stem[96], const char *name, uint64_t hash) {
    size_t at = 0;
    for (const char *c = name != NULL && name[0] != '\0' ? name : "plan"; *c != '\0' && at < 64; c++) {
        const bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') || *c == '_';
        stem[at++] = plain ? *c : '_';
    }
    snprintf(stem + at, 96 - at, "-%016llx", (unsigned long long)hash);
}

void krf__dump_plan(const krf_context *c, const char *name, const krf_graph *graph, int n, const uint32_t *ids, const krf__compiled *compiled) {
    krf__str text = {0};
    char stem[96];
    if (c->dump == NULL) {
        return;
    }
    (void)mkdir(c->dump, 0777); /* it is there, or the files will tell */
    if (krf__graph_text(graph, n, ids, &text) != KRF_OK) {
        krf__log_line(&c->log, "KRF_DUMP: %s", krf_error_message());
        krf__str_free(&text);
        return;
    }
    make_stem(stem, name, krf__hash64(text.data, text.length));
    write_file(c, stem, ".krf", &text);
    krf__str_clear(&text);
    if (name != NULL) {
        krf__str_put(&text, "# ");
        krf__str_put(&text, name);
        krf__str_char(&text, '\n');
    }
    krf__plan_print(&compiled->data, &text);
    write_file(c, stem, ".plan", &text);
    for (uint32_t i = 0; i < compiled->data.n_kernels; i++) {
        krf__str_clear(&text);
        if (krf__kernel_source(&compiled->data.kernels[i], c->backend->target, &text) == KRF_OK) {
            write_file(c, compiled->data.kernels[i].name, c->is_cuda ? ".cu" : ".c", &text);
        }
    }
    krf__str_free(&text);
}
