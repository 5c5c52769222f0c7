/* Makes definitions and keeps the names that a context knows. */
#include "ir/define.h"

#include "base/fail.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "ir/c_lex.h"
#include "ir/define_check.h"

#include <string.h>

/* ---- names ---- */

void krf__defined_open(krf__defined *known) {
    memset(known, 0, sizeof *known);
    pthread_mutex_init(&known->lock, NULL);
}

static void release_value(void *op) { krf__op_release(op); }

void krf__defined_close(krf__defined *known) {
    krf__map_free(&known->ops, release_value);
    pthread_mutex_destroy(&known->lock);
}

const krf_op *krf__defined_find(krf__defined *known, const char *name, size_t length) {
    if (known == NULL) {
        return NULL;
    }
    pthread_mutex_lock(&known->lock);
    const krf_op *op = krf__map_get(&known->ops, name, length);
    krf__op_retain(op);
    pthread_mutex_unlock(&known->lock);
    return op;
}

krf_status krf__op_register(krf__defined *known, krf_op *op) {
    krf_status status = KRF_OK;
    pthread_mutex_lock(&known->lock);
    if (krf__map_get(&known->ops, op->name, strlen(op->name)) != NULL) {
        status = krf__fail(KRF_E_ARGUMENT, "krf_op_define: %s is defined already; krf_op_undefine makes the name free", op->name);
    } else if (krf__map_put(&known->ops, op->name, strlen(op->name), op)) {
        krf__op_retain(op);
    } else {
        status = krf__fail_memory();
    }
    pthread_mutex_unlock(&known->lock);
    return status;
}

krf_status krf__defined_remove(krf__defined *known, const char *name) {
    pthread_mutex_lock(&known->lock);
    const krf_op *op = krf__map_get(&known->ops, name, strlen(name));
    const bool removed = op != NULL && krf__map_put(&known->ops, name, strlen(name), NULL); /* a name without a definition is none */
    pthread_mutex_unlock(&known->lock);
    if (op == NULL) {
        return krf__fail(KRF_E_ARGUMENT, "krf_op_undefine: the context knows no %s", name);
    }
    krf__op_release(removed ? op : NULL);
    return removed ? KRF_OK : krf__fail_memory();
}

/* ---- definitions ---- */

const krf_op *krf__op_retain(const krf_op *op) {
    if (op != NULL) {
        atomic_fetch_add(&((krf_op *)(uintptr_t)op)->references, 1);
    }
    return op;
}

void krf__op_release(const krf_op *definition) {
    krf_op *op = (krf_op *)(uintptr_t)definition; /* counting changes nothing of what it says */
    if (op == NULL || atomic_fetch_sub(&op->references, 1) != 1) {
        return;
    }
    for (int i = 0; i < op->n_parameters; i++) {
        krf__mem_free(op->parameters[i].name);
    }
    for (int i = 0; i < op->n_results; i++) {
        krf__mem_free(op->variables[i].name);
    }
    for (int i = 0; op->derivatives != NULL && i < op->n_results * op->n_parameters; i++) {
        krf__mem_free(op->derivatives[i]);
    }
    for (int i = 0; i < op->n_calls; i++) {
        krf__op_release(op->calls[i]);
    }
    krf__mem_free(op->derivatives);
    for (size_t i = 0; i < op->n_named; i++) {
        krf__op_release(op->named[i]);
    }
    krf__mem_free((void *)op->calls);
    krf__mem_free((void *)op->named);
    krf__mem_free(op->name);
    krf__mem_free(op->body);
    krf__mem_free(op->text);
    krf__mem_free(op->function);
    krf__mem_free(op);
}

static void put_variables(krf__str *out, int n, const krf__variable *variables) {
    for (int i = 0; i < n; i++) {
        const krf__variable *v = &variables[i];
        krf__str_put(out, i > 0 ? ", " : "");
        if (v->letter != 0) {
            krf__str_char(out, v->letter);
        } else {
            krf__str_put(out, krf_dtype_name((krf_dtype)v->dtype));
        }
        krf__str_printf(out, " %s", v->name);
    }
}

/* NULs separate the parts: none of them has one. */
krf_status krf__op_set_text(krf_op *op) {
    krf__str s = {0};
    krf__str_printf(&s, "%s(", op->name);
    put_variables(&s, op->n_parameters, op->parameters);
    krf__str_put(&s, ") -> ");
    put_variables(&s, op->n_results, op->variables);
    krf__str_char(&s, '\0');
    krf__str_put(&s, op->body != NULL ? op->body : "");
    krf__str_putn(&s, (const char *)op->identity, op->map != NULL ? (size_t)op->map->n_results * sizeof *op->identity : 0);
    for (int i = 0; i < op->n_calls; i++) {
        krf__str_char(&s, '\0');
        krf__str_putn(&s, op->calls[i]->text, op->calls[i]->text_bytes);
    }
    krf__str_char(&s, '\0');
    op->text_bytes = s.length;
    op->text = krf__str_take(&s);
    return op->text != NULL ? KRF_OK : krf__fail_memory();
}

krf_status krf__op_make(krf__defined *known, const char *name, const char *parameters, const char *results, const char *body, const char *derivatives,
                        krf_op **made) {
    *made = NULL;
    krf_op *op = krf__calloc(1, sizeof *op);
    if (op == NULL) {
        return krf__fail_memory();
    }
    atomic_init(&op->references, 1);
    krf_status status = krf__check_name(name);
    if (status == KRF_OK) {
        op->name = krf__strdup(name);
        op->body = krf__strdup(body);
        status = op->name != NULL && op->body != NULL ? KRF_OK : krf__fail_memory();
    }
    status = status == KRF_OK ? krf__check_signature(op, parameters, results) : status;
    status = status == KRF_OK ? krf__check_body(op, known) : status;
    status = status == KRF_OK && derivatives != NULL ? krf__check_derivatives(op, known, derivatives) : status;
    for (int r = 0; r < op->n_results; r++) {
        op->results[r] = (krf__result){op, r};
    }
    status = status == KRF_OK ? krf__op_set_text(op) : status;
    if (status != KRF_OK) {
        krf__op_release(op);
        return status;
    }
    *made = op;
    return KRF_OK;
}

krf_status krf__op_define(krf__defined *known, const char *name, const char *parameters, const char *results, const char *body, const char *derivatives,
                          krf_op **made) {
    krf_op *op = NULL;
    krf_status status = krf__op_make(known, name, parameters, results, body, derivatives, &op);
    status = status == KRF_OK ? krf__op_register(known, op) : status;
    if (status != KRF_OK) {
        krf__op_release(op);
        op = NULL;
    }
    *made = op;
    return status;
}

void krf__op_letters(const krf_op *op, const uint8_t *operands, uint8_t letters[26]) {
    memset(letters, KRF_F32, 26);
    for (int i = 0; i < op->n_parameters; i++) {
        if (op->parameters[i].letter != 0) {
            letters[op->parameters[i].letter - 'A'] = operands[i];
        }
    }
}
