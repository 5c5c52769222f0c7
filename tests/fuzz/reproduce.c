/* Writes and reads graphs as files; see reproduce.h. */
#include "fuzz/reproduce.h"

#include "fuzz/evaluate.h"
#include "fuzz/user.h"

#include <inttypes.h>

static krf_context *open_plain(report *r) {
    krf_context_options options = krf_context_options_default();
    krf_context *context = NULL;
    options.device = "cpu";
    options.cpu_tier = KRF_CPU_INTERPRET;
    options.cache = KRF_CACHE_OFF;
    options.threads = 1;
    if (krf_context_create(&options, &context) != KRF_OK) {
        fails(r, "context: %s", krf_error_message());
    } else {
        user_define(context);
    }
    return context;
}

static void write_facts(FILE *f, const graph *g) {
    bool needed[MOST_NODES];
    graph_needed(g, needed);
    fprintf(f, "#! seed %" PRIu64 "\n", g->seed);
    for (int k = 0; k < g->n_leaves; k++) {
        const leaf *x = &g->leaves[k];
        const block *b = &g->blocks[x->block];
        bool used = false;
        for (int id = 0; id < g->n_nodes; id++) {
            used |= needed[id] && g->nodes[id].kind == NODE_LEAF && g->nodes[id].args[0] == k;
        }
        if (used) {
            fprintf(f, "#! a%d: block %d of %" PRId64 " %s %s, from %" PRId64 "\n", k, x->block, b->count,
                    filling_name(b->fill), name_of(b->dtype), x->offset);
        }
    }
    for (int id = 0; id < g->n_nodes; id++) {
        const node *n = &g->nodes[id];
        if (needed[id] && n->kind == NODE_SCALAR && !n->literal && is_complex(n->scalar.dtype)) {
            fprintf(f, "#! k%d: %a %a\n", id, n->scalar.f, n->scalar.im);
        } else if (needed[id] && n->kind == NODE_SCALAR && !n->literal && !is_real(n->scalar.dtype)) {
            fprintf(f, "#! k%d: %" PRId64 "\n", id, n->scalar.i);
        } else if (needed[id] && n->kind == NODE_SCALAR && !n->literal) {
            fprintf(f, "#! k%d: %a\n", id, n->scalar.f);
        }
    }
    for (int k = 0; k < g->n_outputs; k++) {
        if (g->outputs[k].how == GIVEN_STRIDED) {
            fprintf(f, "#! result %d: strided\n", k);
        } else if (g->outputs[k].how == GIVEN_LEAF) {
            fprintf(f, "#! result %d: a%d\n", k, g->outputs[k].leaf);
        }
    }
}

/* Every line of a heading as a comment. */
static void write_heading(FILE *f, const char *text) {
    while (*text != '\0') {
        int n = (int)strcspn(text, "\n");
        fprintf(f, "# %.*s\n", n, text);
        text += n + (text[n] == '\n');
    }
}

bool graph_save(const graph *g, const char *path, const char *heading, report *r) {
    krf_context *context = open_plain(r);
    char *text = context != NULL ? graph_text(context, g, r) : NULL;
    FILE *f = text != NULL ? fopen(path, "w") : NULL;
    if (f != NULL) {
        write_heading(f, heading);
        write_facts(f, g);
        fputs(text, f);
    }
    bool written = f != NULL && fclose(f) == 0;
    krf_free(text);
    krf_context_destroy(context);
    return written || (text != NULL && fails(r, "cannot write %s", path));
}

/* ---- reading ---- */

static void read_fact(graph *g, const char *line) {
    int k, block_index, result, other;
    int64_t count, from;
    char fill[16], dtype[16], number[64], imaginary[64] = "0";
    if (sscanf(line, "#! seed %" SCNu64, &g->seed) == 1) {
        return;
    }
    if (sscanf(line, "#! a%d: block %d of %" SCNd64 " %15s %15[^,], from %" SCNd64, &k, &block_index, &count, fill,
               dtype, &from)
            == 6
        && k >= 0 && k < MOST_LEAVES && block_index >= 0 && block_index < MOST_LEAVES) {
        g->leaves[k].block = block_index;
        g->leaves[k].offset = from;
        g->blocks[block_index].count = count;
        krf_dtype_from_name(dtype, &g->blocks[block_index].dtype);
        for (int i = 0; i < FILLINGS; i++) {
            g->blocks[block_index].fill =
                strcmp(fill, filling_name((filling)i)) == 0 ? (filling)i : g->blocks[block_index].fill;
        }
    } else if (sscanf(line, "#! k%d: %63s%*[ ]%63[^\n]", &k, number, imaginary) >= 2) {
        for (int id = 0; id < g->n_nodes; id++) { /* import.c left the name's number there */
            if (g->nodes[id].kind == NODE_SCALAR && !g->nodes[id].literal && g->nodes[id].n == k) {
                g->nodes[id].scalar.i = strtoll(number, NULL, 10);
                g->nodes[id].scalar.f = strtod(number, NULL);
                g->nodes[id].scalar.im = strtod(imaginary, NULL);
            }
        }
    } else if (sscanf(line, "#! result %d: a%d", &result, &other) == 2 && result < g->n_outputs
               && other < g->n_leaves) {
        g->outputs[result].how = GIVEN_LEAF;
        g->outputs[result].leaf = other;
    } else if (sscanf(line, "#! result %d: strided%n", &result, &k) == 1 && result < g->n_outputs) {
        g->outputs[result].how = GIVEN_STRIDED;
    }
}

static char *read_whole(const char *path) {
    FILE *f = fopen(path, "r");
    char *text = calloc(1, 1 << 20);
    if (f != NULL && text != NULL) {
        text[fread(text, 1, (1 << 20) - 1, f)] = '\0';
        fclose(f);
        return text;
    }
    free(text);
    return NULL;
}

bool graph_load(graph *g, const char *path, report *r) {
    memset(g, 0, sizeof *g);
    krf_context *context = open_plain(r);
    char *text = read_whole(path);
    krf_expr outputs[MOST_OUTPUTS];
    int n = 0;
    krf_graph *parsed = context != NULL ? krf_graph_create(context) : NULL;
    bool right = parsed != NULL && (text != NULL || fails(r, "cannot read %s", path));
    if (right && krf_parse_many(parsed, text, NULL, 0, MOST_OUTPUTS, outputs, &n) != KRF_OK) {
        right = fails(r, "%s: %s", path, krf_error_message());
    }
    right = right && graph_import(g, parsed, n, outputs, r);
    for (char *line = text; right && line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, "#!", 2) == 0) {
            read_fact(g, line);
        }
        if (*line == '\0') {
            break;
        }
    }
    free(text);
    if (parsed != NULL) {
        krf_graph_destroy(parsed);
    }
    krf_context_destroy(context);
    return right && (graph_infer(g, INT64_MAX) || fails(r, "%s: an operation is not defined", path));
}
