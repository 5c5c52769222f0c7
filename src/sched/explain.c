/* Reads compilers' messages: gcc and clang write "gauss:3:9: error: ...", NVRTC "gauss(3): error: ..."; definitions' names are the files of their bodies (#line). */
#include "sched/explain.h"

#include "base/fail.h"
#include "base/mem.h"
#include "base/strbuf.h"

#include <stdlib.h>
#include <string.h>

/* The first line of the message about line *line of the definition's body that says error, and where its text begins; NULL: none. */
static const char *find_line(const char *message, const krf_op *op, int *line) {
    const size_t length = strlen(op->name);
    for (const char *at = strstr(message, op->name); at != NULL; at = strstr(at + 1, op->name)) {
        const char mark = at[length];
        char *end = NULL;
        const bool begins = at == message || strchr(" \n", at[-1]) != NULL;
        if (!begins || (mark != ':' && mark != '(')) {
            continue;
        }
        const long found = strtol(at + length + 1, &end, 10);
        const char *newline = strchr(at, '\n'), *error = strstr(at, "error");
        if (end != at + length + 1 && found > 0 && found < 1000000 && error != NULL && (newline == NULL || error < newline)) {
            *line = (int)found;
            return error;
        }
    }
    return NULL;
}

static bool explain(const char *message, const krf_op *op, const char *kernel) {
    int line = 0;
    const char *error = find_line(message, op, &line), *text = op->body;
    for (int i = 0; error == NULL && i < op->n_calls; i++) {
        if (explain(message, op->calls[i], kernel)) {
            return true;
        }
    }
    if (error == NULL) {
        return false;
    }
    for (int i = 1; i < line && text != NULL; i++) {
        text = strchr(text, '\n');
        text = text != NULL ? text + 1 : NULL;
    }
    const char *shown = text != NULL ? text : "";
    krf__fail(KRF_E_COMPILE, "%s, line %d: %.*s\n    %.*s\n(in %s)", op->name, line, (int)strcspn(error, "\n"), error, (int)strcspn(shown, "\n"), shown, kernel);
    return true;
}

krf_status krf__explain_compile(const krf__kernel *kernel) {
    char *message = krf__strdup(krf_error_message());
    bool found = message == NULL;
    for (uint32_t i = 0; i < kernel->n_ops && !found; i++) {
        found = explain(message, kernel->ops[i], kernel->name);
    }
    krf__mem_free(message);
    return KRF_E_COMPILE;
}

krf_status krf__explain_missing(const krf__kernel *kernel) {
    return krf__fail(KRF_E_COMPILE,
                     "%s: the body of %s is C, and there is no C compiler (KRF_CC, CC, cc, gcc, clang) to compile it: install one (Debian: apt install gcc)", kernel->name,
                     kernel->ops[0]->name);
}

krf_status krf__explain_wide_scan(const krf__kernel *kernel) {
    return krf__fail(KRF_E_ARGUMENT, "%s: on CUDA a scan's accumulator has one field, and that of %s has %u: reduce, or scan on the CPU", kernel->name,
                     krf__result_of(kernel->instrs[kernel->n_domain].value)->op->name, krf__accumulator_words(kernel, 0));
}
