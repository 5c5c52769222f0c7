/* The C target's stores: a strip of results is copied out of its block once all is read. Large outputs go past the caches, by whole lines where a strip begins with one;
 * not those that lie over an input, whose lines are in the caches already. */
#include "codegen/emitter.h"

#define LARGE_BYTES (16 << 20) /* no processor's share of its caches */
#define LINE_BYTES 64

/* The block of an output that may go past the caches: 0 where none may. */
static bool may_pass(const krf__emitter *e, uint32_t operand) {
    const krf__kernel *k = e->kernel;
    const krf__operand *o = &k->operands[operand];
    const bool long_runs = k->schedule == KRF__MAP || k->schedule == KRF__TILE || k->schedule == KRF__ROW || k->schedule == KRF__ROW_SHORT;
    return long_runs && !k->side && o->store && o->inner == 0 && krf__stride_class(k, o, k->n_kept + k->n_reduced - 1) == 1
           && (size_t)krf__c_strip_length(e) * krf_dtype_size((krf_dtype)o->dtype) % LINE_BYTES == 0;
}

static void sizes(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        if (!may_pass(e, i)) {
            continue;
        }
        krf__str_printf(out, "const int large_%s = %dLL", e->operand_names[i], (int)krf_dtype_size((krf_dtype)k->operands[i].dtype));
        for (int d = 0; d < k->n_kept + k->n_reduced; d++) {
            krf__str_printf(out, " * n%d", d);
        }
        krf__str_printf(out, " >= %d", LARGE_BYTES);
        for (uint32_t other = 0; other < k->n_operands; other++) {
            if (!k->operands[other].store && !k->operands[other].counts && k->operands[other].inner == 0) {
                krf__str_printf(out, " && (const void *)a->%s != (const void *)a->%s", e->operand_names[i], e->operand_names[other]);
            }
        }
        krf__str_put(out, ";\n");
    }
}

static void done(krf__emitter *e, krf__str *out) {
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        if (may_pass(e, i)) {
            krf__str_put(out, "krf_lines_done();\n");
            return;
        }
    }
}

void krf__c_put_block(const krf__emitter *e, uint32_t operand, int strip, krf__str *out) {
    if (krf__c_converts_store(e, operand)) {
        krf__str_printf(out, "float f_%s[%d];\n", e->operand_names[operand], strip);
    }
    krf__str_printf(out, "%s%s b_%s[%d];\n", may_pass(e, operand) ? "_Alignas(64) " : "", krf__storage_type(e->k->operands[operand].dtype), e->operand_names[operand], strip);
}

void krf__c_copy_out(const krf__emitter *e, uint32_t operand, krf__str *out) {
    const krf__operand *o = &e->k->operands[operand];
    const char *name = e->operand_names[operand];
    const int fast = krf__c_fast_dim(e), class_ = krf__c_class(e, operand);
    if (krf__c_converts_store(e, operand)) {
        krf__str_printf(out, "krf_store_f16s(b_%s, f_%s, m);\n", name, name);
    }
    if (may_pass(e, operand)) {
        const int line = LINE_BYTES / (int)krf_dtype_size((krf_dtype)o->dtype);
        krf__str_printf(out, "const int lines_%s = large_%s && (unsigned long long)(p_%s + j) %% %d == 0 ? m / %d : 0;\n", name, name, name, LINE_BYTES, line);
        krf__str_printf(out, "if (lines_%s == %d) {\n    krf_put_lines(p_%s + j, b_%s, (int)sizeof b_%s);\n} else {\n    krf_put_lines(p_%s + j, b_%s, %d * lines_%s);\n", name,
                        krf__c_strip_length(e) / line, name, name, name, name, name, LINE_BYTES, name);
        krf__str_printf(out, "    for (int k = %d * lines_%s; k < m; k++) {\n        p_%s[j + k] = b_%s[k];\n    }\n}\n", line, name, name, name);
        return;
    }
    krf__str_printf(out, "for (int k = 0; k < m; k++) {\n    p_%s[", name);
    krf__str_put(out, class_ == 1 ? "j + k" : class_ == 0 ? "0" : "(j + k) * ");
    if (class_ >= 2) {
        krf__str_printf(out, "%s_s%d", name, fast);
    }
    krf__str_printf(out, "] = b_%s[k];\n}\n", name);
}

/* The elements before the first whole line of an output, from `place` on; 0 where it does not pass. */
static void put_head(const krf__emitter *e, const char *place, const char *behind, krf__str *out) {
    krf__str_put(out, "const int head = ");
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        if (may_pass(e, i)) {
            const char *name = e->operand_names[i];
            krf__str_printf(out, "large_%s ? (int)(-(unsigned long long)(%s%s%s) %% %d / %d) : ", name, place, name, behind, LINE_BYTES, (int)krf_dtype_size((krf_dtype)e->k->operands[i].dtype));
        }
    }
    krf__str_put(out, "0;\n");
}

/* What lies before the first whole line of an output is a run of its own, so that the strips of the next one begin with a line. The line in which a row ends is fetched: stores wait for
 * one another, so those of whole lines would wait for its arrival. */
static void run(krf__emitter *e, krf__str *out) {
    bool passes = false;
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        if (may_pass(e, i)) {
            const char *name = e->operand_names[i];
            krf__str_printf(out, "if (large_%s && (unsigned long long)(p_%s + most) %% %d != 0) {\n    __builtin_prefetch(p_%s + most, 1);\n}\n", name, name, LINE_BYTES, name);
            passes = true;
        }
    }
    if (passes) {
        put_head(e, "p_", "", out);
        krf__str_printf(out, "const long long run = head > 0 && head < most && most >= %d ? head : most;\n", krf__c_strip_length(e) / 2);
    } else {
        krf__str_put(out, "const long long run = most;\n");
    }
}

static void narrow_next(krf__emitter *e, krf__str *out) {
    const int strip = krf__c_strip_length(e);
    put_head(e, "a->", " + i", out);
    krf__str_printf(out, "next = head > 0 && head < hi - i ? i + head : hi - i < %d ? hi : i + %d;\n", strip, strip);
}

const krf__hole krf__c_store_holes[] = {{"LARGE_OUTPUTS", sizes}, {"LARGE_DONE", done}, {"RUN", run}, {"NARROW_NEXT", narrow_next}, {NULL, NULL}};
