/* Reads signatures and bodies of definitions. A body is looked at word by word: its brackets, the functions that it calls, the results that it assigns. */
#include "ir/define_check.h"

#include "base/fail.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "ir/body_function.h"
#include "ir/c_lex.h"
#include "ir/parser.h"

#include <string.h>

#define SHOWN(t) ((t)->length > 40 ? 40 : (int)(t)->length), (t)->start /* for %.*s */

static bool is_function(const char *name, size_t length) {
    const krf__token token = {.kind = KRF__TOKEN_NAME, .start = name, .length = length};
    return krf__parse_is_function(&token);
}

krf_status krf__check_name(const char *name) {
    if (!krf__c_is_name(name, strlen(name))) {
        return krf__fail(KRF_E_ARGUMENT, "krf_op_define: \"%.64s\" cannot be the name of a function: letters, digits and '_' are, but no word of C and nothing that begins with krf_ or __",
                         name);
    }
    if (is_function(name, strlen(name))) {
        return krf__fail(KRF_E_ARGUMENT, "krf_op_define: %s is a function of the library", name);
    }
    return KRF_OK;
}

/* ---- signatures ---- */

static krf_status read_type(const krf_op *op, const krf__c_token *t, krf__variable *v) {
    char text[16];
    krf_dtype dtype;
    if (t->kind == KRF__C_NAME && t->length == 1 && *t->start >= 'A' && *t->start <= 'Z') {
        v->letter = *t->start;
        return KRF_OK;
    }
    const bool fits = t->kind == KRF__C_NAME && t->length < sizeof text;
    if (fits) {
        memcpy(text, t->start, t->length);
        text[t->length] = '\0';
    }
    if (!fits || !krf_dtype_from_name(text, &dtype)) {
        return krf__fail(KRF_E_ARGUMENT, "krf_op_define: %s: \"%.*s\" is no type: f32, i64, ... and capital letters are", op->name, SHOWN(t));
    }
    if (krf__is_complex(dtype)) {
        return krf__fail(KRF_E_DTYPE, "krf_op_define: %s: %s: a body works on real numbers; hand it real(z) and imag(z)", op->name, krf_dtype_name(dtype));
    }
    v->dtype = (uint8_t)dtype;
    return KRF_OK;
}

static bool name_taken(const krf_op *op, const krf__c_token *t) {
    bool taken = krf__c_is(t, op->name);
    for (int i = 0; i < op->n_parameters; i++) {
        taken |= op->parameters[i].name != NULL && krf__c_is(t, op->parameters[i].name);
    }
    for (int i = 0; i < op->n_results; i++) {
        taken |= op->variables[i].name != NULL && krf__c_is(t, op->variables[i].name);
    }
    return taken;
}

static krf_status read_variables(krf_op *op, const char *what, const char *text, int most, krf__variable *list, int *n) {
    krf__c_lexer lexer = {text, 1};
    krf__c_token t = krf__c_word(&lexer);
    while (t.kind != KRF__C_END) {
        if (*n == most) {
            return krf__fail(KRF_E_ARGUMENT, "krf_op_define: %s: more than %d %ss", op->name, most, what);
        }
        krf__variable *v = &list[*n];
        krf_status status = read_type(op, &t, v);
        if (status != KRF_OK) {
            return status;
        }
        t = krf__c_word(&lexer);
        krf_dtype dtype;
        const krf__token word = {.kind = KRF__TOKEN_NAME, .start = t.start, .length = t.length};
        const bool letter = t.length == 1 && t.kind == KRF__C_NAME && *t.start >= 'A' && *t.start <= 'Z';
        const bool reserved = t.kind == KRF__C_NAME && !krf__c_is_name(t.start, t.length);
        if (t.kind != KRF__C_NAME || reserved || krf__parse_token_dtype(&word, &dtype) || letter) {
            return krf__fail(KRF_E_ARGUMENT, "krf_op_define: %s: \"%.*s\" cannot be the name of a %s: a type and a name are wanted, as in \"T x, f32 y\"%s", op->name,
                             SHOWN(&t), what, letter ? "; capital letters are types" : reserved ? "; words of C and C++ and numbers such as M_PI are taken" : "");
        }
        if (name_taken(op, &t)) {
            return krf__fail(KRF_E_ARGUMENT, "krf_op_define: %s: the name %.*s is taken already", op->name, SHOWN(&t));
        }
        v->name = krf__calloc(t.length + 1, 1);
        if (v->name == NULL) {
            return krf__fail_memory();
        }
        memcpy(v->name, t.start, t.length);
        ++*n;
        t = krf__c_word(&lexer);
        if (t.kind != KRF__C_END && t.kind != ',') {
            return krf__fail(KRF_E_ARGUMENT, "krf_op_define: %s: ',' is wanted behind %s %s, not \"%.*s\"", op->name, what, v->name, SHOWN(&t));
        }
        t = t.kind == ',' ? krf__c_word(&lexer) : t;
    }
    return *n > 0 ? KRF_OK : krf__fail(KRF_E_ARGUMENT, "krf_op_define: %s needs a %s", op->name, what);
}

krf_status krf__check_signature(krf_op *op, const char *parameters, const char *results) {
    krf_status status = read_variables(op, "parameter", parameters, KRF__MOST_DEFINED, op->parameters, &op->n_parameters);
    status = status == KRF_OK ? read_variables(op, "result", results, KRF__MOST_RESULTS, op->variables, &op->n_results) : status;
    for (int r = 0; status == KRF_OK && r < op->n_results; r++) {
        bool known = op->variables[r].letter == 0;
        for (int i = 0; i < op->n_parameters; i++) {
            known |= op->parameters[i].letter == op->variables[r].letter;
        }
        if (!known) {
            status = krf__fail(KRF_E_ARGUMENT, "krf_op_define: %s: no parameter is of type %c, so that result %s has none", op->name, op->variables[r].letter,
                               op->variables[r].name);
        }
    }
    return status;
}

/* ---- bodies ---- */

/* Words before a bracket that are no functions of the library's: of C, types, and what compilers have, which they know better. */
static bool is_word(const krf_op *op, const krf__c_token *t) {
    krf_dtype dtype;
    const krf__token word = {.kind = KRF__TOKEN_NAME, .start = t->start, .length = t->length};
    bool letter = false;
    for (int i = 0; i < op->n_parameters && t->length == 1; i++) {
        letter |= op->parameters[i].letter == *t->start;
    }
    return letter || !krf__c_is_name(t->start, t->length) || krf__parse_token_dtype(&word, &dtype);
}

typedef struct checking {
    krf_op *op;
    krf__defined *known;
    size_t capacity; /* of op->calls */
    bool assigned[KRF__MOST_RESULTS], returns;
    char brackets[200];
    int depth, lines[200];
} checking;

static krf_status fail_at(const checking *c, int line, const char *what, const krf__c_token *t) {
    return krf__fail(KRF_E_ARGUMENT, "krf_op_define: %s, line %d: %s%.*s", c->op->name, line, what, SHOWN(t));
}

static krf_status check_bracket(checking *c, const krf__c_token *t) {
    if (strchr("([{", t->kind) != NULL) {
        if (c->depth == (int)sizeof c->brackets) {
            return fail_at(c, t->line, "brackets are nested too deep: ", t);
        }
        c->lines[c->depth] = t->line;
        c->brackets[c->depth++] = (char)(t->kind == '(' ? ')' : t->kind == '[' ? ']' : '}');
    } else if (c->depth == 0 || c->brackets[--c->depth] != t->kind) {
        return fail_at(c, t->line, "nothing is open that would be closed by ", t);
    }
    return KRF_OK;
}

static krf_status add_call(checking *c, const krf_op *called) {
    krf_op *op = c->op;
    for (int i = 0; i < op->n_calls; i++) {
        if (op->calls[i] == called) {
            krf__op_release(called);
            return KRF_OK;
        }
    }
    if (!krf__grow(&op->calls, &c->capacity, (size_t)op->n_calls + 1, sizeof *op->calls)) {
        krf__op_release(called);
        return krf__fail_memory();
    }
    op->calls[op->n_calls++] = called;
    op->costly |= called->costly;
    return KRF_OK;
}

/* A name, what stands before it, and what follows. */
static krf_status check_word(checking *c, const krf__c_token *t, int before, krf__c_lexer next) {
    krf_op *op = c->op;
    const krf__c_token one = krf__c_word(&next), two = krf__c_word(&next), three = krf__c_word(&next);
    if (t->length >= 4 && memcmp(t->start, "krf_", 4) == 0) {
        return fail_at(c, t->line, "names that begin with krf_ are the library's: ", t);
    }
    if (krf__c_is(t, "for") || krf__c_is(t, "while") || krf__c_is(t, "goto")) {
        op->costly = true;
    }
    c->returns |= krf__c_is(t, "return") && one.kind != ';';
    for (int r = 0; r < op->n_results; r++) {
        const bool assigns = (one.kind == '=' && two.kind != '=') || (one.kind < KRF__C_END && strchr("+-*/%&|^", one.kind) != NULL && two.kind == '=') ||
                             ((one.kind == '+' || one.kind == '-') && two.kind == one.kind) ||
                             ((one.kind == '<' || one.kind == '>') && two.kind == one.kind && three.kind == '=') || before == '&';
        c->assigned[r] |= assigns && krf__c_is(t, op->variables[r].name);
    }
    if (one.kind != '(' || before == '.') {
        return KRF_OK;
    }
    if (krf__c_is(t, op->name)) {
        return krf__fail(KRF_E_ARGUMENT, "krf_op_define: %s, line %d: %s calls itself: definitions are written into kernels, and none can be recursive", op->name, t->line,
                         op->name);
    }
    const krf_op *called = krf__defined_find(c->known, t->start, t->length);
    if (called != NULL && called->map != NULL) {
        krf__op_release(called);
        return fail_at(c, t->line, "a body works on single elements, and cannot call the reduction ", t);
    }
    if (called != NULL) {
        return add_call(c, called);
    }
    bool narrow;
    const krf__op function = krf__body_function(t->start, t->length, &narrow);
    op->costly |= krf__op_is_costly(function, KRF__KIND_REAL);
    if (function == KRF__poison && krf__op_info_of(krf__op_from_name(t->start, t->length))->class_ == KRF__CLASS_ELEMENTWISE) {
        return fail_at(c, t->line, "what is made of other functions, or works on bools or complex numbers, is written out in a body: there is no ", t);
    }
    return function != KRF__poison || is_word(op, t) ? KRF_OK : fail_at(c, t->line, "a body calls functions of the text form and definitions made before; there is no ", t);
}

krf_status krf__check_body(krf_op *op, krf__defined *known) {
    checking c = {.op = op, .known = known};
    krf__c_lexer lexer = {op->body, 1};
    krf_status status = KRF_OK;
    int before = ';';
    for (krf__c_token t = krf__c_word(&lexer); status == KRF_OK && t.kind != KRF__C_END; t = krf__c_word(&lexer)) {
        if (t.kind == KRF__C_OPEN) {
            status = krf__fail(KRF_E_ARGUMENT, "krf_op_define: %s, line %d: a comment, string or character does not end", op->name, t.line);
        } else if (t.kind == '#') {
            status = krf__fail(KRF_E_ARGUMENT, "krf_op_define: %s, line %d: a body has no lines for the preprocessor: they would hold for the whole kernel", op->name,
                               t.line);
        } else if (t.kind < KRF__C_END && strchr("()[]{}", t.kind) != NULL) {
            status = check_bracket(&c, &t);
        } else if (t.kind == KRF__C_NAME) {
            status = check_word(&c, &t, before, lexer);
        }
        before = t.kind == '>' && before == '-' ? '.' : t.kind;
    }
    if (status == KRF_OK && c.depth > 0) {
        status = krf__fail(KRF_E_ARGUMENT, "krf_op_define: %s: the bracket that is opened on line %d is not closed: '%c' is missing", op->name, c.lines[c.depth - 1],
                           c.brackets[c.depth - 1]);
    }
    for (int r = 0; status == KRF_OK && r < op->n_results; r++) {
        if (!c.assigned[r] && !(op->n_results == 1 && c.returns)) {
            status = krf__fail(KRF_E_ARGUMENT, "krf_op_define: %s: the body never assigns the result %s", op->name, op->variables[r].name);
        }
    }
    return status;
}
