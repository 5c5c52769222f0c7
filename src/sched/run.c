#include "sched/run.h"

krf_array *krf__run_array(const krf__run *r, const krf__buffer *b) {
    switch (b->kind) {
    case KRF__BUFFER_INPUT: return r->inputs[b->index];
    case KRF__BUFFER_PLACEHOLDER: return r->bound[b->index];
    case KRF__BUFFER_OUTPUT: return r->outputs[b->index];
    case KRF__BUFFER_TEMPORARY: break;
    }
    return NULL;
}
