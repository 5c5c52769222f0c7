/* Expands skeleton files: text with $HOLES that the emitter's printers fill. */
#include "codegen/embedded.h"
#include "codegen/emitter.h"

#include <string.h>

const char *krf__embedded_text(const char *name) {
    for (const struct krf__embedded *f = krf__embedded; f->name != NULL; f++) {
        if (strcmp(f->name, name) == 0) {
            return f->text;
        }
    }
    return "";
}

static const krf__hole *find(const krf__hole *holes, const char *name, size_t length) {
    for (; holes->name != NULL; holes++) {
        if (strlen(holes->name) == length && memcmp(holes->name, name, length) == 0) {
            return holes;
        }
    }
    return NULL;
}

static void put_indented(krf__str *out, const char *text, size_t indent) {
    size_t left = text != NULL ? strlen(text) : 0; /* strchr would have the address sanitizer count the rest at each line */
    while (left > 0) {
        const char *end = memchr(text, '\n', left);
        size_t length = end != NULL ? (size_t)(end - text) + 1 : left;
        for (size_t i = 0; i < indent && length > 1; i++) {
            krf__str_char(out, ' ');
        }
        krf__str_putn(out, text, length);
        text += length;
        left -= length;
    }
}

static size_t hole_length(const char *dollar) {
    size_t n = 0;
    while ((dollar[1 + n] >= 'A' && dollar[1 + n] <= 'Z') || dollar[1 + n] == '_') {
        n++;
    }
    return n;
}

/* One line of a skeleton, without its newline in `length`. */
static void expand_line(krf__emitter *e, const char *line, size_t length, krf__str *out) {
    size_t indent = strspn(line, " ");
    bool alone = indent < length && line[indent] == '$' && indent + 1 + hole_length(line + indent) == length;
    for (size_t i = 0; i < length; i++) {
        size_t n = line[i] == '$' ? hole_length(line + i) : 0;
        const krf__hole *hole = NULL;
        for (size_t k = 0; n != 0 && hole == NULL && e->target->holes[k] != NULL; k++) {
            hole = find(e->target->holes[k], line + i + 1, n);
        }
        hole = n != 0 && hole == NULL ? find(krf__common_holes, line + i + 1, n) : hole;
        if (hole == NULL) {
            if (!alone) {
                krf__str_char(out, line[i]);
            }
            continue;
        }
        krf__str filled = {0};
        hole->fill(e, &filled);
        if (alone) {
            put_indented(out, filled.data, indent);
        } else if (filled.data != NULL) {
            krf__str_put(out, filled.data);
        }
        e->failed.failed |= filled.failed;
        krf__str_free(&filled);
        i += n;
    }
    if (!alone) {
        krf__str_char(out, '\n');
    }
}

void krf__emit_skeleton(krf__emitter *e, const char *file, krf__str *out) {
    char name[64];
    strcpy(name, file);
    strcat(name, e->target->suffix);
    for (const char *line = krf__embedded_text(name); *line != '\0';) {
        size_t length = strcspn(line, "\n");
        if (strncmp(line, "//", 2) != 0) { /* comments at the left margin are for readers of the skeleton */
            expand_line(e, line, length, out);
        }
        line += length + (line[length] == '\n');
    }
}
