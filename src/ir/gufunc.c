/* Definitions and calls of generalised functions: signatures are read, sizes bound, dtypes promoted, outer axes broadcast. */
#include "ir/gufunc.h"

#include "base/fail.h"
#include "base/mem.h"
#include "ir/build.h"
#include "ir/build_raw.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- definitions ---- */

static krf_status wrong(const krf__gufunc *f, const char *why) { return krf__fail(KRF_E_ARGUMENT, "%s: the signature '%s' %s", f->name, f->signature, why); }

static bool letter(char c) { return isalnum((unsigned char)c) || c == '_'; }

static const char *skip(const char *at) { return at + strspn(at, " \t\n"); }

/* The number of a size by its name, new or known; -1 where there are too many. */
static int size_of(krf__gufunc *f, krf__span name) {
    int i = 0;
    while (i < f->n_sizes && !krf__span_same(f->sizes[i].name, name)) {
        i++;
    }
    if (i == f->n_sizes) {
        if (i == KRF__MOST_SIZES) {
            return -1;
        }
        const bool number = isdigit((unsigned char)*name.at);
        f->sizes[f->n_sizes++] = (krf__size){name, number ? strtoll(name.at, NULL, 10) : -1};
    }
    return i;
}

/* "(m,n)" from *at on. */
static krf_status read_core(krf__gufunc *f, const char **at, krf__core *core) {
    if (**at != '(') {
        return wrong(f, "lacks a '('; it is written as (m,n),(n,p)->(m,p)");
    }
    *at = skip(*at + 1);
    while (**at != ')') {
        krf__span name = {*at, 0};
        while (letter(name.at[name.length])) {
            name.length++;
        }
        const int size = name.length > 0 ? size_of(f, name) : -1;
        for (size_t i = 0; size >= 0 && i < name.length && isdigit((unsigned char)*name.at); i++) {
            if (!isdigit((unsigned char)name.at[i]) || name.length > 9) {
                return wrong(f, "has an extent that is neither a name nor a number");
            }
        }
        if (size < 0 || core->rank == KRF_MAX_RANK) {
            return wrong(f, name.length == 0 ? "has an extent that is missing" : "has too many axes or sizes");
        }
        core->sizes[core->rank++] = size;
        *at = skip(name.at + name.length);
        if (**at == ',') {
            *at = skip(*at + 1);
            if (**at == ')') {
                return wrong(f, "has an extent that is missing");
            }
        } else if (**at != ')') {
            return wrong(f, "lacks a ',' or a ')'");
        }
    }
    *at = skip(*at + 1);
    return KRF_OK;
}

static krf_status read_signature(krf__gufunc *f) {
    const char *at = skip(f->signature);
    bool results = false, more = !(at[0] == '-' && at[1] == '>');
    int sizes_of_inputs = 0;
    for (;;) {
        const int n = f->n_inputs + f->n_results;
        if (more) {
            krf_status status = n == KRF__MOST_OPERANDS ? wrong(f, "has too many operands") : read_core(f, &at, &f->cores[n]);
            if (status != KRF_OK) {
                return status;
            }
            *(results ? &f->n_results : &f->n_inputs) += 1;
        }
        if (*at == ',' && more) {
            at = skip(at + 1);
        } else if (at[0] == '-' && at[1] == '>' && !results) {
            results = more = true;
            sizes_of_inputs = f->n_sizes;
            at = skip(at + 2);
        } else {
            break;
        }
    }
    if (*at != '\0' || !results) {
        return wrong(f, !results ? "lacks a '->'" : "goes on behind its end");
    }
    for (int i = sizes_of_inputs; i < f->n_sizes; i++) {
        if (f->sizes[i].fixed < 0) {
            return krf__fail(KRF_E_ARGUMENT, "%s: the signature '%s': no operand has the extent %.*s, which a result has", f->name, f->signature, (int)f->sizes[i].name.length, f->sizes[i].name.at);
        }
    }
    return KRF_OK;
}

static bool known_dtype(krf__span word, krf_dtype *dtype) {
    char text[16] = "";
    if (word.length >= sizeof text) {
        return false;
    }
    memcpy(text, word.at, word.length);
    return krf_dtype_from_name(text, dtype);
}

/* The number of a word for a dtype among those before operand k, from 1 on; a new one. */
static int generic_of(krf__gufunc *f, int k, krf__span word) {
    for (int i = 0; i < k; i++) {
        if (f->cores[i].generic > 0 && krf__span_same(f->cores[i].type, word)) {
            return f->cores[i].generic;
        }
    }
    return ++f->n_generic;
}

static bool servable(krf_dtype dtype) { return !krf__is_complex(dtype) && !krf__is_half(dtype); }

static krf_status refuse_dtype(const krf__gufunc *f, krf__span name, krf_dtype dtype) {
    return krf__fail(KRF_E_DTYPE, "%s: %.*s is of %s, with which C cannot compute here: cast to %s", f->name, (int)name.length, name.at, krf_dtype_name(dtype),
                     krf__is_half(dtype) ? "f32" : "its real and imaginary parts");
}

static krf_status read_parameters(krf__gufunc *f) {
    krf__span rest = {f->parameters, strlen(f->parameters)}, piece;
    const int n = f->n_inputs + f->n_results;
    int k = 0;
    for (; krf__span_next(&rest, &piece); k++) {
        size_t type = 0, gap;
        while (type < piece.length && letter(piece.at[type])) {
            type++;
        }
        gap = type;
        while (gap < piece.length && isspace((unsigned char)piece.at[gap])) {
            gap++;
        }
        krf__span name = {piece.at + gap, piece.length - gap};
        bool valid = type > 0 && gap > type && name.length > 0 && !isdigit((unsigned char)*name.at);
        for (size_t i = 0; i < name.length; i++) {
            valid &= letter(name.at[i]);
        }
        if (!valid || k == n) {
            return krf__fail(KRF_E_ARGUMENT, k == n ? "%s: more parameters than the %s has operands and results: '%.*s'" : "%s: the parameters are written as f32 a, T b, one for each part of the %s: '%.*s'", f->name,
                             k == n ? f->signature : "signature", (int)piece.length, piece.at);
        }
        krf__core *core = &f->cores[k];
        core->name = name;
        core->type = (krf__span){piece.at, type};
        core->generic = known_dtype(core->type, &core->dtype) ? 0 : generic_of(f, k, core->type);
        if (core->generic == 0 && !servable(core->dtype)) {
            return refuse_dtype(f, name, core->dtype);
        }
        for (int i = 0; i < k; i++) {
            if (krf__span_same(f->cores[i].name, name)) {
                return krf__fail(KRF_E_ARGUMENT, "%s: two parameters are called %.*s", f->name, (int)name.length, name.at);
            }
        }
        for (int i = 0; i < f->n_sizes; i++) {
            if (krf__span_same(f->sizes[i].name, name)) {
                return krf__fail(KRF_E_ARGUMENT, "%s: %.*s is an extent and a parameter", f->name, (int)name.length, name.at);
            }
        }
    }
    if (k < n) {
        return krf__fail(KRF_E_ARGUMENT, "%s: %d parameters, and '%s' has %d operands and results", f->name, k, f->signature, n);
    }
    for (int i = f->n_inputs; i < n; i++) {
        bool found = f->cores[i].generic == 0;
        for (int j = 0; j < f->n_inputs; j++) {
            found |= f->cores[j].generic == f->cores[i].generic;
        }
        if (!found) {
            return krf__fail(KRF_E_DTYPE, "%s: no operand says which dtype '%.*s' is, which %.*s has", f->name, (int)f->cores[i].type.length, f->cores[i].type.at, (int)f->cores[i].name.length,
                             f->cores[i].name.at);
        }
    }
    return KRF_OK;
}

krf_status krf__gufunc_make(const krf_gufunc_description *d, krf__gufunc **made) {
    *made = NULL;
    if (d->name == NULL || d->signature == NULL || d->parameters == NULL || d->body == NULL) {
        return krf__fail(KRF_E_ARGUMENT, "krf_gufunc_define: %s is NULL", d->name == NULL ? "name" : d->signature == NULL ? "signature" : d->parameters == NULL ? "parameters" : "body");
    }
    bool name = *d->name != '\0' && !isdigit((unsigned char)*d->name);
    for (const char *at = d->name; *at != '\0'; at++) {
        name &= letter(*at);
    }
    if (!name) {
        return krf__fail(KRF_E_ARGUMENT, "krf_gufunc_define: '%s' is not a name", d->name);
    }
    krf__gufunc *f = krf__calloc(1, sizeof *f);
    if (f == NULL) {
        return krf__fail_memory();
    }
    f->name = krf__strdup(d->name);
    f->signature = krf__strdup(d->signature);
    f->parameters = krf__strdup(d->parameters);
    f->body = krf__strdup(d->body);
    krf_status status = f->name == NULL || f->signature == NULL || f->parameters == NULL || f->body == NULL ? krf__fail_memory() : read_signature(f);
    status = status == KRF_OK ? read_parameters(f) : status;
    if (status != KRF_OK) {
        krf__gufunc_free(f);
        return status;
    }
    *made = f;
    return KRF_OK;
}

void krf__gufunc_free(krf__gufunc *f) {
    if (f != NULL) {
        krf__mem_free(f->name);
        krf__mem_free(f->signature);
        krf__mem_free(f->parameters);
        krf__mem_free(f->body);
        krf__mem_free(f);
    }
}

/* ---- calls ---- */

/* "matmul (m,n),(n,p)->(m,p): shapes (2, 3) and (4, 5): why". */
static bool fail_shapes(krf_graph *g, const krf__gufunc *f, const uint32_t *inputs, const char *why, krf__span name) {
    krf__str s = {0};
    for (int i = 0; i < f->n_inputs; i++) {
        krf__str_put(&s, i == 0 ? "" : i + 1 < f->n_inputs ? ", " : " and ");
        krf__str_shape(&s, krf__node_of(g, inputs[i])->rank, krf__shape_of(g, inputs[i]));
    }
    krf__graph_fail(g, KRF_E_SHAPE, "%s: '%s' of shape%s %s: %s%.*s", f->name, f->signature, f->n_inputs == 1 ? "" : "s", s.data != NULL && !s.failed ? s.data : "?", why, (int)name.length,
                    name.length > 0 ? name.at : "");
    krf__str_free(&s);
    return false;
}

/* The dtype of each word: what its operands promote to. */
static bool choose_dtypes(krf_graph *g, krf__gufunc_call *c, uint32_t *inputs) {
    const krf__gufunc *f = c->f;
    krf_dtype chosen[KRF__MOST_OPERANDS + 1];
    bool any[KRF__MOST_OPERANDS + 1] = {false};
    for (int weak = 0; weak < 2; weak++) { /* those of weak numbers alone where there is nothing else */
        for (int i = 0; i < f->n_inputs; i++) {
            const krf__node *n = krf__node_of(g, inputs[i]);
            const int w = f->cores[i].generic;
            if (w == 0 || n->weak != (weak == 1) || (weak == 1 && any[w])) {
                continue;
            }
            if (any[w] && !krf__promote(chosen[w], (krf_dtype)n->dtype, &chosen[w])) {
                krf__graph_fail(g, KRF_E_DTYPE, "%s: the operands of dtype '%.*s' are %s and %s, which do not promote: cast one", f->name, (int)f->cores[i].type.length, f->cores[i].type.at,
                                krf_dtype_name(chosen[w]), krf_dtype_name((krf_dtype)n->dtype));
                return false;
            }
            chosen[w] = any[w] ? chosen[w] : (krf_dtype)n->dtype;
            any[w] |= weak == 0;
        }
    }
    for (int i = 0; i < f->n_inputs + f->n_results; i++) {
        const krf__core *core = &f->cores[i];
        c->dtypes[i] = core->generic > 0 ? chosen[core->generic] : core->dtype;
        if (!servable(c->dtypes[i])) {
            char why[KRF__MESSAGE_SIZE];
            refuse_dtype(f, core->name, c->dtypes[i]);
            memcpy(why, krf_error_message(), strlen(krf_error_message()) + 1);
            krf__graph_fail(g, KRF_E_DTYPE, "%s", why);
            return false;
        }
        const krf__node *n = i < f->n_inputs ? krf__node_of(g, inputs[i]) : NULL;
        if (n != NULL && core->generic == 0 && !n->weak && (krf_dtype)n->dtype != core->dtype) {
            krf__graph_fail(g, KRF_E_DTYPE, "%s: %.*s is %s, and %s was declared: cast it", f->name, (int)core->name.length, core->name.at, krf_dtype_name((krf_dtype)n->dtype), krf_dtype_name(core->dtype));
            return false;
        }
        if (n != NULL && (inputs[i] = krf__build_astype(g, inputs[i], c->dtypes[i])) == 0) {
            return false;
        }
    }
    return true;
}

static bool bind_sizes(krf_graph *g, krf__gufunc_call *c, const uint32_t *inputs) {
    const krf__gufunc *f = c->f;
    for (int i = 0; i < f->n_sizes; i++) {
        c->sizes[i] = f->sizes[i].fixed;
    }
    for (int i = 0; i < f->n_inputs; i++) {
        const krf__core *core = &f->cores[i];
        const krf__node *n = krf__node_of(g, inputs[i]);
        if (n->rank < core->rank) {
            return fail_shapes(g, f, inputs, "too few axes for ", core->name);
        }
        const int outer = n->rank - core->rank;
        for (int d = 0; d < core->rank; d++) {
            const int64_t extent = krf__shape_of(g, inputs[i])[outer + d];
            int64_t *size = &c->sizes[core->sizes[d]];
            if (*size >= 0 && *size != extent) {
                return fail_shapes(g, f, inputs, "extents differ for ", f->sizes[core->sizes[d]].name);
            }
            *size = extent;
        }
        if (!krf__shape_broadcast(c->outer, c->extents, outer, krf__shape_of(g, inputs[i]), &c->outer, c->extents)) {
            return fail_shapes(g, f, inputs, "the axes before those of the signature do not broadcast at ", core->name);
        }
        c->shapes[i] = krf__layout_c(n->rank, krf__shape_of(g, inputs[i]));
    }
    for (int i = f->n_inputs; i < f->n_inputs + f->n_results; i++) {
        const krf__core *core = &f->cores[i];
        int64_t shape[KRF_MAX_RANK];
        if (c->outer + core->rank > KRF_MAX_RANK) {
            return fail_shapes(g, f, inputs, "too many axes for ", core->name);
        }
        for (int d = 0; d < c->outer + core->rank; d++) {
            shape[d] = d < c->outer ? c->extents[d] : c->sizes[core->sizes[d - c->outer]];
        }
        if (krf__shape_size(c->outer + core->rank, shape) < 0) {
            return fail_shapes(g, f, inputs, "too many elements for ", core->name);
        }
        c->shapes[i] = krf__layout_c(c->outer + core->rank, shape);
    }
    return true;
}

static krf_status make_kernel(const krf__gufunc_call *c, krf__raw **raw) {
    krf__gufunc_texts t;
    memset(&t, 0, sizeof t);
    krf__gufunc_write(c, &t);
    const bool failed = t.name.failed || t.cuda.failed || t.c.failed || t.parameters.failed || t.units.failed || t.grid.failed;
    const krf_kernel_description d = {.size = sizeof d, .name = t.name.data, .parameters = t.parameters.data, .cuda = t.cuda.data, .c = t.c.data, .grid = t.grid.data, .block = "128"};
    krf_status status = failed ? krf__fail_memory() : krf__raw_make(&d, t.units.data, raw);
    krf__str_free(&t.name);
    krf__str_free(&t.cuda);
    krf__str_free(&t.c);
    krf__str_free(&t.parameters);
    krf__str_free(&t.units);
    krf__str_free(&t.grid);
    return status;
}

static bool call(krf_graph *g, krf__gufunc_call *c, uint32_t *inputs, uint32_t *results) {
    krf_result_shape shapes[KRF__MOST_OPERANDS];
    krf__raw *raw = NULL;
    if (!choose_dtypes(g, c, inputs) || !bind_sizes(g, c, inputs)) {
        return false;
    }
    krf_status status = make_kernel(c, &raw);
    if (status != KRF_OK) {
        char why[KRF__MESSAGE_SIZE];
        memcpy(why, krf_error_message(), strlen(krf_error_message()) + 1);
        krf__graph_fail(g, status, "%s", why);
        return false;
    }
    for (int i = 0; i < c->f->n_results; i++) {
        const krf__layout *shape = &c->shapes[c->f->n_inputs + i];
        shapes[i] = (krf_result_shape){shape->rank, shape->shape};
    }
    const bool valid = krf__build_raw_call(g, raw, c->f->n_inputs, inputs, shapes, NULL, results);
    krf__raw_release(raw);
    return valid;
}

bool krf__build_gufunc(krf_graph *g, const krf__gufunc *f, int n, const uint32_t *inputs, uint32_t *results) {
    uint32_t operands[KRF__MOST_OPERANDS] = {0};
    memset(results, 0, (size_t)f->n_results * sizeof *results);
    if (g->nil || g->status != KRF_OK) {
        return false;
    }
    if (n != f->n_inputs) {
        krf__graph_fail(g, KRF_E_ARGUMENT, "%s: '%s' takes %d operand%s, and the call has %d", f->name, f->signature, f->n_inputs, f->n_inputs == 1 ? "" : "s", n);
        return false;
    }
    krf__gufunc_call *c = krf__calloc(1, sizeof *c);
    if (c == NULL) {
        krf__graph_fail(g, KRF_E_MEMORY, "out of host memory (%s)", f->name);
        return false;
    }
    c->f = f;
    memcpy(operands, inputs, (size_t)n * sizeof *operands);
    const bool valid = call(g, c, operands, results);
    krf__mem_free(c);
    return valid;
}
