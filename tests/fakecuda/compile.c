/* Runs the host's C++ compiler. Text and messages travel in memory files, so that nothing can block and no name is in
 * the result, which is the same each time. */
#include "calls.h"
#include "image_file.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { MAX_ARGUMENTS = 64 };

/* -O0 gives the least time in all: a kernel runs for less than its optimizer. Vague linkage stays out of the process's
 * way: images with kernels of the same name are loaded side by side, and must go away when they are closed. */
static const char *const fixed[] = {"-w",         "-fPIC",
                                    "-shared",    "-nostdlib",
                                    "-pipe",      "-ffp-contract=off",
                                    "-std=c++17", "-fvisibility=hidden",
                                    "-fno-rtti",  "-fno-exceptions",
                                    "-O0",        "-Wl,-z,start-stop-visibility=hidden"};

/* Splits words off a copy of text, which the caller frees. */
static char *add_words(const char *text, const char **arguments, int *n) {
    char *copy = strdup(text), *rest = copy;
    for (char *word = strtok_r(copy, " ", &rest); word && *n < MAX_ARGUMENTS - 24; word = strtok_r(NULL, " ", &rest)) {
        arguments[(*n)++] = word;
    }
    return copy;
}

static unsigned char *read_all(int file, size_t *bytes) {
    struct stat about;
    if (file < 0 || fstat(file, &about) != 0) {
        return NULL;
    }
    *bytes = (size_t)about.st_size;
    unsigned char *data = malloc(*bytes + 1);
    for (size_t at = 0; data && at < *bytes;) {
        ssize_t n = pread(file, data + at, *bytes - at, (off_t)at);
        if (n <= 0) {
            free(data);
            return NULL;
        }
        at += (size_t)n;
    }
    if (data) {
        data[*bytes] = '\0';
    }
    return data;
}

static int memory_file(const char *name, const char *text, size_t bytes) {
    int file = memfd_create(name, MFD_CLOEXEC);
    if (file < 0 || write(file, text, bytes) != (ssize_t)bytes || lseek(file, 0, SEEK_SET) != 0) {
        fake_die("no memory file: %s", strerror(errno));
    }
    return file;
}

/* The exit status; -1 when it did not start. */
static int run(const char *const *arguments, int input, int messages) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    pid_t child;
    int status = -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, messages, STDERR_FILENO);
    posix_spawnattr_init(&attributes);
    if (posix_spawnp(&child, arguments[0], &actions, &attributes, (char *const *)(uintptr_t)arguments, environ) == 0) {
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
        status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return status;
}

unsigned char *fake_compile(const fake_job *job, size_t *bytes, char **log) {
    const char *arguments[MAX_ARGUMENTS], *compiler = getenv("FAKECUDA_CXX"), *flags = getenv("FAKECUDA_CXXFLAGS");
    int n = 0;
    char *compiler_words = add_words(compiler && *compiler ? compiler : "c++", arguments, &n);
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        arguments[n++] = fixed[i];
    }
    char *flag_words = add_words(flags ? flags : "", arguments, &n), *own_words = add_words(job->flags ? job->flags : "", arguments, &n);
    char output[256];
    snprintf(output, sizeof output, "%s/fakecuda-XXXXXX", fake_folder());
    int file = mkostemp(output, O_CLOEXEC);
    if (file < 0) {
        fake_die("%s: %s", output, strerror(errno));
    }
    close(file);
    if (job->to_assembly) {
        arguments[n++] = "-S";
    }
    if (!job->assembly) {
        arguments[n++] = "-include";
        arguments[n++] = FAKECUDA_SIM_HEADER;
    }
    arguments[n++] = "-x";
    arguments[n++] = job->assembly ? "assembler" : "c++";
    arguments[n++] = "-";
    arguments[n++] = "-o";
    arguments[n++] = output;
    arguments[n] = NULL;

    int input = memory_file("kernel", job->text, job->bytes), messages = memory_file("messages", "", 0);
    int status = run(arguments, input, messages);
    size_t log_bytes = 0;
    *log = (char *)read_all(messages, &log_bytes);
    unsigned char *result = NULL;
    if (status == 0) {
        file = open(output, O_RDONLY | O_CLOEXEC);
        result = read_all(file, bytes);
        close(file);
    } else if (status < 0 || status == 127) {
        fake_die("the compiler %s does not run: set FAKECUDA_CXX", arguments[0]);
    }
    unlink(output);
    close(input);
    close(messages);
    free(compiler_words);
    free(flag_words);
    free(own_words);
    return result;
}
