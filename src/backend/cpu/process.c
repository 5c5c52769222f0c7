/* Runs a program: see process.h. The child is made the leader of a process group, so that a compiler that hangs is
 * killed together with the assembler and linker that it started. Its end is noticed by the end of file on its standard
 * error, which comes at once, and else by asking every 50 ms (somebody may have inherited that pipe and hold it). */
#include "backend/cpu/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ms(void) {
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Moves a descriptor above the standard ones: in a program that closed those, redirecting would overwrite it. */
static int move_up(int fd) {
    if (fd < 0 || fd > 2) {
        return fd;
    }
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    int error = errno;
    close(fd);
    errno = error;
    return moved;
}

/* A pipe, closed on exec, that is read without blocking. */
static int open_pipe(int ends[2]) {
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return errno;
    }
    ends[0] = move_up(ends[0]);
    ends[1] = move_up(ends[1]);
    if (ends[0] >= 0 && ends[1] >= 0 && fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0) {
        return 0;
    }
    int error = errno;
    for (int i = 0; i < 2; i++) {
        if (ends[i] >= 0) {
            close(ends[i]);
        }
    }
    return error;
}

static int set_files(posix_spawn_file_actions_t *files, int input, int errors) {
    int error = posix_spawn_file_actions_adddup2(files, input, 0);
    if (error == 0) {
        error = posix_spawn_file_actions_addopen(files, 1, "/dev/null", O_WRONLY, 0);
    }
    if (error == 0) {
        error = posix_spawn_file_actions_adddup2(files, errors, 2);
    }
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
    if (error == 0) { /* the host's sockets and files are not the compiler's business */
        error = posix_spawn_file_actions_addclosefrom_np(files, 3);
    }
#endif
    return error;
}

/* A group of its own, no signal blocked, and every signal as by default: whoever ignores SIGCHLD would pass that on. */
static int set_attributes(posix_spawnattr_t *attributes) {
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    sigdelset(&all, SIGKILL);
    sigdelset(&all, SIGSTOP);
    int error = posix_spawnattr_setpgroup(attributes, 0);
    if (error == 0) {
        error = posix_spawnattr_setsigmask(attributes, &none);
    }
    if (error == 0) {
        error = posix_spawnattr_setsigdefault(attributes, &all);
    }
    return error != 0 ? error
                      : posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK
                                                                 | POSIX_SPAWN_SETSIGDEF);
}

static int start(const krf__process *process, int input, int errors, pid_t *child) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&files);
    if (error != 0) {
        return error;
    }
    error = posix_spawnattr_init(&attributes);
    if (error == 0) {
        error = set_files(&files, input, errors);
        if (error == 0) {
            error = set_attributes(&attributes);
        }
        if (error == 0) {
            error = posix_spawn(child, process->argv[0], &files, &attributes, process->argv, process->environment);
        }
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    return error;
}

/* Reads what there is. False at the end of the file. */
static bool drain(int fd, krf__str *errors, size_t keep) {
    for (;;) {
        char buffer[4096];
        ssize_t got = read(fd, buffer, sizeof buffer);
        if (got == 0) {
            return false;
        }
        if (got < 0 && errno != EINTR) {
            return errno == EAGAIN || errno == EWOULDBLOCK;
        }
        if (got > 0 && errors->length < keep) { /* the rest is read too, or the child would wait for ever */
            size_t space = keep - errors->length;
            krf__str_putn(errors, buffer, (size_t)got < space ? (size_t)got : space);
        }
    }
}

static void stop(pid_t child) {
    kill(-child, SIGKILL);
    kill(child, SIGKILL); /* in case it is not yet in its group */
}

/* Whether the child is gone; if so, how. */
static bool reap(pid_t child, int options, krf__end *end, int *code) {
    int status = 0;
    pid_t got;
    do {
        got = waitpid(child, &status, options);
    } while (got < 0 && errno == EINTR);
    if (got == 0) {
        return false;
    }
    if (got < 0 && errno != ECHILD) { /* nobody can tell whether it still writes files */
        stop(child);
        waitpid(child, &status, 0);
    }
    *end = got < 0 ? KRF__END_UNKNOWN : WIFSIGNALED(status) ? KRF__END_SIGNALLED : KRF__END_EXITED;
    *code = got < 0 ? 0 : WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    return true;
}

static krf__end await_end(const krf__process *process, pid_t child, int output, krf__str *errors, int *code) {
    int64_t deadline = now_ms() + process->timeout_ms;
    krf__end end = KRF__END_UNKNOWN;
    bool open = true;
    while (!reap(child, WNOHANG, &end, code)) {
        if (now_ms() >= deadline) {
            stop(child);
            reap(child, 0, &end, code);
            return KRF__END_TIMED_OUT;
        }
        struct pollfd waiting = {.fd = output, .events = POLLIN};
        if (!open) { /* it closed its output, so it is about to end */
            nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
        } else if (poll(&waiting, 1, 50) > 0) {
            open = drain(output, errors, process->keep);
        }
    }
    while (drain(output, errors, process->keep) && end == KRF__END_UNKNOWN && now_ms() < deadline) { /* what it started has it open, too */
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    }
    return end;
}

krf__end krf__process_run(const krf__process *process, krf__str *errors, int *code) {
    int ends[2];
    *code = open_pipe(ends);
    if (*code != 0) {
        return KRF__END_NOT_STARTED;
    }
    pid_t child = 0;
    int input = process->input > 2 ? process->input : fcntl(process->input, F_DUPFD_CLOEXEC, 3);
    *code = input >= 0 ? start(process, input, ends[1], &child) : errno;
    close(ends[1]);
    krf__end end = *code != 0 ? KRF__END_NOT_STARTED : await_end(process, child, ends[0], errors, code);
    close(ends[0]);
    if (input >= 0 && input != process->input) {
        close(input);
    }
    return end;
}
