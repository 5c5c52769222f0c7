/* Lines for the user's log callback, or for the file that KRF_LOG names ("stderr" too). A log belongs to a context,
 * which opens and closes it; everything below the context writes to it. Lines are flushed at once to a file opened for
 * appending, so that processes may share it. */
#include "base/log.h"

#include "base/mem.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void krf__log_open(krf__log *log, krf_log_function function, void *user)
{
    *log = (krf__log){.function = function, .user = user};
    if (function != NULL) {
        return;
    }
    const char *name = secure_getenv("KRF_LOG"); /* a set-uid program must not append to files that its caller names */
    if (name == NULL || name[0] == '\0') {
        return;
    }
    log->file = strcmp(name, "stderr") == 0 ? stderr : fopen(name, "ae");
}

void krf__log_close(krf__log *log)
{
    if (log->file != NULL && log->file != stderr) {
        fclose(log->file);
    }
    *log = (krf__log){0};
}

static void send(const krf__log *log, const char *line)
{
    if (log->function != NULL) {
        log->function(log->user, line);
    } else {
        fprintf(log->file, "kerfuse: %s\n", line);
    }
}

/* The text may be several lines, such as a compiler's messages; each is sent alone, empty ones are not. */
static void send_lines(const krf__log *log, char *text)
{
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        send(log, line);
    }
    if (log->file != NULL) {
        fflush(log->file);
    }
}

void krf__log_line(const krf__log *log, const char *format, ...)
{
    if (log == NULL || (log->function == NULL && log->file == NULL)) {
        return;
    }
    int error = errno; /* callers log what went wrong and then look at errno */
    char small[512];
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(small, sizeof small, format, args);
    char *large = length >= (int)sizeof small ? krf__malloc((size_t)length + 1) : NULL;
    if (large != NULL) {
        vsnprintf(large, (size_t)length + 1, format, again);
    }
    if (length > 0) {
        send_lines(log, large != NULL ? large : small); /* without memory for it, a line is cut */
    }
    krf__mem_free(large);
    va_end(again);
    va_end(args);
    errno = error;
}
