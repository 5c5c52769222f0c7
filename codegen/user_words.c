/* What the words of a body mean, and what its letters stand for in a call. */
#include "codegen/user.h"

#include <string.h>

const char *krf__user_type(int dtype) { return dtype == KRF_BOOL ? "krf_bool" : krf__c_type(dtype); }

const krf_op *krf__user_called(const krf_op *op, const krf__c_token *name) {
    for (int i = 0; i < op->n_calls; i++) {
        if (krf__c_is(name, op->calls[i]->name)) {
            return op->calls[i];
        }
    }
    return NULL;
}

bool krf__user_next_call(krf__c_lexer *lexer, krf__c_token *name) {
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

bool krf__user_mentions(const krf_op *op, const char *word, bool before_semicolon) {
    krf__c_lexer lexer = {op->body, 1};
    for (krf__c_token t = krf__c_word(&lexer); t.kind != KRF__C_END; t = krf__c_word(&lexer)) {
        krf__c_lexer ahead = lexer;
        if (krf__c_is(&t, word) && (!before_semicolon || krf__c_word(&ahead).kind == ';')) {
            return true;
        }
    }
    return false;
}

bool krf__user_is_narrow(const krf_op *op, const uint8_t letters[26]) {
    bool any = false, wide = false;
    for (int i = 0; i < op->n_parameters + op->n_results; i++) {
        const krf__variable *v = i < op->n_parameters ? &op->parameters[i] : &op->variables[i - op->n_parameters];
        const krf_dtype dtype = krf__variable_dtype(v, letters);
        any |= krf__is_real(dtype);
        wide |= dtype == KRF_F64;
    }
    return any && !wide;
}

const char *krf__user_type_of(const krf_op *op, const uint8_t letters[26], const krf__c_token *t) {
    char text[16];
    krf_dtype dtype;
    for (int i = 0; i < op->n_parameters && t->length == 1; i++) {
        if (op->parameters[i].letter == *t->start) {
            return krf__user_type(letters[*t->start - 'A']);
        }
    }
    if (t->length >= sizeof text) {
        return NULL;
    }
    memcpy(text, t->start, t->length);
    text[t->length] = '\0';
    return krf_dtype_from_name(text, &dtype) && !krf__is_complex(dtype) ? krf__user_type((int)dtype) : NULL;
}

static bool divides(const krf_op *op) {
    krf__c_lexer lexer = {op->body, 1};
    bool found = false;
    for (krf__c_token t = krf__c_word(&lexer); !found && t.kind != KRF__C_END; t = krf__c_word(&lexer)) {
        found = t.kind == '/';
    }
    for (int i = 0; i < op->n_calls && !found; i++) {
        found = divides(op->calls[i]);
    }
    return found;
}

bool krf__user_hides(const krf__emitter *e, const krf_op *op) { return e->target->hides_constants && divides(op); }

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
