/* Counts definitions and keeps the names that a context knows. */
#include "ir/defined.h"

#include "base/fail.h"
#include "base/mem.h"

#include <string.h>

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

void krf__op_letters(const krf_op *op, const uint8_t *operands, uint8_t letters[26]) {
    memset(letters, KRF_F32, 26);
    for (int i = 0; i < op->n_parameters; i++) {
        if (op->parameters[i].letter != 0) {
            letters[op->parameters[i].letter - 'A'] = operands[i];
        }
    }
}

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
