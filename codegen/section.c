/* Finds which functions of codegen/math a text needs. A file is cut at its lines "//@ NAME"; the section NAME is needed when the identifier NAME
 * occurs in the text or in a needed section below it. */
#include "codegen/embedded.h"
#include "codegen/emitter.h"

#include "base/mem.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MARK "//@ "
#define MAX_SECTIONS 1024

typedef struct section {
    const char *name, *text, *end;
    size_t name_length;
} section;

/* Those of a target, in order, and by their names: cut once, for the files are as long as a hundred kernels. */
typedef struct sections {
    section all[MAX_SECTIONS];
    const section *by_name[MAX_SECTIONS];
    size_t n;
} sections;

static sections of_c, of_cuda;

/* Not strcspn: the address sanitizer then looks for the end of the whole text at each line. */
static size_t line_length(const char *line, const char *end) {
    const char *last = memchr(line, '\n', (size_t)(end - line));
    return (size_t)((last != NULL ? last : end) - line);
}

static void cut(const char *text, sections *s) {
    const char *end = text + strlen(text);
    for (const char *line = text; line < end;) {
        size_t length = line_length(line, end);
        const char *next = line + length + (line[length] == '\n');
        if (strncmp(line, MARK, strlen(MARK)) == 0 && s->n < MAX_SECTIONS) {
            if (s->n > 0 && s->all[s->n - 1].end == NULL) {
                s->all[s->n - 1].end = line;
            }
            s->all[s->n++] = (section){.name = line + strlen(MARK), .name_length = length - strlen(MARK), .text = next};
        }
        line = next;
    }
    if (s->n > 0 && s->all[s->n - 1].end == NULL) {
        s->all[s->n - 1].end = end;
    }
}

static int compare_names(const char *a, size_t a_length, const char *b, size_t b_length) {
    const int order = memcmp(a, b, a_length < b_length ? a_length : b_length);
    return order != 0 ? order : a_length < b_length ? -1 : a_length > b_length;
}

static int by_name(const void *a, const void *b) {
    const section *const *x = a, *const *y = b;
    return compare_names((*x)->name, (*x)->name_length, (*y)->name, (*y)->name_length);
}

static void cut_all(const krf__target *target, sections *s) {
    for (const char *const *file = target->sources; *file != NULL; file++) {
        for (const struct krf__embedded *f = krf__embedded; f->name != NULL; f++) {
            if (strcmp(f->name, *file) == 0) {
                cut(f->text, s);
            }
        }
    }
    for (size_t i = 0; i < s->n; i++) {
        s->by_name[i] = &s->all[i];
    }
    qsort(s->by_name, s->n, sizeof *s->by_name, by_name);
}

static void cut_targets(void) {
    cut_all(&krf__target_c, &of_c);
    cut_all(&krf__target_cuda, &of_cuda);
}

static const sections *sections_of(const krf__target *target) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, cut_targets);
    return target->gpu ? &of_cuda : &of_c;
}

/* The section of that name; NULL: there is none. */
static const section *find(const sections *s, const char *name, size_t length) {
    for (size_t low = 0, high = s->n; low < high;) {
        const size_t middle = (low + high) / 2;
        const section *x = s->by_name[middle];
        const int order = compare_names(name, length, x->name, x->name_length);
        if (order == 0) {
            return x;
        }
        low = order > 0 ? middle + 1 : low;
        high = order < 0 ? middle : high;
    }
    return NULL;
}

static bool letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Sections before `before` whose names stand in the text. */
static void mark(const sections *s, const char *text, const char *end, size_t before, bool *needed) {
    for (const char *at = text; at < end;) {
        const char *start = at;
        while (at < end && letter(*at)) {
            at++;
        }
        const section *found = at > start ? find(s, start, (size_t)(at - start)) : NULL;
        if (found != NULL && (size_t)(found - s->all) < before) {
            needed[found - s->all] = true;
        }
        at += at == start;
    }
}

/* A section without its comments and blank lines. */
static void put(krf__str *out, const section *s) {
    for (const char *line = s->text; line < s->end;) {
        size_t length = line_length(line, s->end), blank = 0;
        while (blank < length && line[blank] == ' ') {
            blank++;
        }
        if (blank < length && strncmp(line + blank, "//", 2) != 0) {
            krf__str_putn(out, line, length);
            krf__str_char(out, '\n');
        }
        line += length + 1;
    }
}

void krf__emit_sections(const krf__emitter *e, const char *text, krf__str *out) {
    const sections *s = sections_of(e->target);
    bool *needed = krf__calloc(MAX_SECTIONS, sizeof *needed), any = false;
    if (needed == NULL || text == NULL) {
        out->failed |= needed == NULL;
        krf__mem_free(needed);
        return;
    }
    mark(s, text, text + strlen(text), s->n, needed);
    for (size_t i = s->n; i-- > 0;) {
        any |= needed[i];
        if (needed[i]) {
            mark(s, s->all[i].text, s->all[i].end, i, needed);
        }
    }
    if (any) {
        krf__str_put(out, e->target->definitions);
    }
    for (size_t i = 0; i < s->n; i++) {
        if (needed[i]) {
            put(out, &s->all[i]);
        }
    }
    krf__mem_free(needed);
}
