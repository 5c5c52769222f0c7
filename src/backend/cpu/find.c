/* Which C compiler, and who it is: the command is taken from the option, KRF_CC, CC, or the usual names along PATH, and
 * identified by its files' inode, size and time of change. Running it with --version would cost up to 18 ms and tell
 * less. See compiler.h; compiler.c runs it. */
#include "backend/cpu/compiler.h"

#include "base/fail.h"
#include "base/mem.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TIMEOUT_MS 60000

/* Strict: every operation rounds as written, and nothing is assumed about values. errno and traps do not exist for a
 * kernel, and without those two flags gcc keeps sqrt and floor scalar. A kernel needs none of what begins and ends a
 * library, nor pages apart for what is not code: a sixth of the time, and two thirds of the file, are theirs. gcc writes
 * out every loop of up to 16 turns; a quarter of the time goes there, and loops that gain by it say so. gcc 12 takes an
 * address that it has made a sum without a base for a null pointer, the function that stores there for one without an
 * effect, and leaves out its calls (two scans of i8 in one kernel): where null is an address like others, it does not. A loop
 * of a few instructions that crosses a line of the processor's decoded ones takes up to 1.4 times as long: means of rows of 1,000. */
#define FLAGS "-std=c11 -O3 -falign-loops=32 --param max-completely-peel-times=4 -fno-delete-null-pointer-checks -ffp-contract=off -fno-math-errno -fno-trapping-math -fPIC -shared -nostdlib -Wl,-z,noseparate-code -w"

static bool is_program(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode) && access(path, X_OK) == 0;
}

/* The name made absolute (a later chdir must not change it), but with the last part as it is: ccache and busybox look
 * at the name that they are called by, so links are not followed here. False when out of memory. */
static bool absolute(const char *path, char **found) {
    char folder[PATH_MAX];
    krf__str text = {0};
    if (path[0] != '/' && getcwd(folder, sizeof folder) == NULL) {
        return true;
    }
    krf__str_put(&text, path[0] == '/' ? "" : folder);
    krf__str_put(&text, path[0] == '/' ? "" : "/");
    krf__str_put(&text, path);
    *found = krf__str_take(&text);
    return *found != NULL;
}

bool krf__find_program(const char *name, size_t length, char **found) {
    krf__str candidate = {0};
    bool enough = true;
    *found = NULL;
    if (memchr(name, '/', length) != NULL) {
        krf__str_putn(&candidate, name, length);
        enough = !candidate.failed && (!is_program(candidate.data) || absolute(candidate.data, found));
        krf__str_free(&candidate);
        return enough;
    }
    const char *folders = secure_getenv("PATH"); /* a set-uid program must not run what its caller's PATH names */
    folders = folders != NULL ? folders : "/usr/local/bin:/usr/bin:/bin";
    while (length > 0 && enough && *found == NULL && *folders != '\0') {
        size_t n = strcspn(folders, ":");
        if (n > 0 && folders[0] == '/') { /* never the current folder */
            krf__str_clear(&candidate);
            krf__str_putn(&candidate, folders, n);
            krf__str_char(&candidate, '/');
            krf__str_putn(&candidate, name, length);
            enough = !candidate.failed && (!is_program(candidate.data) || absolute(candidate.data, found));
        }
        folders += n + (folders[n] == ':');
    }
    krf__str_free(&candidate);
    return enough;
}

/* ---- lists of words ---- */

static void free_words(char **words) {
    for (size_t i = 0; words != NULL && words[i] != NULL; i++) {
        krf__mem_free(words[i]);
    }
    krf__mem_free(words);
}

/* Splits at blanks. NULL when out of memory. */
static char **split(const char *text) {
    char **words = krf__calloc(strlen(text) / 2 + 2, sizeof *words);
    size_t count = 0;
    while (words != NULL && *(text += strspn(text, " \t\n")) != '\0') {
        size_t n = strcspn(text, " \t\n");
        krf__str word = {0};
        krf__str_putn(&word, text, n);
        words[count] = krf__str_take(&word);
        if (words[count++] == NULL) {
            free_words(words);
            return NULL;
        }
        text += n;
    }
    return words;
}

/* Variables that are meant for this process, or that make a compiler write files of its own. */
static bool is_ours_alone(const char *variable) {
    static const char *const names[] = {"LD_PRELOAD",
                                        "LD_AUDIT",
                                        "ASAN_OPTIONS",
                                        "LSAN_OPTIONS",
                                        "UBSAN_OPTIONS",
                                        "TSAN_OPTIONS",
                                        "MSAN_OPTIONS",
                                        "LC_ALL",
                                        "TMPDIR",
                                        "DEPENDENCIES_OUTPUT",
                                        "SUNPRO_DEPENDENCIES",
                                        "CCC_OVERRIDE_OPTIONS",
                                        "CC_PRINT_OPTIONS"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t n = strlen(names[i]);
        if (strncmp(variable, names[i], n) == 0 && variable[n] == '=') {
            return true;
        }
    }
    return false;
}

/* A copy, made while the program opens the device: later another thread may be changing the environment. */
static char **copy_environment(void) {
    size_t count = 0, kept = 0;
    while (environ != NULL && environ[count] != NULL) {
        count++;
    }
    char **copy = krf__calloc(count + 2, sizeof *copy);
    for (size_t i = 0; copy != NULL && i <= count; i++) {
        const char *variable = i < count ? environ[i] : "LC_ALL=C"; /* messages in ASCII */
        if (i < count && is_ours_alone(variable)) {
            continue;
        }
        copy[kept] = krf__strdup(variable);
        if (copy[kept++] == NULL) {
            free_words(copy);
            return NULL;
        }
    }
    return copy;
}

/* ---- finding ---- */

/* Takes a command whose first word is a program. A path with blanks in it may stand alone. False when out of memory. */
static bool try_command(krf__compiler *compiler, const char *command) {
    char *whole, *path;
    if (!krf__find_program(command, strlen(command), &whole)) {
        return false;
    }
    if (whole != NULL) {
        compiler->words = krf__calloc(2, sizeof *compiler->words);
        if (compiler->words == NULL) {
            krf__mem_free(whole);
            return false;
        }
        compiler->words[0] = whole;
        return true;
    }
    char **words = split(command);
    if (words == NULL) {
        return false;
    }
    bool enough = krf__find_program(words[0] != NULL ? words[0] : "", words[0] != NULL ? strlen(words[0]) : 0, &path);
    if (path == NULL) {
        free_words(words);
        return enough;
    }
    krf__mem_free(words[0]);
    words[0] = path;
    compiler->words = words;
    return true;
}

/* A compiler that was asked for by name and is not there is not replaced by another; CC is an old habit, not a wish. */
static bool find(krf__compiler *compiler, const char *command, const krf__log *log) {
    const char *asked = command != NULL ? command : secure_getenv("KRF_CC");
    if (asked != NULL && asked[0] != '\0') {
        bool done = try_command(compiler, asked);
        if (done && compiler->words == NULL) {
            krf__log_line(log, "no C compiler: \"%s\" is not a program; CPU kernels are interpreted", asked);
        }
        return done;
    }
    const char *const usual[] = {secure_getenv("CC"), "cc", "gcc", "clang"};
    for (size_t i = 0; i < sizeof usual / sizeof usual[0] && compiler->words == NULL; i++) {
        if (usual[i] != NULL && !try_command(compiler, usual[i])) {
            return false;
        }
    }
    if (compiler->words == NULL) {
        krf__log_line(log, "no C compiler (KRF_CC, CC, cc, gcc, clang); CPU kernels are interpreted");
    }
    return true;
}

krf_status krf__compiler_open(const char *command, const krf__log *log, krf__compiler *compiler) {
    *compiler = (krf__compiler){.isa = krf__isa_detect(), .timeout_ms = TIMEOUT_MS};
    krf__str flags = {0};
    krf__str_put(&flags, FLAGS " ");
    krf__str_put(&flags, compiler->isa.flags);
    compiler->flag_text = krf__str_take(&flags);
    compiler->flags = compiler->flag_text != NULL ? split(compiler->flag_text) : NULL;
    compiler->environment = copy_environment();
    if (compiler->flags == NULL || compiler->environment == NULL || !find(compiler, command, log)) {
        krf__compiler_close(compiler);
        return krf__fail_memory();
    }
    return KRF_OK;
}

void krf__compiler_close(krf__compiler *compiler) {
    free_words(compiler->words);
    free_words(compiler->flags);
    free_words(compiler->environment);
    krf__mem_free(compiler->flag_text);
    *compiler = (krf__compiler){0};
}

/* ---- identity ---- */

/* A line for one word of the command. Not only the first, the program, is looked up: in "ccache gcc" it is the second
 * that counts. A key that lacks the program's file would find kernels of another compiler: false when out of memory,
 * and where the file cannot be looked at now, the key is one that never comes again. */
static bool identify_word(const char *word, bool program, krf__str *key) {
    char *path = NULL;
    krf__str_put(key, word);
    if (word[0] != '-' && !krf__find_program(word, strlen(word), &path)) {
        return false;
    }
    char *real = path != NULL ? realpath(path, NULL) : NULL;
    struct stat about;
    if (real != NULL && stat(real, &about) == 0) {
        krf__str_printf(key, " = %s inode %lld size %lld time %lld.%09ld", real, (long long)about.st_ino,
                        (long long)about.st_size, (long long)about.st_mtim.tv_sec, (long)about.st_mtim.tv_nsec);
    } else if (program) {
        struct timespec now = {0};
        clock_gettime(CLOCK_REALTIME, &now);
        krf__str_printf(key, " unknown, process %ld time %lld.%09ld", (long)getpid(), (long long)now.tv_sec,
                        (long)now.tv_nsec);
    }
    free(real); /* from the C library, not from krf__malloc */
    krf__mem_free(path);
    krf__str_char(key, '\n');
    return true;
}

krf_status krf__compiler_identity(const krf__compiler *compiler, krf__str *key) {
    krf__str_printf(key, "isa %s\nflags %s\n", compiler->isa.name, compiler->flag_text);
    bool enough = true;
    for (size_t i = 0; enough && compiler->words != NULL && compiler->words[i] != NULL; i++) {
        krf__str_put(key, i == 0 ? "compiler " : "word ");
        enough = identify_word(compiler->words[i], i == 0, key);
    }
    return !enough || key->failed ? krf__fail_memory() : KRF_OK;
}
