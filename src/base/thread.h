/* Threads of the library's own. */
#ifndef KRF_BASE_THREAD_H
#define KRF_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* A thread that takes no signals: the program's handlers are for its own threads. False: the system gives none. */
bool krf__thread_start(pthread_t *thread, void *(*run)(void *user), void *user);

#endif
