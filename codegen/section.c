/* Finds which functions of codegen/math a text needs. A file is cut at its lines "//@ NAME"; the section NAME is needed when the identifier NAME
 * occurs in the text or in a needed section below it. */
#include "codegen/embedded.h"
#include "codegen/emitter.h"

#include "base/mem.h"

#include <string.h>

#define MARK "//@ "
#define MAX_SECTIONS 1024

typedef struct section {
    const char *name, *text, *end;
    size_t name_length;
    bool needed;
} section;

static bool letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool mentions(const char *text, const char *end, const char *name, size_t length) {
    for (const char *at = text; at + length <= end; at++) {
        at = memchr(at, name[0], (size_t)(end - at));
        if (at == NULL || at + length > end) {
            return false;
        }
        if (memcmp(at, name, length) == 0 && (at == text || !letter(at[-1])) && (at + length == end || !letter(at[length]))) {
            return true;
        }
    }
    return false;
}

/* Not strcspn: the address sanitizer then looks for the end of the whole text at each line. */
static size_t line_length(const char *line, const char *end) {
    const char *last = memchr(line, '\n', (size_t)(end - line));
    return (size_t)((last != NULL ? last : end) - line);
}

static size_t cut(const char *text, section *sections, size_t n) {
    const char *end = text + strlen(text);
    for (const char *line = text; line < end;) {
        size_t length = line_length(line, end);
        const char *next = line + length + (line[length] == '\n');
        if (strncmp(line, MARK, strlen(MARK)) == 0 && n < MAX_SECTIONS) {
            if (n > 0 && sections[n - 1].end == NULL) {
                sections[n - 1].end = line;
            }
            sections[n++] = (section){.name = line + strlen(MARK), .name_length = length - strlen(MARK), .text = next};
        }
        line = next;
    }
    if (n > 0 && sections[n - 1].end == NULL) {
        sections[n - 1].end = end;
    }
    return n;
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
    section *sections = krf__malloc(MAX_SECTIONS * sizeof *sections);
    size_t n = 0;
    bool any = false;
    if (sections == NULL || text == NULL) {
        out->failed |= sections == NULL;
        krf__mem_free(sections);
        return;
    }
    for (const char *const *file = e->target->sources; *file != NULL; file++) {
        for (const struct krf__embedded *f = krf__embedded; f->name != NULL; f++) {
            n = strcmp(f->name, *file) == 0 ? cut(f->text, sections, n) : n;
        }
    }
    for (size_t i = n; i-- > 0;) {
        section *s = &sections[i];
        s->needed = mentions(text, text + strlen(text), s->name, s->name_length);
        for (size_t j = i + 1; j < n && !s->needed; j++) {
            s->needed = sections[j].needed && mentions(sections[j].text, sections[j].end, s->name, s->name_length);
        }
        any |= s->needed;
    }
    if (any) {
        krf__str_put(out, e->target->definitions);
    }
    for (size_t i = 0; i < n; i++) {
        if (sections[i].needed) {
            put(out, &sections[i]);
        }
    }
    krf__mem_free(sections);
}
