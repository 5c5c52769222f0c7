/* Finds the kernels of a text: `extern "C" __global__ void [__cluster_dims__(...)] [__launch_bounds__(...)] NAME(`. */
#include "kernels.h"

#include "calls.h"
#include "image_file.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_letter(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* The next kernel from *at on; its length, 0 when there is none. Only extern "C" kernels have their own names. */
static size_t next_kernel(const char **at, const char **name, unsigned *cluster) {
    static const char mark[] = "__global__";
    static const char *const attributes[] = {"__launch_bounds__", FAKE_CLUSTER};
    const char *found;
    while ((found = strstr(*at, mark)) != NULL) {
        const char *line = found, *c = found + sizeof mark - 1;
        while (line > *at && line[-1] != '\n') {
            line--;
        }
        bool plain = memmem(line, (size_t)(found - line), "extern \"C\"", 10) != NULL;
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

char *fake_wrap(const char *source, const char *file) {
    static const char *const waiting[] = {"__syncthreads", "__shfl", "__shared__", "__cluster_barrier"};
    char *text;
    size_t bytes, length;
    const char *at = source, *name;
    unsigned n = 0, cluster;
    bool waits = false;
    for (size_t i = 0; i < sizeof waiting / sizeof *waiting; i++) {
        waits |= strstr(source, waiting[i]) != NULL;
    }
    FILE *out = open_text(&text, &bytes);
    fprintf(out, "#line 1 \"%s\"\n%s\n#line 1 \"fakecuda\"\nstatic const fakecuda_kernel fakecuda_kernels[] = {\n",
            file, source);
    while ((length = next_kernel(&at, &name, &cluster)) > 0) {
        fprintf(out, "FAKECUDA_KERNEL(%.*s, %u)\n", (int)length, name, cluster);
        n++;
    }
    fprintf(out, "{0, 0, 0, 0, 0}};\nFAKECUDA_IMAGE(%u, %s)\n", n, waits ? "true" : "false");
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
    while ((length = next_kernel(&at, &name, &cluster)) > 0) {
        fprintf(out, "# .visible .entry %.*s\n", (int)length, name);
    }
    fprintf(out, "%s%s", assembly, FAKE_PTX_TAIL);
    close_text(out);
    return text;
}
