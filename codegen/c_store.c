/* The C target's stores: a strip of results is copied out of its block once all is read. Large outputs go past the caches, by whole lines where a strip begins with one;
 * not those that lie over an input, whose lines are in the caches already. */
#include "codegen/emitter.h"

#include <stdio.h>

#define LARGE_BYTES (16 << 20) /* no processor's share of its caches */
#define LINE_BYTES 64
#define THIRD 43 /* times 3 is 1 more than a multiple of a line's numbers: so many records of three fields go on to the next line */

/* Whether an operand stores the first fields of records, and with them all others. */
static bool begins_record(const krf__emitter *e, uint32_t operand) { return e->k->operands[operand].record == operand + 1; }

/* Numbers of an element in memory: as many as its record has fields, of complex results two. */
static int numbers(const krf__emitter *e, uint32_t operand) { return begins_record(e, operand) ? (int)e->k->operands[operand].strides[e->k->n_kept - 1] : 1; }

static int element_bytes(const krf__emitter *e, uint32_t operand) { return numbers(e, operand) * (int)krf_dtype_size((krf_dtype)e->k->operands[operand].dtype); }

bool krf__c_passes(const krf__emitter *e, uint32_t operand) {
    const krf__kernel *k = e->kernel;
    const krf__operand *o = &k->operands[operand];
    const bool long_runs = k->schedule == KRF__MAP || k->schedule == KRF__TILE || k->schedule == KRF__ROW || k->schedule == KRF__ROW_SHORT || k->schedule == KRF__ROW_COL || k->schedule == KRF__SCAN;
    const int run = k->schedule == KRF__SCAN || k->schedule == KRF__ROW_COL ? krf__c_fast_dim(e) : k->n_kept + k->n_reduced - 1;
    return long_runs && !k->side && o->store && o->inner == 0 && (krf__stride_class(k, o, run) == 1 || (begins_record(e, operand) && k->schedule != KRF__ROW_COL))
           && krf__c_strip_length(e) * element_bytes(e, operand) % LINE_BYTES == 0;
}

/* Whether a field is stored with the first one. */
static bool goes_along(const krf__emitter *e, uint32_t operand) {
    const uint32_t first = e->k->operands[operand].record;
    return first != 0 && first != operand + 1 && krf__c_passes(e, first - 1);
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

/* Whether a value is the negative of another to compilers, which subtract it then where it is added. */
static bool negates(const krf__kernel *k, const krf__instr *i) {
    bool negative = i->op == KRF__negative;
    for (int a = 0; a < 2 && (i->op == KRF__multiply || i->op == KRF__divide); a++) {
        const krf__instr *by = &k->instrs[i->args[a]];
        negative |= by->op == KRF__constant && krf__bits_to_f64((krf_dtype)by->dtype, by->value) == -1;
    }
    return negative;
}

/* Whether one field may be a * b - c and its neighbour a * b + c: gcc 12 makes one operation of these where they are stored side by side, rounded once, whatever it is told of contraction. */
static bool alternates(const krf__kernel *k) {
    bool product = false, sum = false, difference = false, negative = false;
    for (uint32_t i = 0; i < k->n_domain; i++) {
        const krf__op op = (krf__op)k->instrs[i].op;
        if (krf__dtype((krf_dtype)k->instrs[i].dtype)->kind == KRF__KIND_REAL) {
            product |= op == KRF__multiply || op == KRF__divide; /* by what has a reciprocal */
            sum |= op == KRF__add;
            difference |= op == KRF__subtract;
            negative |= negates(k, &k->instrs[i]);
        }
    }
    return product && ((sum && difference) || (negative && (sum || difference)));
}

/* Whether fields are put together where they are computed: what is converted behind the loops is not there yet. */
static bool lies_in_records(const krf__emitter *e, uint32_t operand) {
    return (goes_along(e, operand) || (begins_record(e, operand) && krf__c_passes(e, operand))) && !krf__c_converts_store(e, operand) && !alternates(e->k);
}

void krf__c_put_stored(const krf__emitter *e, uint32_t operand, krf__str *out) {
    const krf__operand *o = &e->k->operands[operand];
    if (lies_in_records(e, operand)) {
        const uint32_t first = o->record - 1u;
        krf__str_printf(out, "all_%s[%d * k + %d]", e->operand_names[first], numbers(e, first), (int)(o->offset - e->k->operands[first].offset));
    } else {
        krf__str_printf(out, "%s_%s[k]", krf__c_converts_store(e, operand) ? "f" : "b", e->operand_names[operand]);
    }
}

void krf__c_put_block(const krf__emitter *e, uint32_t operand, int strip, krf__str *out) {
    if (begins_record(e, operand) && krf__c_passes(e, operand)) {
        krf__str_printf(out, "_Alignas(64) %s all_%s[%d];\n", krf__storage_type(e->k->operands[operand].dtype), e->operand_names[operand], numbers(e, operand) * strip);
    }
    if (lies_in_records(e, operand)) {
        return;
    }
    if (krf__c_converts_store(e, operand)) {
        krf__str_printf(out, "float f_%s[%d];\n", e->operand_names[operand], strip);
    }
    krf__str_printf(out, "%s%s b_%s[%d];\n", krf__c_passes(e, operand) ? "_Alignas(64) " : "", krf__storage_type(e->k->operands[operand].dtype), e->operand_names[operand], strip);
}

typedef struct factor {
    char text[16];
} factor;

/* "3 * ", of what has three numbers an element; "". */
static factor times(const krf__emitter *e, uint32_t operand) {
    factor f = {""};
    if (numbers(e, operand) > 1) {
        snprintf(f.text, sizeof f.text, "%d * ", numbers(e, operand));
    }
    return f;
}

/* Records of a strip, of fields that are in blocks of their own. */
static void put_records(const krf__emitter *e, uint32_t first, krf__str *out) {
    const krf__operand *o = &e->k->operands[first];
    const char *name = e->operand_names[first];
    const int fields = numbers(e, first);
    krf__str_put(out, "for (int k = 0; k < m; k++) {\n");
    for (uint32_t i = 0; i < e->k->n_operands; i++) {
        if (e->k->operands[i].record == first + 1) {
            krf__str_printf(out, "    all_%s[%d * k + %d] = b_%s[k];\n", name, fields, (int)(e->k->operands[i].offset - o->offset), e->operand_names[i]);
        }
    }
    krf__str_put(out, "}\n");
}

static void put_lines(const krf__emitter *e, uint32_t operand, krf__str *out) {
    const krf__operand *o = &e->k->operands[operand];
    const int line = LINE_BYTES / (int)krf_dtype_size((krf_dtype)o->dtype), strip = krf__c_strip_length(e), n = numbers(e, operand);
    const char *name = e->operand_names[operand], *block = n > 1 ? "all" : "b";
    const factor by = times(e, operand);
    if (n > 1 && !lies_in_records(e, operand)) {
        put_records(e, operand, out);
    }
    krf__str_printf(out, "const int lines_%s = large_%s && (unsigned long long)(p_%s + %sj) %% %d == 0 ? %sm / %d : 0;\n", name, name, name, by.text, LINE_BYTES, by.text, line);
    krf__str_printf(out, "if (lines_%s == %d) {\n    krf_put_lines(p_%s + %sj, %s_%s, (int)sizeof %s_%s);\n", name, n * strip / line, name, by.text, block, name, block, name);
    krf__str_printf(out, "} else {\n    krf_put_lines(p_%s + %sj, %s_%s, %d * lines_%s);\n", name, by.text, block, name, LINE_BYTES, name);
    krf__str_printf(out, "    for (int k = %d * lines_%s; k < %sm; k++) {\n        p_%s[%sj + k] = %s_%s[k];\n    }\n}\n", line, name, by.text, name, by.text, block, name);
}

/* Of runs that are short, and begin anywhere where rows do: the whole lines of each. */
static void put_short_lines(const krf__emitter *e, uint32_t operand, krf__str *out) {
    const int bytes = element_bytes(e, operand), line = LINE_BYTES / bytes;
    const char *name = e->operand_names[operand];
    krf__str_printf(out, "const int head_%s = (int)(-(unsigned long long)p_%s %% %d / %d), before_%s = large_%s && head_%s < m ? head_%s : m, lines_%s = (m - before_%s) / %d;\n", name, name, LINE_BYTES, bytes, name,
                    name, name, name, name, name, line);
    krf__str_printf(out, "for (int k = 0; k < before_%s; k++) {\n    p_%s[k] = b_%s[k];\n}\n", name, name, name);
    krf__str_printf(out, "krf_put_lines(p_%s + before_%s, b_%s + before_%s, %d * lines_%s);\n", name, name, name, name, LINE_BYTES, name);
    krf__str_printf(out, "for (int k = before_%s + %d * lines_%s; k < m; k++) {\n    p_%s[k] = b_%s[k];\n}\n", name, line, name, name, name);
}

void krf__c_round_block(const krf__emitter *e, uint32_t operand, krf__str *out) {
    const char *name = e->operand_names[operand];
    if (krf__c_converts_store(e, operand)) {
        krf__str_printf(out, "krf_store_f16s(b_%s, f_%s, m);\n", name, name);
    }
}

void krf__c_copy_out(const krf__emitter *e, uint32_t operand, krf__str *out) {
    const char *name = e->operand_names[operand];
    const int fast = krf__c_fast_dim(e), class_ = krf__c_class(e, operand);
    if (goes_along(e, operand)) {
        return;
    }
    if (krf__c_passes(e, operand)) {
        (e->k->schedule == KRF__ROW_COL ? put_short_lines : put_lines)(e, operand, out);
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
            const bool thirds = numbers(e, i) == 3;
            krf__str_printf(out, "large_%s ? (int)(-(unsigned long long)(%s%s", name, place, name);
            if (behind[0] != '\0') {
                krf__str_printf(out, " + %s%s", times(e, i).text, behind);
            }
            krf__str_printf(out, ") %% %d / %d", LINE_BYTES, thirds ? element_bytes(e, i) / 3 : element_bytes(e, i));
            if (thirds) {
                krf__str_printf(out, " * %d %% %d", THIRD, LINE_BYTES * 3 / element_bytes(e, i));
            }
            krf__str_put(out, ") : ");
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
            krf__str_printf(out, "if (large_%s && (unsigned long long)(p_%s + %smost) %% %d != 0) {\n    __builtin_prefetch(p_%s + %smost, 1);\n}\n", name, name, times(e, i).text, LINE_BYTES, name, times(e, i).text);
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
