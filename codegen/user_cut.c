/* Where the body of a definition may be cut into stages, for C: as in the body of a kernel (c_body.c), a costly function of a costly value begins the next one. Before a stage
 * come the values that it takes from earlier ones: those of costly functions, and what is assigned to a variable where that takes long. The body is printed once for
 * each of them, up to where that is known, so that nothing need be understood but which words are calls and assignments: a wrong stage would cost time alone. A body with
 * loops, where an expression has many values, or whose floats are of two types, is not cut, nor one with conditions and many cuts. */
#include "codegen/user.h"
#include "ir/body_function.h"

#include <string.h>

enum { MOST_NAMES = 64, MOST_NESTED = 32, MOST_OF_BRANCHES = 3 /* cuts of a body with conditions that are not free: each piece computes those before it again */ };

/* The stage in which a value is known, and whether a costly function of that stage is in it. */
typedef struct weight {
    int stage;
    bool costly;
} weight;

typedef struct variable {
    const char *name;
    size_t length;
    const char *type; /* NULL: not known */
    weight weight;
} variable;

typedef struct call {
    const char *start, *type; /* NULL: it has no value */
    const krf_op *called;     /* NULL: a function of the library */
    int depth, impure;
    weight weight; /* of its operands */
} call;

typedef struct finding {
    const krf_op *op;
    const uint8_t *letters;
    krf__cuts *cuts;
    const char *real;         /* the type of the body's floats */
    variable names[MOST_NAMES];
    call open[MOST_NESTED];   /* the first is the statement, or one of several declarations in it */
    int n_names, n_open, depth;
    int impure;               /* how many words so far may change something */
    variable *target;         /* what the statement assigns to; where that stands, and where what is assigned begins: */
    const char *target_start, *assigned;
    int assigned_impure;
    bool branches;            /* the body has conditions */
    bool works;               /* takes long enough for a block */
    const char *declared;     /* the type of a declaration */
    krf__c_token before, first_before; /* the two words before */
    const char *type_before;  /* the word before is a type, and begins a declaration */
} finding;

static void join(weight *into, weight other) {
    into->costly = other.stage > into->stage ? other.costly : into->costly || (other.costly && other.stage == into->stage);
    into->stage = other.stage > into->stage ? other.stage : into->stage;
}

static weight *here(finding *f) { return &f->open[f->n_open - 1].weight; }

static variable *find(finding *f, const char *name, size_t length) {
    for (int i = 0; i < f->n_names; i++) {
        if (f->names[i].length == length && memcmp(f->names[i].name, name, length) == 0) {
            return &f->names[i];
        }
    }
    if (f->n_names == MOST_NAMES) {
        return NULL;
    }
    f->names[f->n_names] = (variable){.name = name, .length = length};
    return &f->names[f->n_names++];
}

static variable *declare(finding *f, const char *name, size_t length, const char *type) {
    const int known = f->n_names;
    variable *v = find(f, name, length);
    if (v != NULL) {
        v->type = f->n_names > known || (v->type != NULL && strcmp(v->type, type) == 0) ? type : NULL;
    }
    return v;
}

static bool among(const char *signs, const krf__c_token *t) { return t->kind < KRF__C_END && strchr(signs, t->kind) != NULL; }
static bool is_real(const char *type) { return strcmp(type, "float") == 0 || strcmp(type, "double") == 0; }

static void add(finding *f, const char *start, const char *end, const char *type, int stage) {
    krf__cuts *cuts = f->cuts;
    if (cuts->n < KRF__MOST_CUTS) {
        cuts->list[cuts->n++] = (krf__cut){start, end, type, stage, NULL, 0, false};
    }
}

/* The statement, or the declaration of one variable in it, ends before t. */
static void end_statement(finding *f, const krf__c_token *t) {
    const krf__cut *last = f->cuts->n > 0 ? &f->cuts->list[f->cuts->n - 1] : NULL;
    const weight w = f->open[0].weight;
    if (f->target != NULL) {
        const bool is_call = last != NULL && last->start == f->assigned && last->end == f->before.start + f->before.length;
        if (f->assigned != NULL && f->assigned_impure == f->impure && f->works && f->target->type != NULL && !is_call) {
            add(f, f->assigned, t->start, f->target->type, w.stage);
        }
        join(&f->target->weight, w);
    }
    f->open[0].weight = (weight){0};
    f->target = NULL;
    f->assigned = NULL;
    f->works = false;
    f->declared = t->kind == ',' ? f->declared : NULL;
}

/* A word before a bracket. */
static bool begin_call(finding *f, const krf__c_token *t) {
    bool only_f32;
    const krf_op *called = krf__user_called(f->op, t);
    const krf__op function = called == NULL ? krf__body_function(t->start, t->length, &only_f32) : KRF__poison;
    const char *type = f->real;
    if (called != NULL) {
        const krf__variable *result = &called->variables[0];
        type = called->n_results > 1 ? NULL : result->letter != 0 ? f->real : krf__user_type(result->dtype);
        if (type != NULL && is_real(type) && strcmp(type, f->real) != 0) {
            return false;
        }
    } else if (function != KRF__poison && only_f32 && strcmp(f->real, "float") != 0) {
        return false;
    }
    f->works |= called != NULL || function != KRF__poison;
    if (called != NULL ? called->costly : krf__op_is_costly(function, KRF__KIND_REAL)) {
        if (f->n_open == MOST_NESTED) {
            return false;
        }
        f->open[f->n_open++] = (call){t->start, type, called, f->depth, f->impure, {0}};
    }
    return true;
}

/* A definition that is cut itself: its cuts are some of the caller's. Gives in which stage after the call's first the value is known. */
static int add_called(finding *f, const call *c, const char *end, int stage) {
    uint8_t letters[26];
    krf__cuts inner = {.n = 0};
    if (c->called != NULL && c->type != NULL && c->impure == f->impure) {
        memset(letters, strcmp(f->real, "float") == 0 ? KRF_F32 : KRF_F64, sizeof letters);
        krf__user_find_cuts(c->called, letters, &inner);
    }
    if (f->cuts->n + inner.n >= KRF__MOST_CUTS) {
        return 0;
    }
    for (int i = 0; i < inner.n; i++) {
        f->cuts->list[f->cuts->n++] = (krf__cut){c->start, end, inner.list[i].type, stage + inner.list[i].stage, c->called, i, false};
    }
    return inner.last;
}

static void end_call(finding *f, const krf__c_token *t) {
    const call done = f->open[--f->n_open];
    weight w = {done.weight.stage + (done.weight.costly ? 1 : 0), true};
    w.stage += add_called(f, &done, t->start + 1, w.stage);
    join(here(f), w);
    f->cuts->last = w.stage > f->cuts->last ? w.stage : f->cuts->last;
    if (done.type != NULL && done.impure == f->impure) {
        add(f, done.start, t->start + 1, done.type, w.stage);
    }
}

static bool take_name(finding *f, const krf__c_token *t, int next) {
    static const char *const refused[] = {"for", "while", "do", "goto", "static", "volatile", "asm"};
    f->branches |= krf__c_is(t, "if") || krf__c_is(t, "switch");
    const bool member = f->before.kind == '.' || (f->before.kind == '>' && f->first_before.kind == '-');
    const char *type = member ? NULL : krf__user_type_of(f->op, f->letters, t);
    type = krf__c_is(t, "int") ? "int" : krf__c_is(t, "float") ? "float" : krf__c_is(t, "double") ? "double" : type;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        if (krf__c_is(t, refused[i])) {
            return false;
        }
    }
    if (t->length > 1 && memcmp(t->start, "__", 2) == 0) {
        return false;
    }
    if (type != NULL) {
        const bool begins = among(";{}", &f->before) || krf__c_is(&f->before, "const");
        f->type_before = begins && f->depth == 0 ? type : NULL;
        return !is_real(type) || strcmp(type, f->real) == 0;
    }
    if (member) {
        return true;
    }
    if (next == '(') {
        return begin_call(f, t);
    }
    if (!krf__c_is_name(t->start, t->length)) {
        return true;
    }
    f->declared = f->type_before != NULL ? f->type_before : f->declared;
    const bool declares = f->depth == 0 && f->declared != NULL && (f->type_before != NULL || f->before.kind == ',');
    variable *v = declares ? declare(f, t->start, t->length, f->declared) : find(f, t->start, t->length);
    if (v == NULL) {
        return false;
    }
    if (f->depth == 0 && f->target == NULL && f->assigned == NULL) {
        f->target = v;
        f->target_start = t->start;
    } else {
        join(here(f), v->weight);
    }
    if (f->before.kind == '&') { /* for a result */
        join(&v->weight, (weight){here(f)->stage, true});
    }
    return true;
}

static bool take_number(const finding *f, const krf__c_token *t) {
    const char last = t->start[t->length - 1];
    const bool hexadecimal = t->length > 1 && (t->start[1] == 'x' || t->start[1] == 'X');
    const bool suffix = strchr("lLfF", last) != NULL && !hexadecimal;
    return !suffix || memchr(t->start, '.', t->length) == NULL || (strchr("fF", last) != NULL && strcmp(f->real, "float") == 0);
}

static bool take_sign(finding *f, const krf__c_token *t, const krf__c_token *next) {
    const int before = f->before.kind;
    switch (t->kind) {
    case '(':
    case '[': f->depth++; break;
    case ')':
    case ']':
        f->depth--;
        if (f->n_open > 1 && f->open[f->n_open - 1].depth == f->depth) {
            end_call(f, t);
        }
        break;
    case ';':
    case '{':
    case '}': end_statement(f, t); return f->depth == 0;
    case ',':
        if (f->depth == 0) {
            end_statement(f, t);
        }
        break;
    case '/':
    case '%': f->works = true; break;
    case '?': f->branches = true; break;
    case '|': f->branches |= before == '|'; break;
    case '&':
        f->branches |= before == '&';
        f->impure += before != '&' && next->kind != '&';
        break;
    case '+':
    case '-': f->impure += before == t->kind; break;
    case '=':
        if (next->kind != '=' && (!among("=<>!", &f->before) || (among("<>", &f->before) && f->first_before.kind == before))) {
            f->impure++;
            if (f->depth == 0 && f->target != NULL && f->assigned == NULL && f->before.start == f->target_start) {
                f->assigned = next->start;
                f->assigned_impure = f->impure;
            }
        }
        break;
    default: break;
    }
    return true;
}

static bool look(finding *f) {
    krf__c_lexer lexer = {f->op->body, 1};
    bool cuts = true;
    for (krf__c_token t = krf__c_word(&lexer); cuts && t.kind != KRF__C_END; t = krf__c_word(&lexer)) {
        krf__c_lexer ahead = lexer;
        const krf__c_token next = krf__c_word(&ahead);
        const char *type_before = f->type_before;
        if (t.kind == KRF__C_NAME) {
            cuts = take_name(f, &t, next.kind);
        } else if (t.kind == KRF__C_NUMBER) {
            cuts = take_number(f, &t);
        } else {
            cuts = take_sign(f, &t, &next);
        }
        f->type_before = f->type_before == type_before ? NULL : f->type_before;
        f->first_before = f->before;
        f->before = t;
    }
    return cuts;
}

/* Of those found, the ones that are handed on; and in a body with conditions what may come before these. */
static void keep(finding *f, bool found) {
    krf__cuts *cuts = f->cuts;
    krf__cut ahead[KRF__MOST_CUTS];
    int n = 0, n_ahead = 0, bound = 0;
    for (int i = 0; i < cuts->n && found; i++) {
        krf__cut c = cuts->list[i];
        c.free = f->branches && c.called == NULL && is_real(c.type) && krf__user_is_free(f->op, f->letters, c.start, c.end, f->real);
        if (c.stage < cuts->last) {
            bound += !c.free;
            cuts->list[n++] = c;
        } else if (c.free && c.stage == cuts->last) {
            ahead[n_ahead++] = c;
        }
    }
    cuts->n = f->branches && bound > MOST_OF_BRANCHES ? 0 : n;
    cuts->last = cuts->n > 0 ? cuts->last : 0;
    cuts->n_ahead = cuts->n > 0 ? n_ahead : 0;
    memcpy(cuts->list + n, ahead, (size_t)cuts->n_ahead * sizeof *ahead);
}

void krf__user_find_cuts(const krf_op *op, const uint8_t letters[26], krf__cuts *cuts) {
    finding f = {.op = op, .letters = letters, .cuts = cuts, .n_open = 1, .before = {.kind = ';'}, .first_before = {.kind = ';'}};
    *cuts = (krf__cuts){0};
    f.real = krf__user_is_narrow(op, letters) ? "float" : "double";
    bool found = op->costly;
    for (int i = 0; i < op->n_parameters + op->n_results; i++) {
        const krf__variable *v = i < op->n_parameters ? &op->parameters[i] : &op->variables[i - op->n_parameters];
        const char *type = krf__user_type((int)krf__variable_dtype(v, letters));
        declare(&f, v->name, strlen(v->name), type);
        found &= !is_real(type) || strcmp(type, f.real) == 0;
    }
    found = found && look(&f);
    keep(&f, found);
}

void krf__user_cuts_of(const krf__emitter *e, uint32_t instr, krf__cuts *cuts) {
    const krf__instr *i = &e->k->instrs[instr];
    *cuts = (krf__cuts){.n = 0};
    if (krf__user_in_c(e) && instr < e->k->n_domain && (i->op == KRF__call || i->op == KRF__fold_map)) {
        const krf_op *op = krf__result_of(i->value)->op;
        uint8_t letters[26];
        krf__user_letters(e->k, i, letters);
        krf__user_find_cuts(i->op == KRF__call ? op : op->map, letters, cuts);
    }
}

void krf__user_put_known(const krf__cuts *cuts, int piece, uint32_t instr, krf__str *out) {
    for (int i = 0; i < cuts->n; i++) {
        if (piece == cuts->n || cuts->list[i].stage < cuts->list[piece].stage) {
            krf__str_printf(out, ", b%u_%d[k]", instr, i);
        }
    }
}
