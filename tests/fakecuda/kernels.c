/* Finds the kernels of a text: `extern "C" __global__ void [__cluster_dims__(...)] [__launch_bounds__(...)] NAME(`. */
#include "kernels.h"

#include "calls.h"
#include "image_file.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_letter(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Whether `extern "C"` stands on a line before, or a block of it was opened. */
static bool behind_extern(const char *source, const char *at) {
    static const char mark[] = "extern \"C\"";
    const char *opened = strstr(source, mark);
    while (opened && opened < at) {
        const char *next = opened + sizeof mark - 1;
        next += strspn(next, " \t\r\n");
        if (next == at || *next == '{') {
            return true;
        }
        opened = strstr(next, mark);
    }
    return false;
}

/* The next kernel from *at on; its length, 0 when there is none. Only extern "C" kernels have their own names. */
static size_t next_kernel(const char *source, const char **at, const char **name, unsigned *cluster) {
    static const char mark[] = "__global__";
    static const char *const attributes[] = {"__launch_bounds__", FAKE_CLUSTER};
    const char *found;
    while ((found = strstr(*at, mark)) != NULL) {
        const char *line = found, *c = found + sizeof mark - 1;
        while (line > *at && line[-1] != '\n') {
            line--;
        }
        bool plain = memmem(line, (size_t)(found - line), "extern \"C\"", 10) != NULL || behind_extern(source, found);
        size_t length = 0;
        *at = c;
        *cluster = 1;
        while (*c && *c != '(') {
            if (!is_letter(*c)) {
                c++;
                continue;
            }
            *name = c;
            for (length = 0; is_letter(c[length]);) {
                length++;
            }
            c += length;
            for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
                if (length == strlen(attributes[i]) && strncmp(*name, attributes[i], length) == 0) {
                    *cluster = i == 1 ? (unsigned)strtoul(c + strspn(c, " ("), NULL, 10) : *cluster;
                    c += strcspn(c, ")");
                    c += *c == ')';
                }
            }
        }
        if (plain && *c == '(' && length > 0) {
            *at = c;
            return length;
        }
    }
    return 0;
}

static FILE *open_text(char **text, size_t *bytes) {
    FILE *out = open_memstream(text, bytes);
    if (!out) {
        fake_die("out of host memory");
    }
    return out;
}

static void close_text(FILE *out) {
    if (fclose(out) != 0) {
        fake_die("out of host memory");
    }
}

/* `extern __shared__ float x[];` names dynamic shared memory: here `extern float x[]` of one place that all of them share. False: there is none. */
static bool put_source(const char *source, FILE *out) {
    static const char first[] = "extern", second[] = "__shared__";
    bool any = false;
    for (const char *at = source; *at;) {
        const char *found = strstr(at, first), *word = found ? found + sizeof first - 1 : NULL;
        word = word ? word + strspn(word, " \t\r\n") : NULL;
        const char *end = word && strncmp(word, second, sizeof second - 1) == 0 ? strchr(word, ';') : NULL;
        if (!end) {
            word = word ? word : at + strlen(at);
            fwrite(at, 1, (size_t)(word - at), out);
            at = word;
            continue;
        }
        fwrite(at, 1, (size_t)(word - at), out);
        word += sizeof second - 1;
        fwrite(word, 1, (size_t)(end - word), out);
        fputs(" __asm__(\"fakecuda_dynamic\")", out);
        at = end;
        any = true;
    }
    return any;
}

char *fake_wrap(const char *source, const char *file) {
    static const char *const waiting[] = {"__syncthreads", "__shfl", "__shared__", "__cluster_barrier", "__syncwarp", "__ballot_sync", "__any_sync", "__all_sync"};
    char *text;
    size_t bytes, length;
    const char *at = source, *name;
    unsigned n = 0, cluster;
    bool waits = false, dynamic = false;
    for (size_t i = 0; i < sizeof waiting / sizeof *waiting; i++) {
        waits |= strstr(source, waiting[i]) != NULL;
    }
    FILE *out = open_text(&text, &bytes);
    fprintf(out, "#line 1 \"%s\"\n", file);
    dynamic = put_source(source, out);
    fprintf(out, "\n#line 1 \"fakecuda\"\nstatic const fakecuda_kernel fakecuda_kernels[] = {\n");
    while ((length = next_kernel(source, &at, &name, &cluster)) > 0) {
        fprintf(out, "FAKECUDA_KERNEL(%.*s, %u)\n", (int)length, name, cluster);
        n++;
    }
    fprintf(out, "{0, 0, 0, 0, 0}};\n");
    if (dynamic) {
        fprintf(out, "extern \"C\" { __attribute__((visibility(\"hidden\"), aligned(256))) char fakecuda_dynamic[FAKECUDA_DYNAMIC]; }\n");
    }
    fprintf(out, "FAKECUDA_IMAGE(%u, %s, %s)\n", n, waits ? "true" : "false", dynamic ? "fakecuda_dynamic" : "0");
    close_text(out);
    return text;
}

char *fake_messages(const char *messages) {
    char *text;
    size_t bytes;
    FILE *out = open_text(&text, &bytes);
    for (const char *line = messages; line && *line;) {
        size_t length = strcspn(line, "\n");
        const char *error = memmem(line, length, ": error: ", 9);
        const char *colon = error ? memchr(line, ':', (size_t)(error - line)) : NULL;
        if (colon) {
            fprintf(out, "%.*s(%ld): %.*s\n", (int)(colon - line), line, strtol(colon + 1, NULL, 10),
                    (int)(line + length - error - 2), error + 2);
        }
        line += length + (line[length] == '\n');
    }
    close_text(out);
    if (bytes == 0 && messages) {
        free(text);
        text = strdup(messages);
    }
    return text;
}

char *fake_ptx(const char *source, unsigned arch, const char *assembly) {
    char *text;
    size_t bytes, length;
    const char *at = source, *name;
    unsigned cluster;
    FILE *out = open_text(&text, &bytes);
    fprintf(out, "%s# .target sm_%u\n", FAKE_PTX_HEAD, arch);
    while ((length = next_kernel(source, &at, &name, &cluster)) > 0) {
        fprintf(out, "# .visible .entry %.*s\n", (int)length, name);
    }
    fprintf(out, "%s%s", assembly, FAKE_PTX_TAIL);
    close_text(out);
    return text;
}
