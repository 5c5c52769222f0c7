/* Bindings: values with a name. */
#include <kerfuse/expr.h>

krf_binding krf_bind_array(const char *name, krf_array *array) {
    return (krf_binding){.name = name, .kind = KRF_BIND_ARRAY, .array = array};
}

krf_binding krf_bind_int(const char *name, int64_t value) {
    return (krf_binding){.name = name, .kind = KRF_BIND_INT, .i = value};
}

krf_binding krf_bind_real(const char *name, double value) {
    return (krf_binding){.name = name, .kind = KRF_BIND_REAL, .f = value};
}

krf_binding krf_bind_complex(const char *name, double re, double im) {
    return (krf_binding){.name = name, .kind = KRF_BIND_COMPLEX, .f = re, .imaginary = im};
}

krf_binding krf_bind_expr(const char *name, krf_expr expr) {
    return (krf_binding){.name = name, .kind = KRF_BIND_EXPR, .expr = expr};
}
