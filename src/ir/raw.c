/* Definitions of raw kernels: the description's texts are copied, cut into parameters and expressions, and checked as far as no shape is needed. */
#include "ir/raw.h"

#include "base/fail.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "ir/dtype.h"

#include <ctype.h>
#include <string.h>

static bool is_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* The word at the front of the text, which goes on behind it; empty where there is none. */
static krf__span take_word(krf__span *text) {
    krf__span word = {text->at, 0};
    while (word.length < text->length && is_name(word.at[word.length])) {
        word.length++;
    }
    size_t gone = word.length;
    while (gone < text->length && isspace((unsigned char)text->at[gone])) {
        gone++;
    }
    *text = (krf__span){text->at + gone, text->length - gone};
    return word;
}

static bool dtype_of(krf__span word, krf_dtype *dtype) {
    char name[16];
    if (word.length == 0 || word.length >= sizeof name) {
        return false;
    }
    memcpy(name, word.at, word.length);
    name[word.length] = '\0';
    return krf_dtype_from_name(name, dtype);
}

static krf_status wrong(const krf__raw *raw, krf__span piece, const char *why) {
    return krf__fail(KRF_E_ARGUMENT, "%s: the parameter '%.*s' %s", raw->name, (int)piece.length, piece.at, why);
}

static krf_status read_extents(krf__raw *raw, krf__span piece, krf__parameter *p, krf__span *text) {
    const char *end = memchr(text->at, ']', text->length);
    for (const char *more = end; more != NULL; more = memchr(more + 1, ']', (size_t)(text->at + text->length - more - 1))) {
        end = more; /* extents may have brackets of their own: x.shape[0] */
    }
    const char *assigned = memchr(text->at, '=', text->length);
    if (end == NULL || (assigned != NULL && assigned < end)) {
        return wrong(raw, piece, end == NULL ? "lacks a ']'" : "is an array: only scalars are computed");
    }
    krf__span rest = {text->at + 1, (size_t)(end - text->at - 1)};
    while (krf__span_next(&rest, &p->extents[p->rank])) {
        if (p->extents[p->rank].length == 0 || ++p->rank == KRF_MAX_RANK) {
            return wrong(raw, piece, p->rank == KRF_MAX_RANK ? "has too many extents" : "has an extent that is missing");
        }
    }
    *text = (krf__span){end + 1, (size_t)(text->at + text->length - end - 1)};
    return KRF_OK;
}

static krf_status read_parameter(krf__raw *raw, krf__span piece, krf__parameter *p) {
    krf__span text = piece, word = take_word(&text);
    const bool in = krf__span_is(word, "in"), out = krf__span_is(word, "out"), both = krf__span_is(word, "inout");
    krf_status status = KRF_OK;
    p->role = in ? KRF__ROLE_IN : out ? KRF__ROLE_OUT : both ? KRF__ROLE_INOUT : KRF__ROLE_SCALAR;
    word = p->role != KRF__ROLE_SCALAR ? take_word(&text) : word;
    if (!dtype_of(word, &p->dtype)) {
        krf__fail(KRF_E_DTYPE, "%s: the parameter '%.*s': '%.*s' is no dtype; 'in f32 x', 'out f32 y[n]' and 'i64 n' are parameters", raw->name, (int)piece.length, piece.at, (int)word.length,
                  word.at);
        return KRF_E_DTYPE;
    }
    p->name = take_word(&text);
    if (p->name.length == 0 || isdigit((unsigned char)*p->name.at)) {
        return wrong(raw, piece, "has no name");
    }
    p->any = p->role != KRF__ROLE_SCALAR && (text.length == 0 || *text.at != '[');
    if (text.length > 0 && *text.at == '[') {
        status = p->role == KRF__ROLE_SCALAR ? wrong(raw, piece, "has extents, as arrays have: say in, out or inout") : read_extents(raw, piece, p, &text);
    } else if (text.length > 0 && *text.at == '=' && p->role == KRF__ROLE_SCALAR) {
        krf__span rest = {text.at + 1, text.length - 1};
        krf__span_next(&rest, &p->computed);
        text.length = 0;
        status = p->computed.length == 0 || rest.length > 0 ? wrong(raw, piece, "is computed from nothing") : KRF_OK;
        if (status == KRF_OK && !krf__is_int(p->dtype)) {
            status = wrong(raw, piece, "is computed from sizes, and must be an integer");
        }
    }
    return status == KRF_OK && text.length > 0 ? wrong(raw, piece, "goes on behind its end") : status;
}

static const krf__parameter *find(const krf__raw *raw, krf__span name) {
    for (int i = 0; i < raw->n_parameters; i++) {
        if (krf__span_same(raw->parameters[i].name, name)) {
            return &raw->parameters[i];
        }
    }
    return NULL;
}

static bool is_extent(const krf__raw *raw, krf__span name) {
    for (int i = 0; i < raw->n_parameters; i++) {
        const krf__parameter *p = &raw->parameters[i];
        for (int d = 0; d < p->rank; d++) {
            if (krf__span_same(p->extents[d], name)) {
                return true;
            }
        }
    }
    return false;
}

static krf_status read_parameters(krf__raw *raw, krf__span rest) {
    krf__span piece;
    while (krf__span_next(&rest, &piece)) {
        krf__parameter p = {.rank = 0};
        if (raw->n_parameters == KRF__MOST_PARAMETERS) {
            return krf__fail(KRF_E_ARGUMENT, "%s: more than %d parameters", raw->name, KRF__MOST_PARAMETERS);
        }
        krf_status status = read_parameter(raw, piece, &p);
        if (status == KRF_OK && find(raw, p.name) != NULL) {
            status = wrong(raw, piece, "has the name of an earlier one");
        }
        if (status != KRF_OK) {
            return status;
        }
        raw->parameters[raw->n_parameters++] = p;
    }
    for (int i = 0; i < raw->n_parameters; i++) {
        krf__parameter *p = &raw->parameters[i];
        if (p->role == KRF__ROLE_SCALAR && p->computed.at == NULL && krf__is_int(p->dtype) && is_extent(raw, p->name)) {
            p->computed = p->name;
        }
        raw->n_given += krf__parameter_given(p);
        raw->n_results += krf__parameter_written(p);
    }
    return raw->n_results > 0 ? KRF_OK : krf__fail(KRF_E_ARGUMENT, "%s: no parameter is out or inout: the kernel would have no result", raw->name);
}

/* ---- expressions ---- */

/* Whether a name can stand in an expression; notes whose strides are asked for. Values are not known yet. */
static bool known(void *user, krf__span name, krf__span fact, int64_t axis, int64_t *value, int *rank) {
    krf__raw *raw = user;
    krf__parameter *p = (krf__parameter *)find(raw, name);
    (void)axis;
    (void)rank;
    *value = 1;
    if (fact.at == NULL) {
        return is_extent(raw, name);
    }
    if (p == NULL || p->role == KRF__ROLE_SCALAR) {
        return false;
    }
    p->strided |= krf__span_is(fact, "strides");
    return true;
}

/* Divisors are not known either: '1' for every size makes some 0, so that only the grammar and the names are of interest. */
static krf_status check(krf__raw *raw, krf__span text) {
    int64_t value;
    krf_status status = krf__extent_eval(text, NULL, NULL, &value);
    if (status == KRF_OK && krf__extent_eval(text, known, raw, &value) != KRF_OK && strstr(krf_error_message(), "divides by zero") == NULL) {
        status = KRF_E_ARGUMENT;
    }
    return status;
}

static krf_status read_dimensions(krf__raw *raw, const char *what, const char *text, krf__span dimensions[3]) {
    krf__span rest = {text, text != NULL ? strlen(text) : 0}, piece;
    int n = 0;
    while (krf__span_next(&rest, &piece)) {
        if (n == 3) {
            return krf__fail(KRF_E_ARGUMENT, "%s: %s '%s' has more than three dimensions", raw->name, what, text);
        }
        dimensions[n++] = piece;
    }
    return KRF_OK;
}

static krf_status check_all(krf__raw *raw) {
    krf_status status = KRF_OK;
    for (int i = 0; status == KRF_OK && i < raw->n_parameters; i++) {
        const krf__parameter *p = &raw->parameters[i];
        status = p->computed.at != NULL ? check(raw, p->computed) : KRF_OK;
        for (int d = 0; status == KRF_OK && d < p->rank; d++) {
            status = check(raw, p->extents[d]);
        }
    }
    for (int d = 0; status == KRF_OK && d < 3; d++) {
        status = raw->grid[d].at != NULL ? check(raw, raw->grid[d]) : KRF_OK;
        status = status == KRF_OK && raw->block[d].at != NULL ? check(raw, raw->block[d]) : status;
    }
    return status == KRF_OK && raw->shared.at != NULL ? check(raw, raw->shared) : status;
}

/* ---- sources ---- */

static bool has_word(const char *source, const char *word) {
    const size_t length = strlen(word);
    for (const char *at = strstr(source, word); at != NULL; at = strstr(at + 1, word)) {
        if ((at == source || !is_name(at[-1])) && !is_name(at[length])) {
            return true;
        }
    }
    return false;
}

static krf_status check_sources(const krf__raw *raw) {
    const char *missing = raw->cuda != NULL && !has_word(raw->cuda, raw->name) ? "CUDA" : raw->c != NULL && !has_word(raw->c, raw->name) ? "C" : NULL;
    if (raw->cuda == NULL && raw->c == NULL) {
        return krf__fail(KRF_E_ARGUMENT, "%s: there is no source: cuda and c are both NULL", raw->name);
    }
    if (missing == NULL && raw->cuda != NULL && strstr(raw->cuda, "extern \"C\"") == NULL) {
        return krf__fail(KRF_E_ARGUMENT, "%s: the CUDA source says extern \"C\" nowhere: the kernel would have another name in what is compiled", raw->name);
    }
    return missing == NULL ? KRF_OK : krf__fail(KRF_E_ARGUMENT, "%s: the %s source has no function of this name", raw->name, missing);
}

/* Everything, each text with its NUL. */
static krf_status make_key(krf__raw *raw) {
    krf__str s = {0};
    const char *const all[] = {raw->name, raw->cuda, raw->c, raw->options, raw->texts[0], raw->texts[1], raw->texts[2], raw->texts[3], raw->texts[4]};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        krf__str_char(&s, all[i] != NULL ? '+' : '-');
        krf__str_putn(&s, all[i] != NULL ? all[i] : "", (all[i] != NULL ? strlen(all[i]) : 0) + 1);
    }
    raw->key_bytes = s.length;
    raw->key = (uint8_t *)krf__str_take(&s);
    return raw->key != NULL ? KRF_OK : krf__fail_memory();
}

static bool copy(const char *text, char **to) {
    *to = text != NULL ? krf__strdup(text) : NULL;
    return text == NULL || *to != NULL;
}

static krf_status fill(krf__raw *raw, const krf_kernel_description *d, const char *units) {
    raw->parameters = krf__calloc(KRF__MOST_PARAMETERS, sizeof *raw->parameters);
    if (raw->parameters == NULL || !copy(d->name, &raw->name) || !copy(d->cuda, &raw->cuda) || !copy(d->c, &raw->c) || !copy(d->options, &raw->options) ||
        !copy(d->parameters, &raw->texts[0]) || !copy(d->grid, &raw->texts[1]) || !copy(d->block, &raw->texts[2]) || !copy(d->shared, &raw->texts[3]) || !copy(units, &raw->texts[4])) {
        return krf__fail_memory();
    }
    krf_status status = check_sources(raw);
    status = status == KRF_OK ? read_parameters(raw, (krf__span){raw->texts[0], strlen(raw->texts[0])}) : status;
    status = status == KRF_OK ? read_dimensions(raw, "the grid", raw->texts[1], raw->grid) : status;
    status = status == KRF_OK ? read_dimensions(raw, "the block", raw->texts[2], raw->block) : status;
    if (raw->texts[3] != NULL) {
        raw->shared = (krf__span){raw->texts[3], strlen(raw->texts[3])};
    }
    if (units != NULL) {
        raw->units = (krf__span){raw->texts[4], strlen(raw->texts[4])};
    }
    if (status == KRF_OK && check_all(raw) != KRF_OK) {
        char why[KRF__MESSAGE_SIZE];
        memcpy(why, krf_error_message(), strlen(krf_error_message()) + 1);
        status = krf__fail(KRF_E_ARGUMENT, "%s: %s", raw->name, why);
    }
    return status == KRF_OK ? make_key(raw) : status;
}

krf_status krf__raw_make(const krf_kernel_description *d, const char *units, krf__raw **made) {
    *made = NULL;
    if (d->name == NULL || d->parameters == NULL || *d->name == '\0' || d->name[strspn(d->name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] != '\0') {
        return krf__fail(KRF_E_ARGUMENT, "krf_kernel_define: the %s", d->name == NULL ? "name is NULL" : d->parameters == NULL ? "parameters are NULL" : "name is not one of a function in C");
    }
    krf__raw *raw = krf__calloc(1, sizeof *raw);
    if (raw == NULL) {
        return krf__fail_memory();
    }
    atomic_init(&raw->references, 1);
    krf_status status = fill(raw, d, units);
    if (status != KRF_OK) {
        krf__raw_release(raw);
        return status;
    }
    *made = raw;
    return KRF_OK;
}

krf__raw *krf__raw_retain(krf__raw *raw) {
    atomic_fetch_add(&raw->references, 1);
    return raw;
}

void krf__raw_release(krf__raw *raw) {
    if (raw == NULL || atomic_fetch_sub(&raw->references, 1) != 1) {
        return;
    }
    for (size_t i = 0; i < sizeof raw->texts / sizeof *raw->texts; i++) {
        krf__mem_free(raw->texts[i]);
    }
    krf__mem_free(raw->name);
    krf__mem_free(raw->cuda);
    krf__mem_free(raw->c);
    krf__mem_free(raw->options);
    krf__mem_free(raw->parameters);
    krf__mem_free(raw->key);
    krf__mem_free(raw);
}
