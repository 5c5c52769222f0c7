// What threads say to one another: for C only. Sections as in prelude.h.

//@ krf_await
// Waits until a word that another thread will write is not 0; what that thread wrote before is there then. It sleeps at last: a thread of higher priority yields to none of lower.
extern int sched_yield(void);
extern int usleep(unsigned microseconds);
KRF_FN void krf_await(const unsigned long long *word) {
    for (int n = 1; __atomic_load_n(word, __ATOMIC_ACQUIRE) == 0; n = n < 1 << 20 ? n + 1 : n - 1023) {
        if (n == 1 << 20) {
            usleep(50);
        } else if (n % 1024 == 0) {
            sched_yield();
        }
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#endif
    }
}
