/* What a body may compute before its conditions: text that means the same wherever in the body it stands, of parameters that nothing assigns to. */
#include "codegen/user.h"
#include "ir/body_function.h"

#include <string.h>

static bool is_sign(const krf__c_token *t, const char *signs) { return t->kind < KRF__C_END && strchr(signs, t->kind) != NULL; }

/* Also where its address is taken, or where another variable of its name may begin: what looks like an assignment counts as one. */
static bool assigned(const krf_op *op, const krf__c_token *name) {
    krf__c_lexer lexer = {op->body, 1};
    krf__c_token before = {.kind = ';'}, first_before = {.kind = ';'};
    for (krf__c_token t = krf__c_word(&lexer); t.kind != KRF__C_END; t = krf__c_word(&lexer)) {
        krf__c_lexer ahead = lexer;
        const krf__c_token next = krf__c_word(&ahead), second = krf__c_word(&ahead), third = krf__c_word(&ahead);
        const bool same = t.kind == KRF__C_NAME && t.length == name->length && memcmp(t.start, name->start, t.length) == 0;
        const bool equals = (next.kind == '=' && second.kind != '=') || (is_sign(&next, "+-*/%&|^") && second.kind == '=') || (is_sign(&next, "<>") && second.kind == next.kind && third.kind == '=');
        const bool steps = (is_sign(&next, "+-") && second.kind == next.kind) || (is_sign(&before, "+-") && first_before.kind == before.kind);
        if (same && (equals || steps || before.kind == '&' || before.kind == KRF__C_NAME || next.kind == '[')) {
            return true;
        }
        first_before = before;
        before = t;
    }
    return false;
}

/* A parameter of the body's floats: integers might be divided by 0. */
static bool is_parameter(const krf_op *op, const uint8_t letters[26], const krf__c_token *t, const char *real) {
    for (int i = 0; i < op->n_parameters; i++) {
        if (krf__c_is(t, op->parameters[i].name)) {
            return strcmp(krf__user_type((int)krf__variable_dtype(&op->parameters[i], letters)), real) == 0 && !assigned(op, t);
        }
    }
    return false;
}

bool krf__user_is_free(const krf_op *op, const uint8_t letters[26], const char *start, const char *end, const char *real) {
    krf__c_lexer lexer = {start, 1};
    int before = ';';
    for (krf__c_token t = krf__c_word(&lexer); t.kind != KRF__C_END && t.start < end; t = krf__c_word(&lexer)) {
        krf__c_lexer ahead = lexer;
        const bool calls = krf__c_word(&ahead).kind == '(';
        bool only_f32;
        if (t.kind == KRF__C_NAME && calls) {
            const char *type = krf__user_type_of(op, letters, &t);
            const bool function = krf__user_called(op, &t) == NULL && krf__body_function(t.start, t.length, &only_f32) != KRF__poison;
            if (type != NULL ? strcmp(type, real) != 0 : !function) {
                return false;
            }
        } else if (t.kind == KRF__C_NAME ? !is_parameter(op, letters, &t, real) : t.kind != KRF__C_NUMBER && !is_sign(&t, "+-*/(),")) {
            return false;
        }
        if (before == '/' && t.kind == KRF__C_NUMBER && !krf__c_is_real(&t)) {
            return false; /* of integers */
        }
        before = t.kind;
    }
    return true;
}
