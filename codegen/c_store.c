/* The C target's stores: a strip of results is copied out of its block once all is read. Large outputs go past the caches, by whole lines where a strip begins with one;
 * not those that lie over an input, whose lines are in the caches already. */
#include "codegen/emitter.h"

#define LARGE_BYTES (16 << 20) /* no processor's share of its caches */
#define LINE_BYTES 64

/* Numbers of an element in memory, which of complex results are two. */
static int numbers(const krf__emitter *e, uint32_t operand) { return e->k->operands[operand].pair != 0 ? 2 : 1; }

static int element_bytes(const krf__emitter *e, uint32_t operand) { return numbers(e, operand) * (int)krf_dtype_size((krf_dtype)e->k->operands[operand].dtype); }

bool krf__c_passes(const krf__emitter *e, uint32_t operand) {
    const krf__kernel *k = e->kernel;
    const krf__operand *o = &k->operands[operand];
    const bool long_runs = k->schedule == KRF__MAP || k->schedule == KRF__TILE || k->schedule == KRF__ROW || k->schedule == KRF__ROW_SHORT || k->schedule == KRF__SCAN;
    return long_runs && !k->side && o->store && o->inner == 0 && (krf__stride_class(k, o, k->schedule == KRF__SCAN ? krf__c_fast_dim(e) : k->n_kept + k->n_reduced - 1) == 1 || o->pair != 0)
           && krf__c_strip_length(e) * element_bytes(e, operand) % LINE_BYTES == 0;
}

/* Whether the imaginary parts are stored with their real parts. */
static bool goes_along(const krf__emitter *e, uint32_t operand) {
    bool along = false;
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        along |= e->k->operands[i].pair == operand + 1 && krf__c_passes(e, i);
    }
    return along;
}

static void sizes(krf__emitter *e, krf__str *out) {
    const krf__kernel *k = e->k;
    for (uint32_t i = 0; i < k->n_operands; i++) {
        if (!krf__c_passes(e, i)) {
            continue;
        }
        krf__str_printf(out, "const int large_%s = %dLL", e->operand_names[i], element_bytes(e, i));
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
        if (krf__c_passes(e, i)) {
            krf__str_put(out, "krf_lines_done();\n");
            return;
        }
    }
}

void krf__c_put_block(const krf__emitter *e, uint32_t operand, int strip, krf__str *out) {
    if (krf__c_converts_store(e, operand)) {
        krf__str_printf(out, "float f_%s[%d];\n", e->operand_names[operand], strip);
    }
    krf__str_printf(out, "%s%s b_%s[%d];\n", krf__c_passes(e, operand) ? "_Alignas(64) " : "", krf__storage_type(e->k->operands[operand].dtype), e->operand_names[operand], strip);
}

static void put_lines(const krf__emitter *e, uint32_t operand, krf__str *out) {
    const krf__operand *o = &e->k->operands[operand];
    const char *name = e->operand_names[operand], *times = o->pair != 0 ? "2 * " : "", *block = o->pair != 0 ? "both" : "b";
    const int line = LINE_BYTES / (int)krf_dtype_size((krf_dtype)o->dtype), strip = krf__c_strip_length(e);
    if (o->pair != 0) {
        krf__str_printf(out, "_Alignas(64) %s both_%s[%d];\nfor (int k = 0; k < m; k++) {\n", krf__storage_type(o->dtype), name, 2 * strip);
        krf__str_printf(out, "    both_%s[2 * k] = b_%s[k];\n    both_%s[2 * k + 1] = b_%s[k];\n}\n", name, name, name, e->operand_names[o->pair - 1]);
    }
    krf__str_printf(out, "const int lines_%s = large_%s && (unsigned long long)(p_%s + %sj) %% %d == 0 ? %sm / %d : 0;\n", name, name, name, times, LINE_BYTES, times, line);
    krf__str_printf(out, "if (lines_%s == %d) {\n    krf_put_lines(p_%s + %sj, %s_%s, (int)sizeof %s_%s);\n", name, numbers(e, operand) * strip / line, name, times, block, name, block, name);
    krf__str_printf(out, "} else {\n    krf_put_lines(p_%s + %sj, %s_%s, %d * lines_%s);\n", name, times, block, name, LINE_BYTES, name);
    krf__str_printf(out, "    for (int k = %d * lines_%s; k < %sm; k++) {\n        p_%s[%sj + k] = %s_%s[k];\n    }\n}\n", line, name, times, name, times, block, name);
}

void krf__c_copy_out(const krf__emitter *e, uint32_t operand, krf__str *out) {
    const char *name = e->operand_names[operand];
    const int fast = krf__c_fast_dim(e), class_ = krf__c_class(e, operand);
    if (krf__c_converts_store(e, operand)) {
        krf__str_printf(out, "krf_store_f16s(b_%s, f_%s, m);\n", name, name);
    }
    if (goes_along(e, operand)) {
        return;
    }
    if (krf__c_passes(e, operand)) {
        put_lines(e, operand, out);
        return;
    }
    krf__str_printf(out, "for (int k = 0; k < m; k++) {\n    p_%s[", name);
    krf__str_put(out, class_ == 1 ? "j + k" : class_ == 0 ? "0" : "(j + k) * ");
    if (class_ >= 2) {
        krf__str_printf(out, "%s_s%d", name, fast);
    }
    krf__str_printf(out, "] = b_%s[k];\n}\n", name);
}

/* The elements before the first whole line of an output, from `place` and so many elements behind it on; 0 where it does not pass. */
static void put_head(const krf__emitter *e, const char *place, const char *behind, krf__str *out) {
    krf__str_put(out, "const int head = ");
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        if (krf__c_passes(e, i)) {
            const char *name = e->operand_names[i];
            krf__str_printf(out, "large_%s ? (int)(-(unsigned long long)(%s%s", name, place, name);
            if (behind[0] != '\0') {
                krf__str_printf(out, numbers(e, i) == 2 ? " + 2 * %s" : " + %s", behind);
            }
            krf__str_printf(out, ") %% %d / %d) : ", LINE_BYTES, element_bytes(e, i));
        }
    }
    krf__str_put(out, "0;\n");
}

/* What lies before the first whole line of an output is a run of its own, so that the strips of the next one begin with a line. The line in which a row ends is fetched: stores wait for
 * one another, so those of whole lines would wait for its arrival. */
static void run(krf__emitter *e, krf__str *out) {
    bool passes = false;
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        if (krf__c_passes(e, i)) {
            const char *name = e->operand_names[i];
            const char *times = numbers(e, i) == 2 ? "2 * " : "";
            krf__str_printf(out, "if (large_%s && (unsigned long long)(p_%s + %smost) %% %d != 0) {\n    __builtin_prefetch(p_%s + %smost, 1);\n}\n", name, name, times, LINE_BYTES, name, times);
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
    put_head(e, "a->", "i", out);
    krf__str_printf(out, "next = head > 0 && head < hi - i ? i + head : hi - i < %d ? hi : i + %d;\n", strip, strip);
}

const krf__hole krf__c_store_holes[] = {{"LARGE_OUTPUTS", sizes}, {"LARGE_DONE", done}, {"RUN", run}, {"NARROW_NEXT", narrow_next}, {NULL, NULL}};
