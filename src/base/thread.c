/* Threads of the library's own. A thread has the mask of the one that made it, so that is changed for as long as it takes to make it. */
#include "base/thread.h"

#include <signal.h>

bool krf__thread_start(pthread_t *thread, void *(*run)(void *user), void *user) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool started = pthread_create(thread, NULL, run, user) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}
