/* Counting, failing on demand and complaining, for both doubles. */
#include "calls.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FAILURES = 64, STATUS = 99 };

typedef struct failure {
    int entry;
    unsigned n, code;
    bool onwards;
} failure;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static failure failures[MAX_FAILURES];
static atomic_int n_failures; /* read without the lock, so that calls of several threads stay unordered */

long fake_setting(const char *name, long otherwise) {
    const char *text = getenv(name);
    return text && *text ? strtol(text, NULL, 0) : otherwise;
}

const char *fake_folder(void) {
    const char *chosen = getenv("FAKECUDA_TMPDIR"), *usual = getenv("TMPDIR");
    if (chosen && *chosen) {
        mkdir(chosen, 0777); /* or it is there */
        return chosen;
    }
    return usual && *usual ? usual : "/tmp";
}

static void complain(const char *format, va_list arguments) {
    char line[1024];
    int n = snprintf(line, sizeof line, "fakecuda: ");
    vsnprintf(line + n, sizeof line - (size_t)n, format, arguments);
    fprintf(stderr, "%s\n", line);
}

void fake_die(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    complain(format, arguments);
    va_end(arguments);
    _exit(STATUS);
}

unsigned fake_misuse(unsigned code, const char *format, ...) {
    if (fake_setting("FAKECUDA_STRICT", 1) == 0) {
        return code;
    }
    va_list arguments;
    va_start(arguments, format);
    complain(format, arguments);
    va_end(arguments);
    _exit(STATUS);
}

/* ---- failing ---- */

static int find(const char *name, size_t length) {
    for (int i = 0; i < fake_entry_count; i++) {
        if (strncmp(fake_entries[i].name, name, length) == 0 && fake_entries[i].name[length] == '\0') {
            return i;
        }
    }
    return -1;
}

static void add(int entry, unsigned n, bool onwards, unsigned code) {
    pthread_mutex_lock(&lock);
    int count = atomic_load(&n_failures);
    if (count == MAX_FAILURES) {
        fake_die("more than %d failures were asked for", MAX_FAILURES);
    }
    failures[count] = (failure){entry, n, code, onwards};
    atomic_store(&n_failures, count + 1);
    pthread_mutex_unlock(&lock);
}

/* "entry:n:code,entry:n+:code": the other library's entries are its own business. */
static void read_environment(void) {
    const char *at = getenv("FAKECUDA_FAIL");
    while (at && *at) {
        size_t length = strcspn(at, ":,");
        int entry = find(at, length);
        if (at[length] != ':') {
            fake_die("FAKECUDA_FAIL is a list of entry:n:code, not '%s'", at);
        }
        char *end;
        unsigned n = (unsigned)strtoul(at + length + 1, &end, 10);
        bool onwards = *end == '+';
        end += onwards;
        if (*end != ':' || n == 0) {
            fake_die("FAKECUDA_FAIL is a list of entry:n:code, n from 1 on, not '%s'", at);
        }
        unsigned code = (unsigned)strtoul(end + 1, &end, 10);
        if (entry >= 0) {
            add(entry, n, onwards, code);
        }
        at = *end == ',' ? end + 1 : end;
        if (*end != ',' && *end != '\0') {
            fake_die("FAKECUDA_FAIL: '%s' is no code", end);
        }
    }
}

unsigned fake_call(int entry) {
    pthread_once(&once, read_environment);
    unsigned n = atomic_fetch_add_explicit(&fake_entries[entry].calls, 1, memory_order_relaxed) + 1;
    int count = atomic_load_explicit(&n_failures, memory_order_acquire);
    for (int i = 0; i < count; i++) {
        const failure *f = &failures[i];
        if (f->entry == entry && (f->onwards ? n >= f->n : n == f->n)) {
            return f->code;
        }
    }
    return 0;
}

/* ---- for tests ---- */

static int must_find(const char *name) {
    int entry = find(name, strlen(name));
    if (entry < 0) {
        fake_die("%s is no entry point of this library", name);
    }
    return entry;
}

unsigned fakecuda_calls(const char *entry) {
    return atomic_load_explicit(&fake_entries[must_find(entry)].calls, memory_order_relaxed);
}

void fakecuda_fail(const char *entry, unsigned n, unsigned code) { add(must_find(entry), n, false, code); }
void fakecuda_fail_from(const char *entry, unsigned n, unsigned code) { add(must_find(entry), n, true, code); }

void fakecuda_reset(void) {
    pthread_once(&once, read_environment);
    atomic_store(&n_failures, 0);
    for (int i = 0; i < fake_entry_count; i++) {
        atomic_store(&fake_entries[i].calls, 0);
    }
    fake_reset_more();
}

/* Each process appends its counts, those that are not 0, in one write for each library. */
__attribute__((destructor)) static void write_counts(void) {
    const char *path = getenv("FAKECUDA_COUNTS");
    char text[8192];
    size_t length = 0;
    if (!path || !*path) {
        return;
    }
    for (int i = 0; i < fake_entry_count; i++) {
        unsigned calls = atomic_load(&fake_entries[i].calls);
        if (calls > 0 && length + 80 < sizeof text) {
            length += (size_t)snprintf(text + length, sizeof text - length, "%s %u\n", fake_entries[i].name, calls);
        }
    }
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file < 0 || write(file, text, length) != (ssize_t)length) {
        perror(path);
    }
    if (file >= 0) {
        close(file);
    }
}
