/* Kernels' texts define functions, structs and macros of the same names. Definitions stand outside of braces; so each
 * text goes between #defines that rename what it defines, and #undefs of these and of its own macros. */
#include "fuzz/batch_text.h"

#include <ctype.h>
#include <string.h>

static bool in_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* What a typedef's last line calls a struct. */
static const char *typedef_end(const char *line, size_t bytes, size_t *length) {
    for (*length = 0; bytes > 3 && memcmp(line, "} ", 2) == 0 && line[bytes - 1] == ';' && in_name(line[2 + *length]);) {
        ++*length;
    }
    return *length > 0 ? line + 2 : NULL;
}

/* What the line defines: an identifier of *length bytes; NULL for nothing, and for the kernel itself. */
static const char *defined(const char *line, size_t bytes, const char *kernel, size_t *length) {
    const char *end = line + bytes, *at = line;
    const char *structure = bytes > 2 && memcmp(end - 2, "};", 2) == 0 ? memmem(line, bytes, "struct ", 7) : NULL;
    if (structure != NULL && bytes > 9 && (structure == line || memcmp(line, "template ", 9) == 0)) { /* on one line */
        const char *name = structure + 7;
        for (*length = 0; in_name(name[*length]);) {
            ++*length;
        }
        return name;
    }
    static const char aligned[] = "struct __align__(";
    const char *name = bytes > sizeof aligned && memcmp(line, aligned, sizeof aligned - 1) == 0 ? memmem(line, bytes, ") ", 2) : NULL;
    if (name != NULL) {
        *length = strspn(name + 2, "abcdefghijklmnopqrstuvwxyz_0123456789");
        return name + 2;
    }
    if (bytes == strlen("typedef struct {") && memcmp(line, "typedef struct {", bytes) == 0) { /* see typedef_end */
        return NULL;
    }
    static const char variable[] = "static thread_local ";
    const bool of_thread = bytes > sizeof variable && memcmp(line, variable, sizeof variable - 1) == 0;
    end -= of_thread && end[-1] == ';';
    if (bytes == 0 || (!isalpha((unsigned char)*line) && *line != '_') || end[-1] == ';'
        || memmem(line, bytes, kernel, strlen(kernel)) != NULL) {
        return NULL;
    }
    const char *attribute = memmem(line, bytes, "))", 2); /* __attribute__((always_inline)) */
    if (attribute != NULL && memmem(line, (size_t)(attribute - line), "__attribute__((", 15) != NULL) {
        at = attribute + 2;
    }
    while (at < end && *at != '(' && *at != '{' && *at != '[' && *at != '=') {
        at++;
    }
    while (at > line && at[-1] == ' ') {
        at--;
    }
    const char *start = at;
    while (start > line && in_name(start[-1])) {
        start--;
    }
    *length = (size_t)(at - start);
    return *length > 0 ? start : NULL;
}

static void for_each(krf__str *out, const char *source, const char *kernel, size_t number, bool before) {
    int depth = 0;
    for (const char *line = source; *line != '\0';) {
        size_t bytes = strcspn(line, "\n"), length = 0;
        const char *name = depth == 0 ? defined(line, bytes, kernel, &length) : depth == 1 ? typedef_end(line, bytes, &length) : NULL;
        if (name != NULL && before) {
            bool builtin = strncmp(name, "__builtin_", 10) == 0; /* defined for NVRTC alone (codegen/math/builtins.h) */
            krf__str_printf(out, "%s#define %.*s %.*s_%zu\n%s", builtin ? "#ifdef __CUDACC__\n" : "", (int)length, name, (int)length, name, number,
                            builtin ? "#endif\n" : "");
        } else if (name != NULL) {
            krf__str_printf(out, "#undef %.*s\n", (int)length, name);
        } else if (!before && strncmp(line, "#define ", 8) == 0) {
            size_t n = 0;
            while (in_name(line[8 + n])) {
                n++;
            }
            krf__str_printf(out, "#undef %.*s\n", (int)n, line + 8);
        }
        for (size_t i = 0; i < bytes; i++) {
            depth += (line[i] == '{') - (line[i] == '}');
        }
        line += bytes + (line[bytes] == '\n');
    }
}

void batch_text_add(krf__str *out, const char *source, const char *name, size_t number) {
    for_each(out, source, name, number, true);
    krf__str_put(out, source);
    krf__str_char(out, '\n');
    for_each(out, source, name, number, false);
}
