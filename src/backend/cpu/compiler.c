/* Runs the C compiler on one kernel. The source is its standard input, the shared object comes out in a private folder,
 * which also holds the temporary files of the compiler and goes away with them whatever happens. See compiler.h; find.c
 * finds the compiler. */
#include "backend/cpu/compiler.h"

#include "backend/cpu/process.h"
#include "backend/cpu/scratch.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define MESSAGE_BYTES 1500

static size_t count_words(char *const *words) {
    size_t count = 0;
    while (words[count] != NULL) {
        count++;
    }
    return count;
}

/* The three lists in a row: a new array of borrowed words, or NULL. */
static char **chain(char *const *first, char *const *second, char *const *third) {
    size_t a = count_words(first), b = count_words(second), c = count_words(third);
    char **all = krf__calloc(a + b + c + 1, sizeof *all);
    if (all != NULL) {
        memcpy(all, first, a * sizeof *all);
        memcpy(all + a, second, b * sizeof *all);
        memcpy(all + a + b, third, c * sizeof *all);
    }
    return all;
}

/* What went wrong, with the compiler's own words at the end. */
static krf_status fail_ended(const krf__compiler *compiler, const char *name, krf__end end, int code,
                             const krf__str *errors) {
    const char *path = compiler->words[0];
    const char *said = errors->data != NULL ? errors->data : "";
    int length = (int)errors->length;
    while (length > 0 && said[length - 1] == '\n') {
        length--;
    }
    switch (end) {
    case KRF__END_NOT_STARTED: return krf__fail(KRF_E_COMPILE, "%s: cannot run %s: %s", name, path, strerror(code));
    case KRF__END_SIGNALLED:
        return krf__fail(KRF_E_COMPILE, "%s: %s was killed by signal %d: %.*s", name, path, code, length, said);
    case KRF__END_TIMED_OUT:
        return krf__fail(KRF_E_COMPILE, "%s: %s took longer than %d ms and was killed: %.*s", name, path,
                         compiler->timeout_ms, length, said);
    case KRF__END_EXITED:
        return krf__fail(KRF_E_COMPILE, "%s: %s failed with status %d: %.*s", name, path, code, length, said);
    case KRF__END_UNKNOWN:
    default: return krf__fail(KRF_E_COMPILE, "%s: %s left no usable output: %.*s", name, path, length, said);
    }
}

/* Compiles kernel.c in the folder into `output`. */
static krf_status run_in(const krf__compiler *compiler, const krf__scratch *folder, const char *name,
                         const char *output, bool strict) {
    krf__str variable = {0}, errors = {0};
    krf__str_put(&variable, "TMPDIR=");
    krf__str_put(&variable, folder->path);
    char *out = krf__strdup(output);
    char option_o[] = "-o", option_x[] = "-x", language[] = "c", from_input[] = "-", library[] = "-lm", helpers[] = "-lgcc";
    char pointers[] = "-Werror=incompatible-pointer-types", conversions[] = "-Werror=int-conversion";
    char *files[] = {option_o, out, option_x, language, from_input, library, helpers, strict ? conversions : NULL, NULL};
    char *temporary[] = {variable.data, NULL}, *nothing[] = {NULL};

    krf_status status = KRF_OK;
    int input = -1, code = 0;
    char **argv = out != NULL ? chain(compiler->words, compiler->flags, files) : NULL;
    char **environment = variable.failed ? NULL : chain(compiler->environment, temporary, nothing);
    if (argv == NULL || environment == NULL) {
        status = krf__fail_memory();
        goto done;
    }
    for (char **word = argv; strict && *word != NULL; word++) {
        *word = strcmp(*word, "-w") == 0 ? pointers : *word; /* without warnings there are no errors of that kind either */
    }
    input = openat(folder->fd, "kernel.c", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (input < 0) {
        status = krf__fail(KRF_E_COMPILE, "%s: cannot open the source in %s: %s", name, folder->path, strerror(errno));
        goto done;
    }
    krf__process process = {.argv = argv,
                            .environment = environment,
                            .input = input,
                            .timeout_ms = compiler->timeout_ms,
                            .keep = MESSAGE_BYTES};
    krf__end end = krf__process_run(&process, &errors, &code);
    /* Where a host takes its children's status from under us, the output tells: a linker writes it last. */
    bool wrote = end == KRF__END_UNKNOWN && faccessat(folder->fd, "kernel.so", F_OK, 0) == 0;
    if (!wrote && !(end == KRF__END_EXITED && code == 0)) {
        status = fail_ended(compiler, name, end, code, &errors);
    }
done:
    if (input >= 0) {
        close(input);
    }
    krf__mem_free(environment);
    krf__mem_free(argv);
    krf__mem_free(out);
    krf__str_free(&errors);
    krf__str_free(&variable);
    return status;
}

krf_status krf__compiler_run(const krf__compiler *compiler, const char *source, const char *name, void **image,
                             size_t *bytes) {
    *image = NULL;
    *bytes = 0;
    if (compiler->words == NULL) {
        return krf__fail(KRF_E_COMPILE, "%s: there is no C compiler (KRF_CC, CC, cc, gcc, clang)", name);
    }
    krf__scratch folder;
    int error = krf__scratch_open(&folder);
    if (error != 0) {
        return error == ENOMEM ? krf__fail_memory()
                               : krf__fail(KRF_E_COMPILE, "%s: cannot make a temporary folder: %s", name,
                                           strerror(error));
    }
    krf__str output = {0};
    krf__str_put(&output, folder.path);
    krf__str_put(&output, "/kernel.so");
    krf_status status = KRF_OK;
    error = krf__scratch_write(&folder, "kernel.c", source, strlen(source));
    if (output.failed || error == ENOMEM) {
        status = krf__fail_memory();
    } else if (error != 0) {
        status = krf__fail(KRF_E_COMPILE, "%s: cannot write to %s: %s", name, folder.path, strerror(error));
    } else {
        status = run_in(compiler, &folder, name, output.data, strstr(source, KRF__STRICT_POINTERS) != NULL);
    }
    if (status == KRF_OK) {
        error = krf__file_read(folder.fd, "kernel.so", true, image, bytes);
        if (error != 0) {
            status = krf__fail(error == ENOMEM ? KRF_E_MEMORY : KRF_E_COMPILE, "%s: %s left no output: %s", name,
                               compiler->words[0], strerror(error));
        }
    }
    krf__str_free(&output);
    krf__scratch_close(&folder);
    return status;
}
