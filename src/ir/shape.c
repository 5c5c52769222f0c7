/* Arithmetic on shapes and layouts: sizes, broadcasting, C strides, and what each view does to a layout. */
#include "ir/shape.h"

#include <string.h>

#define QUOTED(x) #x
#define TEXT_OF(x) QUOTED(x)

int64_t krf__common_divisor(int64_t a, int64_t b) {
    while (b != 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

int64_t krf__shape_size(int rank, const int64_t *shape) {
    int64_t size = 1;
    bool empty = false;
    for (int i = 0; i < rank; i++) {
        if (shape[i] < 0) {
            return -1;
        }
        if (shape[i] == 0) {
            empty = true;
        } else if (__builtin_mul_overflow(size, shape[i], &size)) {
            return -1;
        }
    }
    return empty ? 0 : size;
}

const char *krf__shape_fault(int rank, const int64_t *shape) {
    if (rank < 0 || rank > KRF_MAX_RANK) {
        return "a rank is 0 to " TEXT_OF(KRF_MAX_RANK);
    }
    if (rank > 0 && shape == NULL) {
        return "the shape is NULL";
    }
    for (int i = 0; i < rank; i++) {
        if (shape[i] < 0) {
            return "extents must be at least 0";
        }
    }
    return krf__shape_size(rank, shape) < 0 ? "there are more than 2**63 - 1 elements" : NULL;
}

bool krf__shape_equal(int rank_a, const int64_t *a, int rank_b, const int64_t *b) {
    return rank_a == rank_b && (rank_a == 0 || memcmp(a, b, (size_t)rank_a * sizeof *a) == 0);
}

void krf__shape_c_strides(int rank, const int64_t *shape, int64_t *strides) {
    int64_t step = 1;
    for (int i = rank - 1; i >= 0; i--) {
        strides[i] = step;
        step *= shape[i] > 0 ? shape[i] : 1;
    }
}

bool krf__shape_broadcast(int rank_a, const int64_t *a, int rank_b, const int64_t *b, int *rank, int64_t *shape) {
    int n = rank_a > rank_b ? rank_a : rank_b;
    int64_t out[KRF_MAX_RANK];
    for (int i = 0; i < n; i++) {
        int ia = i - (n - rank_a), ib = i - (n - rank_b);
        int64_t ea = ia >= 0 ? a[ia] : 1, eb = ib >= 0 ? b[ib] : 1;
        if (ea != eb && ea != 1 && eb != 1) {
            return false;
        }
        out[i] = ea == 1 ? eb : ea;
    }
    *rank = n;
    memcpy(shape, out, (size_t)n * sizeof *out);
    return true;
}

krf__layout krf__layout_c(int rank, const int64_t *shape) {
    krf__layout out = {.rank = rank};
    if (rank > 0) {
        memcpy(out.shape, shape, (size_t)rank * sizeof *shape);
    }
    krf__shape_c_strides(rank, shape, out.strides);
    return out;
}

krf__layout krf__layout_transpose(const krf__layout *in, const int64_t *axes) {
    krf__layout out = {.rank = in->rank, .offset = in->offset};
    for (int i = 0; i < in->rank; i++) {
        out.shape[i] = in->shape[axes[i]];
        out.strides[i] = in->strides[axes[i]];
    }
    return out;
}

krf__layout krf__layout_slice(const krf__layout *in, const int64_t *start_step, const int64_t *shape) {
    krf__layout out = {.rank = in->rank, .offset = in->offset};
    for (int i = 0; i < in->rank; i++) {
        out.shape[i] = shape[i];
        out.strides[i] = in->strides[i] * start_step[2 * i + 1];
        if (shape[i] > 0) {
            out.offset += in->strides[i] * start_step[2 * i];
        }
    }
    return out;
}

krf__layout krf__layout_broadcast(const krf__layout *in, int rank, const int64_t *shape) {
    krf__layout out = {.rank = rank, .offset = in->offset};
    for (int i = 0; i < rank; i++) {
        int k = i - (rank - in->rank);
        out.shape[i] = shape[i];
        out.strides[i] = k < 0 || in->shape[k] == 1 ? 0 : in->strides[k];
    }
    return out;
}

krf__layout krf__layout_diagonal(const krf__layout *in, int64_t offset, int64_t axis1, int64_t axis2, const int64_t *shape) {
    krf__layout out = {.rank = in->rank - 1, .offset = in->offset};
    int kept = 0;
    for (int i = 0; i < in->rank; i++) {
        if (i != axis1 && i != axis2) {
            out.strides[kept++] = in->strides[i];
        }
    }
    out.strides[kept] = in->strides[axis1] + in->strides[axis2];
    memcpy(out.shape, shape, (size_t)out.rank * sizeof *shape);
    if (out.shape[kept] > 0) {
        out.offset += offset >= 0 ? offset * in->strides[axis2] : -offset * in->strides[axis1];
    }
    return out;
}

krf__layout krf__layout_windows(const krf__layout *in, int n, const int64_t *axes, const int64_t *shape) {
    krf__layout out = {.rank = in->rank + n, .offset = in->offset};
    memcpy(out.shape, shape, (size_t)out.rank * sizeof *shape);
    memcpy(out.strides, in->strides, (size_t)in->rank * sizeof *in->strides);
    for (int i = 0; i < n; i++) {
        out.strides[in->rank + i] = in->strides[axes[i]];
    }
    return out;
}

/* Walks both shapes from the left in runs of equal products. Inside a run the old axes must be mergeable: each stride is the next one times its
 * extent. Then the new axes divide the merged one in C order. */
bool krf__layout_reshape(const krf__layout *in, int rank, const int64_t *shape, krf__layout *out) {
    int64_t extents[KRF_MAX_RANK], strides[KRF_MAX_RANK];
    int n = 0;
    for (int i = 0; i < in->rank; i++) {
        if (in->shape[i] != 1) {
            extents[n] = in->shape[i];
            strides[n++] = in->strides[i];
        }
    }
    krf__layout result = krf__layout_c(rank, shape);
    result.offset = in->offset;
    if (krf__shape_size(rank, shape) == 0) {
        *out = result;
        return true;
    }
    int i = 0, j = 0;
    while (i < n || j < rank) {
        if (j < rank && shape[j] == 1) {
            result.strides[j++] = 0;
            continue;
        }
        int first_i = i, first_j = j;
        int64_t old = extents[i++], now = shape[j++];
        while (old != now) {
            if (old < now) {
                old *= extents[i++];
            } else {
                now *= shape[j++];
            }
        }
        for (int k = first_i; k + 1 < i; k++) {
            if (strides[k] != strides[k + 1] * extents[k + 1]) {
                return false;
            }
        }
        int64_t step = strides[i - 1];
        for (int k = j - 1; k >= first_j; k--) {
            result.strides[k] = step;
            step *= shape[k];
        }
    }
    *out = result;
    return true;
}
