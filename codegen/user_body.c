/* What users define, as functions of a kernel's text. A definition is printed once for each set of dtypes that its letters stand for. Around a body stand macros for
 * the functions that it calls: these pick by the type of the operands, so that f32 stays f32; and lines of the body keep their numbers. */
#include "codegen/user.h"

#include "base/hash.h"
#include "ir/body_function.h"

#include <string.h>

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

/* What letters of a called definition stand for where the caller hands its own dtype on: then no operand's type decides. */
static void handed_letters(const krf_op *caller, const uint8_t letters[26], uint8_t handed[26]) { memset(handed, (int)krf__variable_dtype(&caller->parameters[0], letters), 26); }

/* polar(x, y) or, of several results, polar(x, y, &r, &phi). handed: NULL, or what letters stand for. */
static void put_op_macro(const krf__user_printing *p, const krf_op *op, bool narrow, const uint8_t *handed) {
    const int places = op->n_parameters + (op->n_results > 1 ? op->n_results : 0);
    krf__str *out = p->out;
    krf__str_printf(out, "#define %s(", op->name);
    krf__user_put_list(out, "A", 0, places, ", ");
    if (!has_letters(op) || handed != NULL) {
        uint8_t any[26] = {0};
        krf__str_put(out, ") ");
        krf__user_put_instance_name(op, handed != NULL ? handed : any, out);
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

/* The body up to where the value of a cut is known, which it returns, or to its end; values from before its stage are parameters. */
typedef struct part {
    const krf__cuts *cuts;
    const krf__cut *returned; /* NULL: to the end */
    int stage;
    const krf__cut *alone;    /* NULL, or: its text is all of the body that counts */
} part;

/* Whether the piece has the value of a cut: it is a parameter, or a variable before the body. */
static bool has(const part *piece, int cut) {
    const bool ahead = cut >= piece->cuts->n && piece->returned == NULL && piece->alone == NULL;
    return ahead || piece->cuts->list[cut].stage < piece->stage;
}

/* What stands for the text that begins at t: a value from before the piece's stage; NULL: nothing. */
static const krf__cut *known_from(const part *piece, const krf__c_token *t) {
    const krf__cut *longest = NULL;
    for (int i = 0; i < piece->cuts->n + piece->cuts->n_ahead; i++) {
        const krf__cut *c = &piece->cuts->list[i];
        if (c->start == t->start && t->kind != KRF__C_SPACE && c->called == NULL && has(piece, i) && (longest == NULL || c->end > longest->end)) {
            longest = c;
        }
    }
    return longest;
}

static void put_known(const part *piece, const krf__cut *c, krf__str *out) {
    krf__str_printf(out, "krf_c%d", (int)(c - piece->cuts->list));
    for (const char *at = c->start; at < c->end; at++) {
        krf__str_put(out, *at == '\n' ? "\n" : "");
    }
}

void krf__user_put_piece_name(const krf_op *op, const uint8_t letters[26], const krf__cuts *cuts, int piece, krf__str *out) {
    krf__user_put_instance_name(op, letters, out);
    if (cuts->n > 0) {
        krf__str_put(out, "_c");
        krf__str_i64(out, piece);
    }
}

static void put_piece_called(const krf_op *called, bool narrow, int number, krf__str *out) {
    uint8_t letters[26];
    memset(letters, narrow ? KRF_F32 : KRF_F64, sizeof letters);
    krf__user_put_piece_name(called, letters, &(krf__cuts){.n = 1}, number, out);
}

/* Whether t begins a call of a definition that is cut itself, and the piece of it that stands there: the one that is returned, or the last where all that this one takes is known;
 * then c is a cut of the call's. */
static bool calls_piece(const part *piece, const krf__c_token *t, const krf__cut **c, int *number) {
    int n = 0;
    bool known = true;
    for (int i = 0; i < piece->cuts->n; i++) {
        const krf__cut *one = &piece->cuts->list[i];
        if (one->called != NULL && one->start == t->start && t->kind != KRF__C_SPACE) {
            known &= one->stage < piece->stage;
            *c = one;
            n++;
        }
    }
    const bool returned = piece->returned != NULL && piece->returned->called != NULL && piece->returned->start == t->start;
    *number = returned && n > 0 ? piece->returned->piece : n;
    return n > 0 && (known || returned);
}

/* Before the bracket that ends such a call: what its piece takes of earlier stages. */
static void put_known_of(const part *piece, const bool *opened, const krf__c_token *t, krf__str *out) {
    for (int i = 0; i < piece->cuts->n; i++) {
        const krf__cut *c = &piece->cuts->list[i];
        if (c->called != NULL && opened[i] && t->start == c->end - 1 && c->stage < piece->stage) {
            krf__str_printf(out, ", krf_c%d", i);
        }
    }
}

/* The body for the target: letters and dtypes become C types (f64(x) a conversion), numbers get their suffix, `return;` leaves for the end of the function. */
static void put_body(const krf__user_printing *p, const krf_op *op, const uint8_t letters[26], const part *piece) {
    const bool narrow = krf__user_is_narrow(op, letters);
    const krf__cut *returned = piece->alone == NULL ? piece->returned : NULL;
    krf__c_lexer lexer = {piece->alone != NULL ? piece->alone->start : op->body, 1};
    int before = ';';
    bool wide = false; /* a number here is in f64(...) or behind (double) */
    bool opened[KRF__MOST_CUTS] = {false};
    for (krf__c_token t = krf__c_lex(&lexer);; t = krf__c_lex(&lexer)) {
        if (returned != NULL && t.start == returned->end) {
            krf__str_printf(p->out, "; (%s)0; }))", returned->type);
        }
        if (returned != NULL && t.start == returned->start) {
            krf__str_put(p->out, "(__extension__ ({ return ");
        }
        if (t.kind == KRF__C_END || (piece->alone != NULL && t.start >= piece->alone->end)) {
            return;
        }
        const krf__cut *known = known_from(piece, &t);
        if (known != NULL) {
            put_known(piece, known, p->out);
            lexer.at = known->end;
            before = ')';
            continue;
        }
        krf__c_lexer ahead = lexer;
        const int next = krf__c_word(&ahead).kind;
        const char *type = t.kind == KRF__C_NAME && before != '.' ? krf__user_type_of(op, letters, &t) : NULL;
        const krf__cut *called = NULL;
        int number;
        put_known_of(piece, opened, &t, p->out);
        if (calls_piece(piece, &t, &called, &number)) {
            put_piece_called(called->called, narrow, number, p->out);
            for (int i = 0; i < piece->cuts->n; i++) {
                opened[i] |= piece->cuts->list[i].start == t.start;
            }
        } else if (type != NULL) {
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
static void put_called(krf__user_printing *p, const krf_op *op, const uint8_t own[26], bool in_pieces) {
    krf__c_lexer lexer = {op->body, 1};
    krf__c_token name;
    while (krf__user_next_call(&lexer, &name)) {
        const krf_op *called = krf__user_called(op, &name);
        bool only_f32;
        const krf__op known = krf__body_function(name.start, name.length, &only_f32);
        if (called != NULL && op->hands_on) { /* a combine, which is one stage */
            uint8_t handed[26];
            handed_letters(op, own, handed);
            krf__user_put_instance(p, called, handed, &(krf__cuts){.n = 0});
            continue;
        }
        for (int wide = 0; called != NULL && wide < (has_letters(called) ? 2 : 1); wide++) {
            uint8_t letters[26];
            memset(letters, wide != 0 ? KRF_F64 : KRF_F32, sizeof letters);
            krf__cuts cuts = {.n = 0};
            krf__user_put_instance(p, called, letters, &cuts);
            if (in_pieces) {
                krf__user_find_cuts(called, letters, &cuts);
                krf__user_put_instance(p, called, letters, &cuts);
            }
        }
        if (called != NULL && has_letters(called) && !krf__user_in_c(p->e)) {
            put_op_template(p, called);
        } else if (called == NULL && known != KRF__poison) {
            krf__user_put_library(p, known);
        }
    }
}

static void put_macros(const krf__user_printing *p, const krf_op *op, const uint8_t letters[26], bool define) {
    const bool narrow = krf__user_is_narrow(op, letters);
    uint8_t handed[26];
    krf__c_lexer lexer = {op->body, 1};
    krf__c_token name;
    krf__map seen = {0};
    while (krf__user_next_call(&lexer, &name)) {
        const krf_op *called = krf__user_called(op, &name);
        bool only_f32;
        const krf__op known = krf__body_function(name.start, name.length, &only_f32);
        if ((called == NULL && known == KRF__poison) || krf__map_get(&seen, name.start, name.length) != NULL) {
            continue;
        }
        p->out->failed |= !krf__map_put(&seen, name.start, name.length, &seen);
        if (!define) {
            krf__str_printf(p->out, "#undef %.*s\n", (int)name.length, name.start);
        } else if (called != NULL) {
            handed_letters(op, letters, handed);
            put_op_macro(p, called, narrow, op->hands_on ? handed : NULL);
        } else {
            krf__user_put_library_macro(p, &name, known, only_f32, narrow);
        }
    }
    krf__map_free(&seen, NULL);
}

static void put_signature(const krf__user_printing *p, const krf_op *op, const uint8_t letters[26], const part *piece, int number) {
    const krf__cut *returned = piece->returned;
    const bool several = op->n_results > 1 && returned == NULL;
    const char *type = returned != NULL ? returned->type : several ? "void" : krf__user_type((int)krf__variable_dtype(&op->variables[0], letters));
    krf__str_printf(p->out, "%s %s ", krf__user_inlined(p->e), type);
    krf__user_put_piece_name(op, letters, piece->cuts, number, p->out);
    krf__str_char(p->out, '(');
    for (int i = 0; i < op->n_parameters; i++) {
        krf__str_printf(p->out, "%s%s %s", i > 0 ? ", " : "", krf__user_type((int)krf__variable_dtype(&op->parameters[i], letters)), op->parameters[i].name);
    }
    for (int i = 0; i < piece->cuts->n; i++) {
        if (piece->cuts->list[i].stage < piece->stage) {
            krf__str_printf(p->out, ", %s krf_c%d", piece->cuts->list[i].type, i);
        }
    }
    for (int r = 0; several && r < op->n_results; r++) {
        krf__str_printf(p->out, ", %s *krf_r%d", krf__user_type((int)krf__variable_dtype(&op->variables[r], letters)), r);
    }
    krf__str_put(p->out, ") {\n");
}

/* A cut that is free, without the conditions around it: compilers would take those for part of it. */
static void put_alone(const krf__user_printing *p, const krf_op *op, const uint8_t letters[26], const part *piece, const krf__cut *cut, const char *before) {
    krf__str_put(p->out, before);
    put_body(p, op, letters, &(part){piece->cuts, piece->returned, piece->stage, cut});
    krf__str_put(p->out, ";\n");
}

static void put_ahead(const krf__user_printing *p, const krf_op *op, const uint8_t letters[26], const part *piece) {
    for (int i = piece->cuts->n; i < piece->cuts->n + piece->cuts->n_ahead; i++) {
        krf__str_printf(p->out, "    const %s krf_c%d", piece->cuts->list[i].type, i);
        put_alone(p, op, letters, piece, &piece->cuts->list[i], " = ");
    }
}

static void put_function(const krf__user_printing *p, const krf_op *op, const uint8_t letters[26], const part *piece, int number) {
    const bool leaves = krf__user_mentions(op, "return", true), cut = piece->returned != NULL;
    put_signature(p, op, letters, piece, number);
    if (cut && piece->returned->free) {
        put_alone(p, op, letters, piece, piece->returned, "    return ");
        krf__str_put(p->out, "}\n");
        return;
    }
    if (!cut) {
        put_ahead(p, op, letters, piece);
    }
    for (int r = 0; r < op->n_results; r++) {
        krf__str_printf(p->out, "    %s %s = 0;\n", krf__user_type((int)krf__variable_dtype(&op->variables[r], letters)), op->variables[r].name);
    }
    krf__str_printf(p->out, "%s#line 1 \"%s\"\n", leaves ? "    {\n" : "", op->name);
    put_body(p, op, letters, piece);
    krf__str_printf(p->out, "\n#line 1 \"kernel\"\n%s", leaves ? "    }\nkrf_done:;\n" : "");
    for (int r = 0; r < op->n_results && op->n_results > 1 && !cut; r++) {
        krf__str_printf(p->out, "    *krf_r%d = %s;\n", r, op->variables[r].name);
    }
    krf__str_put(p->out, "    ");
    if (cut) {
        krf__str_put(p->out, "return 0;");
    } else if (op->n_results == 1) {
        krf__str_printf(p->out, "return %s;", op->variables[0].name);
    }
    krf__str_put(p->out, "\n}\n");
}

void krf__user_put_instance(krf__user_printing *p, const krf_op *op, const uint8_t letters[26], const krf__cuts *cuts) {
    krf__str name = {0};
    krf__user_put_piece_name(op, letters, cuts, 0, &name);
    if (!name.failed && krf__user_begin(p, name.data, name.length)) {
        put_called(p, op, letters, cuts->n > 0);
        put_macros(p, op, letters, true);
        for (int i = 0; i <= cuts->n; i++) {
            put_function(p, op, letters, &(part){cuts, i < cuts->n ? &cuts->list[i] : NULL, i < cuts->n ? cuts->list[i].stage : cuts->last, NULL}, i);
        }
        put_macros(p, op, letters, false);
    }
    p->out->failed |= name.failed;
    krf__str_free(&name);
}
