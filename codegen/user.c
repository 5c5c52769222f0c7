/* What users define, as functions of a kernel's text. A definition is printed once for each set of dtypes that its letters stand for. Around a body stand macros for
 * the functions that it calls: these pick by the type of the operands, so that f32 stays f32; and lines of the body keep their numbers. */
#include "codegen/user.h"

#include "base/hash.h"

#include <string.h>

/* ---- definitions ---- */

void krf__user_put_instance_name(const krf_op *op, const uint8_t letters[26], krf__str *out) {
    char hex[33];
    krf__hash_hex(krf__hash_128(op->text, op->text_bytes), hex);
    krf__str_printf(out, "%s_%.8s", op->name, hex);
    for (int i = 0; i < op->n_parameters; i++) {
        krf__str_printf(out, "_%s", krf_dtype_name(krf__variable_dtype(&op->parameters[i], letters)));
    }
}

static bool has_letters(const krf_op *op) {
    bool any = false;
    for (int i = 0; i < op->n_parameters; i++) {
        any |= op->parameters[i].letter != 0;
    }
    return any;
}

static void put_called_name(const krf_op *op, krf_dtype dtype, krf__str *out) {
    uint8_t letters[26];
    memset(letters, (int)dtype, sizeof letters);
    krf__user_put_instance_name(op, letters, out);
}

/* CUDA: a template over the operands of letters, which all are of the type of their sum. */
static void put_op_template(krf__user_printing *p, const krf_op *op) {
    krf__str name = {0};
    krf__str_put(&name, "any_");
    put_called_name(op, KRF_F64, &name);
    if (name.failed || !krf__user_begin(p, name.data, name.length)) {
        p->out->failed |= name.failed;
        krf__str_free(&name);
        return;
    }
    krf__user_put_traits(p);
    for (int narrow = 0; narrow < 2; narrow++) { /* both under one name, told apart by the first parameter */
        krf__str_printf(p->out, "template <class... T> %s auto %s(%s, T... a) { return ", krf__user_inlined(p->e), name.data, narrow ? "float" : "double");
        put_called_name(op, narrow ? KRF_F32 : KRF_F64, p->out);
        krf__str_put(p->out, "(a...); }\n");
    }
    krf__str_free(&name);
}

/* polar(x, y) or, of several results, polar(x, y, &r, &phi). */
static void put_op_macro(const krf__user_printing *p, const krf_op *op, bool narrow) {
    const int places = op->n_parameters + (op->n_results > 1 ? op->n_results : 0);
    krf__str *out = p->out;
    krf__str_printf(out, "#define %s(", op->name);
    krf__user_put_list(out, "A", 0, places, ", ");
    if (!has_letters(op)) {
        krf__str_put(out, ") ");
        put_called_name(op, KRF_F64, out);
        krf__str_char(out, '(');
        krf__user_put_list(out, "A", 0, places, ", ");
        krf__str_put(out, ")\n");
        return;
    }
    krf__str sum = {0};
    for (int i = 0; i < op->n_parameters; i++) {
        if (op->parameters[i].letter != 0) {
            krf__str_printf(&sum, "%s%s%d", sum.length > 0 ? " + " : "", krf__user_in_c(p->e) ? "krf_a" : "(A", i);
            krf__str_put(&sum, krf__user_in_c(p->e) ? "" : ")");
        }
    }
    if (krf__user_in_c(p->e)) {
        krf__str_put(out, ") (__extension__ ({ ");
        krf__user_put_copies(out, op->n_parameters);
        krf__str_printf(out, "_Generic(%s + 0, float: ", sum.data != NULL ? sum.data : "");
        put_called_name(op, KRF_F32, out);
        krf__str_put(out, ", double: ");
        put_called_name(op, KRF_F64, out);
        krf__str_put(out, ", default: ");
        put_called_name(op, narrow ? KRF_F32 : KRF_F64, out);
        krf__str_put(out, ")(");
        krf__user_put_list(out, "krf_a", 0, op->n_parameters, ", ");
        for (int k = op->n_parameters; k < places; k++) {
            krf__str_printf(out, ", A%d", k);
        }
        krf__str_put(out, "); }))\n");
    } else {
        krf__str_put(out, ") any_");
        put_called_name(op, KRF_F64, out);
        krf__str_printf(out, "((op_real<%s, decltype(%s + 0)>::type)0, ", narrow ? "float" : "double", sum.data != NULL ? sum.data : "");
        krf__user_put_list(out, "A", 0, places, ", ");
        krf__str_put(out, ")\n");
    }
    out->failed |= sum.failed;
    krf__str_free(&sum);
}

static const krf_op *called_op(const krf_op *op, const krf__c_token *name) {
    for (int i = 0; i < op->n_calls; i++) {
        if (krf__c_is(name, op->calls[i]->name)) {
            return op->calls[i];
        }
    }
    return NULL;
}

/* Goes on to the next call in a body: a name before '('. */
static bool next_call(krf__c_lexer *lexer, krf__c_token *name) {
    int before = ';';
    for (krf__c_token t = krf__c_word(lexer); t.kind != KRF__C_END; t = krf__c_word(lexer)) {
        krf__c_lexer ahead = *lexer;
        if (t.kind == KRF__C_NAME && before != '.' && krf__c_word(&ahead).kind == '(') {
            *name = t;
            return true;
        }
        before = t.kind == '>' && before == '-' ? '.' : t.kind;
    }
    return false;
}

static bool mentions(const krf_op *op, const char *word, bool before_semicolon) {
    krf__c_lexer lexer = {op->body, 1};
    for (krf__c_token t = krf__c_word(&lexer); t.kind != KRF__C_END; t = krf__c_word(&lexer)) {
        krf__c_lexer ahead = lexer;
        if (krf__c_is(&t, word) && (!before_semicolon || krf__c_word(&ahead).kind == ';')) {
            return true;
        }
    }
    return false;
}

/* Whether all floats of the signature are f32 or less: numbers without a suffix are then, too. */
static bool is_narrow(const krf_op *op, const uint8_t letters[26]) {
    bool any = false, wide = false;
    for (int i = 0; i < op->n_parameters + op->n_results; i++) {
        const krf__variable *v = i < op->n_parameters ? &op->parameters[i] : &op->variables[i - op->n_parameters];
        const krf_dtype dtype = krf__variable_dtype(v, letters);
        any |= krf__is_real(dtype);
        wide |= dtype == KRF_F64;
    }
    return any && !wide;
}

/* The C type that a word of a body stands for; NULL: none. */
static const char *type_of(const krf_op *op, const uint8_t letters[26], const krf__c_token *t) {
    char text[16];
    krf_dtype dtype;
    for (int i = 0; i < op->n_parameters && t->length == 1; i++) {
        if (op->parameters[i].letter == *t->start) {
            return krf__c_type(letters[*t->start - 'A']);
        }
    }
    if (t->length >= sizeof text) {
        return NULL;
    }
    memcpy(text, t->start, t->length);
    text[t->length] = '\0';
    return krf_dtype_from_name(text, &dtype) && !krf__is_complex(dtype) ? krf__c_type((int)dtype) : NULL;
}

static void put_number(const krf__user_printing *p, const char *text, bool narrow) { krf__str_printf(p->out, narrow ? "%sf" : "%s", text); }

static bool put_constant(const krf__user_printing *p, const krf__c_token *t, bool narrow) {
    static const struct {
        const char *name, *text;
    } known[] = {{"M_PI", "3.141592653589793"}, {"M_E", "2.718281828459045"}, {"M_LN2", "0.6931471805599453"}, {"M_SQRT2", "1.4142135623730951"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (krf__c_is(t, known[i].name)) {
            put_number(p, known[i].text, narrow);
            return true;
        }
    }
    const bool infinity = krf__c_is(t, "INFINITY");
    if (infinity || krf__c_is(t, "NAN")) {
        const krf__target *target = p->e->target;
        krf__str_put(p->out, infinity ? (narrow ? target->infinity_f32 : target->infinity_f64) : narrow ? target->nan_f32 : target->nan_f64);
        return true;
    }
    return false;
}

/* The body for the target: letters and dtypes become C types (f64(x) a conversion), numbers get their suffix, `return;` leaves for the end of the function. */
static void put_body(const krf__user_printing *p, const krf_op *op, const uint8_t letters[26]) {
    const bool narrow = is_narrow(op, letters);
    krf__c_lexer lexer = {op->body, 1};
    int before = ';';
    bool wide = false; /* a number here is in f64(...) or behind (double) */
    for (krf__c_token t = krf__c_lex(&lexer); t.kind != KRF__C_END; t = krf__c_lex(&lexer)) {
        krf__c_lexer ahead = lexer;
        const int next = krf__c_word(&ahead).kind;
        const char *type = t.kind == KRF__C_NAME && before != '.' ? type_of(op, letters, &t) : NULL;
        if (type != NULL) {
            krf__str_printf(p->out, next == '(' ? "(%s)" : "%s", type);
        } else if (t.kind == KRF__C_NUMBER && krf__c_is_real(&t)) {
            krf__str_putn(p->out, t.start, t.length);
            krf__str_put(p->out, narrow && !wide ? "f" : "");
        } else if (krf__c_is(&t, "return") && next == ';') {
            krf__str_put(p->out, "goto krf_done");
        } else if (t.kind != KRF__C_NAME || !put_constant(p, &t, narrow)) {
            krf__str_putn(p->out, t.start, t.length);
        }
        if (t.kind != KRF__C_SPACE) {
            const bool is_double = (type != NULL && strcmp(type, "double") == 0) || krf__c_is(&t, "double");
            wide = is_double || (wide && (t.kind == '(' || t.kind == ')' || t.kind == '-'));
            before = t.kind == '>' && before == '-' ? '.' : t.kind;
        }
    }
}

/* What the body calls, before it. */
static void put_called(krf__user_printing *p, const krf_op *op) {
    krf__c_lexer lexer = {op->body, 1};
    krf__c_token name;
    while (next_call(&lexer, &name)) {
        const krf_op *called = called_op(op, &name);
        bool only_f32;
        const krf__op known = krf__body_function(name.start, name.length, &only_f32);
        for (int wide = 0; called != NULL && wide < (has_letters(called) ? 2 : 1); wide++) {
            uint8_t letters[26];
            memset(letters, wide != 0 ? KRF_F64 : KRF_F32, sizeof letters);
            krf__user_put_instance(p, called, letters);
        }
        if (called != NULL && has_letters(called) && !krf__user_in_c(p->e)) {
            put_op_template(p, called);
        } else if (called == NULL && known != KRF__poison) {
            krf__user_put_library(p, known);
        }
    }
}

static void put_macros(const krf__user_printing *p, const krf_op *op, bool narrow, bool define) {
    krf__c_lexer lexer = {op->body, 1};
    krf__c_token name;
    krf__map seen = {0};
    while (next_call(&lexer, &name)) {
        const krf_op *called = called_op(op, &name);
        bool only_f32;
        const krf__op known = krf__body_function(name.start, name.length, &only_f32);
        if ((called == NULL && known == KRF__poison) || krf__map_get(&seen, name.start, name.length) != NULL) {
            continue;
        }
        p->out->failed |= !krf__map_put(&seen, name.start, name.length, &seen);
        if (!define) {
            krf__str_printf(p->out, "#undef %.*s\n", (int)name.length, name.start);
        } else if (called != NULL) {
            put_op_macro(p, called, narrow);
        } else {
            krf__user_put_library_macro(p, &name, known, only_f32, narrow);
        }
    }
    krf__map_free(&seen, NULL);
}

static void put_signature(const krf__user_printing *p, const krf_op *op, const uint8_t letters[26], const char *name) {
    const bool several = op->n_results > 1;
    krf__str_printf(p->out, "%s %s %s(", krf__user_inlined(p->e), several ? "void" : krf__c_type((int)krf__variable_dtype(&op->variables[0], letters)), name);
    for (int i = 0; i < op->n_parameters; i++) {
        krf__str_printf(p->out, "%s%s %s", i > 0 ? ", " : "", krf__c_type((int)krf__variable_dtype(&op->parameters[i], letters)), op->parameters[i].name);
    }
    for (int r = 0; several && r < op->n_results; r++) {
        krf__str_printf(p->out, ", %s *krf_r%d", krf__c_type((int)krf__variable_dtype(&op->variables[r], letters)), r);
    }
    krf__str_put(p->out, ") {\n");
}

void krf__user_put_instance(krf__user_printing *p, const krf_op *op, const uint8_t letters[26]) {
    krf__str name = {0};
    krf__user_put_instance_name(op, letters, &name);
    if (!name.failed && krf__user_begin(p, name.data, name.length)) {
        const bool narrow = is_narrow(op, letters), leaves = mentions(op, "return", true);
        put_called(p, op);
        put_macros(p, op, narrow, true);
        put_signature(p, op, letters, name.data);
        for (int r = 0; r < op->n_results; r++) {
            krf__str_printf(p->out, "    %s %s = 0;\n", krf__c_type((int)krf__variable_dtype(&op->variables[r], letters)), op->variables[r].name);
        }
        krf__str_printf(p->out, "%s#line 1 \"%s\"\n", leaves ? "    {\n" : "", op->name);
        put_body(p, op, letters);
        krf__str_printf(p->out, "\n#line 1 \"kernel\"\n%s", leaves ? "    }\nkrf_done:;\n" : "");
        for (int r = 0; r < op->n_results && op->n_results > 1; r++) {
            krf__str_printf(p->out, "    *krf_r%d = %s;\n", r, op->variables[r].name);
        }
        krf__str_put(p->out, "    ");
        if (op->n_results == 1) {
            krf__str_printf(p->out, "return %s;", op->variables[0].name);
        }
        krf__str_put(p->out, "\n}\n");
        put_macros(p, op, narrow, false);
    }
    p->out->failed |= name.failed;
    krf__str_free(&name);
}

/* ---- calls ---- */

int krf__user_operands(const krf__kernel *k, const krf__instr *call, uint32_t operands[KRF__MOST_DEFINED]) {
    const int n = krf__result_of(call->value)->op->n_parameters;
    uint32_t at = call->args[0];
    for (int i = n - 1; i > 0; i--) {
        operands[i] = k->instrs[at].args[1];
        at = k->instrs[at].args[0];
    }
    operands[0] = at;
    return n;
}

void krf__user_letters(const krf__kernel *k, const krf__instr *call, uint8_t letters[26]) {
    uint32_t operands[KRF__MOST_DEFINED];
    uint8_t types[KRF__MOST_DEFINED];
    const int n = krf__user_operands(k, call, operands);
    for (int i = 0; i < n; i++) {
        types[i] = k->instrs[operands[i]].dtype;
    }
    krf__op_letters(krf__result_of(call->value)->op, types, letters);
}

static void put_of_round(krf__user_printing *p) {
    const krf__kernel *k = p->e->k;
    for (uint32_t i = 0; i < k->n_instrs; i++) {
        if (k->instrs[i].op == KRF__call) {
            uint8_t letters[26];
            krf__user_letters(k, &k->instrs[i], letters);
            krf__user_put_instance(p, krf__result_of(k->instrs[i].value)->op, letters);
        }
    }
}

void krf__emit_user_functions(krf__emitter *e, krf__str *out) {
    krf__user_printing p = {.e = e, .out = out};
    if (e->kernel->n_ops == 0) {
        return;
    }
    const krf__kernel *whole = e->k;
    for (uint32_t r = 0; r < (whole->n_rounds > 0 ? whole->n_rounds : 1); r++) {
        const krf__kernel round = whole->n_rounds > 0 ? krf__kernel_round(whole, r) : *whole;
        e->k = &round;
        put_of_round(&p);
        krf__user_put_folds(&p);
    }
    e->k = whole;
    krf__map_free(&p.done, NULL);
}

/* The first instruction of the part, and of its stage, that makes the same call: all its results are there. */
static uint32_t first_of(const krf__emitter *e, uint32_t instr) {
    const krf__kernel *k = e->k;
    const krf__instr *call = &k->instrs[instr];
    const bool domain = instr < k->n_domain, in_round = domain && k != e->kernel;
    for (uint32_t i = domain ? 0 : k->n_domain; i < instr; i++) {
        const krf__instr *other = &k->instrs[i];
        const bool printed = !domain || (e->stage_of[i] == e->stage_of[instr] && (!in_round || e->target == &krf__target_c || (e->needed[i] && i != e->replaced)));
        if (other->op == KRF__call && other->args[0] == call->args[0] && printed && krf__result_of(other->value)->op == krf__result_of(call->value)->op) {
            return i;
        }
    }
    return instr;
}

static void put_call(const krf__emitter *e, const krf__instr *call, krf__str *out) {
    uint32_t operands[KRF__MOST_DEFINED];
    uint8_t letters[26];
    const int n = krf__user_operands(e->k, call, operands);
    krf__user_letters(e->k, call, letters);
    krf__user_put_instance_name(krf__result_of(call->value)->op, letters, out);
    for (int i = 0; i < n; i++) {
        krf__str_put(out, i == 0 ? "(" : ", ");
        krf__emit_value(e, operands[i], out);
    }
}

void krf__emit_call_before(const krf__emitter *e, uint32_t instr, krf__str *out) {
    const krf__instr *call = &e->k->instrs[instr];
    const krf_op *op = krf__result_of(call->value)->op;
    uint8_t letters[26];
    if (op->n_results == 1 || first_of(e, instr) != instr) {
        return;
    }
    krf__user_letters(e->k, call, letters);
    for (int r = 0; r < op->n_results; r++) {
        krf__str_printf(out, "%s c%u_%d; ", krf__c_type((int)krf__variable_dtype(&op->variables[r], letters)), instr, r);
    }
    put_call(e, call, out);
    for (int r = 0; r < op->n_results; r++) {
        krf__str_printf(out, ", &c%u_%d", instr, r);
    }
    krf__str_put(out, "); ");
}

void krf__emit_call(const krf__emitter *e, uint32_t instr, krf__str *out) {
    const krf__instr *call = &e->k->instrs[instr];
    const krf__result *result = krf__result_of(call->value);
    if (result->op->n_results > 1) {
        krf__str_printf(out, "c%u_%d", first_of(e, instr), result->index);
    } else {
        put_call(e, call, out);
        krf__str_char(out, ')');
    }
}

static bool among_operands(const krf__kernel *k, uint32_t chain, uint32_t value, int depth) {
    if (k->instrs[chain].op != KRF__bind || depth == 0) {
        return chain == value;
    }
    return k->instrs[chain].args[1] == value || among_operands(k, k->instrs[chain].args[0], value, depth - 1);
}

bool krf__instr_uses(const krf__kernel *k, uint32_t user, uint32_t value) {
    const krf__instr *i = &k->instrs[user];
    const int arity = krf__op_info_of((krf__op)i->op)->arity;
    bool used = false;
    if (i->op == KRF__bind) {
        return false; /* its call does */
    }
    for (int a = 0; a < arity && !used; a++) {
        used = among_operands(k, i->args[a], value, KRF__MOST_DEFINED);
    }
    return used;
}
