/* The canonical bytes of a kernel: all that its text depends on, in fixed-width fields, with names instead of enum values. The name of the kernel
 * is made from their hash; the memory cache compares them in full. */
#include "plan/key.h"

#include "base/fail.h"
#include "base/hash.h"
#include "base/mem.h"
#include "plan/raw_call.h"

#include <string.h>

#define KEY_SCHEMA 1

static void put64(krf__str *s, uint64_t value) {
    char bytes[8];
    for (int i = 0; i < 8; i++) {
        bytes[i] = (char)(value >> (8 * i) & 0xff);
    }
    krf__str_putn(s, bytes, sizeof bytes);
}

static void put_name(krf__str *s, const char *name) { krf__str_putn(s, name, strlen(name) + 1); }

static void put_instr(krf__str *s, const krf__instr *i) {
    int arity = krf__op_info_of(i->op)->arity;
    put_name(s, krf__op_info_of(i->op)->name);
    put_name(s, krf_dtype_name((krf_dtype)i->dtype));
    put_name(s, krf_dtype_name((krf_dtype)i->from));
    for (int k = 0; k < arity; k++) {
        put64(s, i->args[k]);
    }
    put64(s, i->slot);
    if (i->op == KRF__call || krf__op_is_fold((krf__op)i->op) || i->op == KRF__fold_map || i->op == KRF__fold_post) {
        const krf__result *result = krf__result_of(i->value);
        put64(s, (uint64_t)result->index);
        put64(s, result->op->text_bytes);
        krf__str_putn(s, result->op->text, result->op->text_bytes);
    } else {
        put64(s, i->value);
    }
}

krf_status krf__kernel_key(krf__kernel *k) {
    krf__str s = {0};
    put64(&s, KEY_SCHEMA);
    put_name(&s, krf__schedule_name(k->schedule));
    if (k->raw != NULL) {
        krf__str_putn(&s, (const char *)k->raw->raw->key, k->raw->raw->key_bytes);
    }
    put64(&s, (uint64_t)k->n_kept);
    put64(&s, (uint64_t)k->n_reduced);
    put64(&s, (uint64_t)k->vector);
    put64(&s, k->rest | (uint64_t)k->whole << 1 | (uint64_t)k->early << 2 | (uint64_t)k->across << 3 | (uint64_t)k->narrow << 4 | (uint64_t)k->words << 5 | (uint64_t)k->outer << 6 | (uint64_t)k->flat << 7 | (uint64_t)k->spans << 48 | (uint64_t)k->backwards << 49 | (uint64_t)k->drifts << 50 | (uint64_t)k->places << 51 | (uint64_t)k->once << 52 | (uint64_t)k->several << 53 | (uint64_t)k->relay << 54 | (uint64_t)k->copied << 55 | (uint64_t)k->copied_words << 56 | (uint64_t)k->fours << 57 | (uint64_t)k->parted << 58 | (uint64_t)(k->period > 0) << 59 | (uint64_t)(k->lines - 1) << 16 | (k->drifts || k->team > 1 || k->chunks > 1 || k->schedule == KRF__REDUCE_ROW ? (uint64_t)krf__reduce_vectors(k) << 8 : 0));
    put64(&s, k->wide);
    put64(&s, k->staged);
    put64(&s, k->side | (uint64_t)(k->team - 1) << 1 | (uint64_t)k->chained << 32 | (uint64_t)k->tiles << 33 | (uint64_t)k->steps << 34 | (uint64_t)k->along << 35);
    put64(&s, k->literal);
    for (int d = 0; d < k->n_kept + k->n_reduced; d++) {
        put64(&s, (k->literal >> d & 1) != 0 ? (uint64_t)k->extents[d] : 0);
    }
    put64(&s, k->chunks > 1);
    put64(&s, k->n_operands);
    for (uint32_t i = 0; i < k->n_operands; i++) {
        const krf__operand *o = &k->operands[i];
        put_name(&s, krf_dtype_name((krf_dtype)o->dtype));
        put64(&s, (uint64_t)o->store | (uint64_t)o->aligned << 1 | (uint64_t)o->counts << 2 | (uint64_t)o->gathered << 3 | (uint64_t)o->inner << 4 | (uint64_t)o->staged << 16 |
                       (uint64_t)o->held << 17 | (uint64_t)o->loose << 21 | (uint64_t)o->numbers << 22 | (uint64_t)o->turned << 23 | (uint64_t)o->record << 24 | (k->narrow ? (uint64_t)krf__narrow_place_of(k, o) << 18 : 0));
        if (o->beside != 0) {
            put64(&s, (uint64_t)o->beside | (uint64_t)(uint16_t)o->apart << 16 | UINT64_C(1) << 40);
        }
        if (k->steps) {
            put64(&s, o->places_of);
        }
        if (k->spans) {
            put64(&s, (uint64_t)(uint16_t)o->element);
        }
        for (int d = 0; d < k->n_kept + k->n_reduced; d++) {
            put64(&s, (uint64_t)krf__stride_class(k, o, d) | (o->fixed == d + 1 ? (uint64_t)o->strides[d] << 8 : 0));
        }
    }
    put64(&s, k->n_scalars);
    for (uint32_t i = 0; i < k->n_scalars; i++) {
        put_name(&s, krf_dtype_name((krf_dtype)k->scalars[i].dtype));
    }
    put64(&s, k->n_domain);
    put64(&s, k->n_reductions);
    if (k->n_rounds > 0) {
        put64(&s, k->n_rounds);
        put64(&s, (uint64_t)krf__row_warps(k) | (uint64_t)(k->cluster - 1) << 32 | (uint64_t)(krf__row_share(k) - 1) << 48);
        for (uint32_t r = 0; r < k->n_rounds; r++) {
            put64(&s, k->rounds[r].n_instrs);
            put64(&s, k->rounds[r].n_domain);
            put64(&s, k->rounds[r].n_reductions);
        }
    }
    if (k->fast) {
        put_name(&s, "fast");
    }
    if (k->schedule == KRF__ROW_COL) {
        put64(&s, (uint64_t)krf__side_threads(k) | (uint64_t)krf__side_elements(k) << 8 | (uint64_t)k->columns << 32);
    }
    if (k->schedule == KRF__REDUCE_COL) {
        put64(&s, (uint64_t)k->abreast | (uint64_t)k->groups << 32);
    }
    if (k->schedule == KRF__SCAN) {
        put64(&s, (uint64_t)krf__scan_runs(k) | (uint64_t)krf__scans_alone(k) << 32 | (uint64_t)k->pairs << 33 | (uint64_t)k->columns << 40);
    }
    if (k->schedule == KRF__TILE) {
        put64(&s, (uint64_t)k->tile | (uint64_t)krf__tile_side(k) << 32 | (uint64_t)k->strip << 48 | (uint64_t)k->layer << 56);
        put64(&s, (uint64_t)krf__tile_threads(k));
        for (uint32_t i = 0; i < k->n_operands && k->strip > 0; i++) {
            put64(&s, k->operands[i].rows_of | (uint64_t)k->operands[i].row << 16 | (uint64_t)(uint16_t)k->operands[i].element << 32);
        }
    }
    put64(&s, k->n_instrs);
    for (uint32_t i = 0; i < k->n_instrs; i++) {
        put_instr(&s, &k->instrs[i]);
    }
    if (s.failed) {
        krf__str_free(&s);
        return krf__fail_memory();
    }
    char hex[33];
    krf__hash_hex(krf__hash_128(s.data, s.length), hex);
    hex[16] = '\0'; /* enough to tell kernels apart; the key itself is compared in full */
    static const char *const prefixes[KRF__SCHEDULE_COUNT] = {"krf_map_",    "krf_reduce_", "krf_reduce_", "krf_reduce_", "krf_reduce_",
                                                              "krf_scan_",   "krf_row_",    "krf_row_",    "krf_row_",    "krf_tile_",   "krf_raw_"};
    strcpy(k->name, prefixes[k->schedule]);
    strcat(k->name, hex);
    k->key_bytes = s.length;
    k->key = (uint8_t *)krf__str_take(&s);
    return KRF_OK;
}
