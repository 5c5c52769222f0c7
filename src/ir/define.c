/* Definitions of users: what make_op.c makes, with derivatives, under a name that the context knows. */
#include "ir/define.h"

#include "ir/define_derivatives.h"

krf_status krf__op_define(krf__defined *known, const char *name, const char *parameters, const char *results, const char *body, const char *derivatives,
                          krf_op **made) {
    krf_op *op = NULL;
    krf_status status = krf__op_make(known, name, parameters, results, body, &op);
    status = status == KRF_OK && derivatives != NULL ? krf__define_derivatives(op, known, derivatives) : status;
    status = status == KRF_OK ? krf__op_register(known, op) : status;
    if (status != KRF_OK) {
        krf__op_release(op);
        op = NULL;
    }
    *made = op;
    return status;
}
