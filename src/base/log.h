/* Lines for the log callback, or for the file that KRF_LOG names. */
#ifndef KRF_BASE_LOG_H
#define KRF_BASE_LOG_H

#include <kerfuse/base.h>
#include <stdio.h>

typedef struct krf__log {
    krf_log_function function;
    void *user;
    FILE *file; /* owned unless stderr; NULL for none */
} krf__log;

void krf__log_open(krf__log *log, krf_log_function function, void *user);
void krf__log_close(krf__log *log);
void krf__log_line(const krf__log *log, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
