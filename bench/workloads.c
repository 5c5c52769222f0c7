#include "workloads.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char message[256];

static const char *failed(const char *what, const char *name) {
    snprintf(message, sizeof message, "%s: %s", name, what);
    return message;
}

static char *read_whole(const char *path) {
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t length = 0, got = 1;
    while (file != NULL && got > 0) {
        char *more = realloc(text, length + 65536 + 1);
        if (more == NULL) {
            free(text);
            text = NULL;
            break;
        }
        text = more;
        got = fread(text + length, 1, 65536, file);
        length += got;
        text[length] = '\0';
    }
    if (file != NULL) {
        fclose(file);
    }
    return text;
}

static size_t word_length(const char *p) {
    size_t n = 0;
    while (isalnum((unsigned char)p[n]) || p[n] == '_') {
        n++;
    }
    return n;
}

static bool copy_word(char to[BENCH_NAME], const char *from, size_t n) {
    if (n == 0 || n >= BENCH_NAME) {
        return false;
    }
    memcpy(to, from, n);
    to[n] = '\0';
    return true;
}

/* "NAME n=8192 best=PEER math", ended by '\0'. */
static const char *read_head(char *line, int64_t scale, bench_workload *w) {
    char *rest = NULL;
    for (char *word = strtok_r(line, " \t", &rest); word != NULL; word = strtok_r(NULL, " \t", &rest)) {
        char *equals = strchr(word, '='), *end = NULL;
        if (w->name[0] == '\0') {
            if (!copy_word(w->name, word, strlen(word))) {
                return failed("a name is too long", word);
            }
        } else if (strcmp(word, "math") == 0) {
            w->math = true;
        } else if (equals == NULL || w->n_sizes == BENCH_SIZES) {
            return failed("expected a size, best=... or math", word);
        } else if (strncmp(word, "best=", 5) != 0) {
            int64_t size = strtoll(equals + 1, &end, 10);
            size = w->n_sizes > 0 || size < 1 ? size : size < scale ? 1 : size / scale;
            if (*end != '\0' || size < 1 || !copy_word(w->size_names[w->n_sizes], word, (size_t)(equals - word))) {
                return failed("a size is a name and a number above 0", word);
            }
            w->sizes[w->n_sizes++] = size;
        }
    }
    return NULL;
}

/* "8192" or a size's name; 0 for neither. */
static int64_t extent(const bench_workload *w, const char *p, size_t n) {
    for (int i = 0; i < w->n_sizes; i++) {
        if (strlen(w->size_names[i]) == n && memcmp(w->size_names[i], p, n) == 0) {
            return w->sizes[i];
        }
    }
    return isdigit((unsigned char)*p) ? strtoll(p, NULL, 10) : 0;
}

/* "x: f32[n, 64]" */
static const char *read_declaration(bench_workload *w, const char *p) {
    char dtype[BENCH_NAME];
    bench_input *input = &w->inputs[w->n_inputs];
    size_t n = word_length(p);
    if (w->n_inputs == BENCH_INPUTS || !copy_word(input->name, p, n)) {
        return failed("more or longer inputs than expected", w->name);
    }
    for (p += n + 1; *p == ' '; p++) {}
    n = word_length(p);
    if (!copy_word(dtype, p, n) || !krf_dtype_from_name(dtype, &input->dtype)) {
        return failed("an input's dtype", w->name);
    }
    p += n;
    while (*p == '[' || *p == ',') {
        for (p++; *p == ' '; p++) {}
        n = word_length(p);
        if (input->rank == KRF_MAX_RANK || (input->shape[input->rank++] = extent(w, p, n)) < 1) {
            return failed("an input's extent", w->name);
        }
        p += n;
    }
    if (input->rank == 0 || *p != ']') {
        return failed("an input has its extents in brackets", w->name);
    }
    w->n_inputs++;
    return NULL;
}

static const char *read_declarations(bench_workload *w) {
    const char *error = NULL;
    for (const char *p = w->program; error == NULL && *p != '\0'; p += *p != '\0') {
        p += strspn(p, " \t");
        error = p[word_length(p)] == ':' && word_length(p) > 0 ? read_declaration(w, p) : NULL;
        p += strcspn(p, "\n;");
    }
    return error;
}

static const char *add_workload(bench_workloads *list, char *head, int64_t scale) {
    bench_workload *more = realloc(list->of, sizeof *more * ((size_t)list->n + 1));
    if (more == NULL) {
        return failed("out of memory", head);
    }
    list->of = more;
    more[list->n] = (bench_workload){.program = NULL};
    return read_head(head, scale, &more[list->n++]);
}

const char *bench_workloads_read(const char *path, int64_t scale, bench_workloads *list) {
    const char *error = NULL;
    *list = (bench_workloads){.memory = read_whole(path)};
    if (list->memory == NULL) {
        return failed("cannot be read", path);
    }
    char *next = NULL;
    for (char *line = list->memory; error == NULL && line != NULL; line = next) {
        next = strchr(line, '\n');
        const bool program = *line == ' ';
        if (program && list->n > 0 && list->of[list->n - 1].program == NULL) {
            list->of[list->n - 1].program = line;
        }
        /* A program ends where a line begins that is none: with the newline before it. */
        if (!program && line > list->memory && list->n > 0) {
            line[-1] = '\0';
        }
        if (next != NULL) {
            next++;
        }
        if (!program && *line != '#' && *line != '\n' && *line != '\0') {
            if (next != NULL) {
                next[-1] = '\0';
            }
            error = add_workload(list, line, scale);
        }
    }
    for (int i = 0; error == NULL && i < list->n; i++) {
        error = list->of[i].program == NULL ? failed("has no program", list->of[i].name) : read_declarations(&list->of[i]);
    }
    if (error != NULL) {
        bench_workloads_free(list);
    }
    return error;
}

void bench_workloads_free(bench_workloads *list) {
    free(list->of);
    free(list->memory);
    *list = (bench_workloads){.of = NULL};
}
