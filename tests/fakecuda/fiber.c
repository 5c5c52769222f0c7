/* Switching stacks: by hand on x86-64, for a block of 256 threads switches thousands of times; with ucontext
 * elsewhere. */
#include "fiber.h"

#include "calls.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#if defined __SANITIZE_ADDRESS__
#define WITH_ASAN 1
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#endif
#ifdef WITH_ASAN
#include <pthread.h>
#include <sanitizer/common_interface_defs.h>
#endif

/* Memory that is not reached is none; sixteen complex logarithms, written out, took more than 64 KiB. */
enum { STACK = 256 * 1024 };

static _Thread_local void *main_context;
static _Thread_local fake_fiber *next; /* that begins */
#ifdef WITH_ASAN
static _Thread_local const void *main_stack;
static _Thread_local size_t main_bytes;
#endif

/* ---- the switch ---- */

#ifdef __x86_64__

/* Saves what a call must keep, stores the stack pointer, and returns on the other stack. */
void fakecuda_switch(void **save, void *load);
__asm__(".text\n"
        ".hidden fakecuda_switch\n"
        ".globl fakecuda_switch\n"
        ".type fakecuda_switch, @function\n"
        "fakecuda_switch:\n"
        "    pushq %rbp\n    pushq %rbx\n    pushq %r12\n    pushq %r13\n    pushq %r14\n    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n    popq %r14\n    popq %r13\n    popq %r12\n    popq %rbx\n    popq %rbp\n"
        "    ret\n"
        ".size fakecuda_switch, .-fakecuda_switch\n");

static void switch_to(void **save, void *load) { fakecuda_switch(save, load); }

static void *first_context(char *stack, size_t bytes, void (*run)(void)) {
    enum { SAVED = 6 };
    uintptr_t *top = (uintptr_t *)(void *)(stack + bytes);
    /* From the top: the return address of run (none), run, the saved registers. */
    memset(top - 2 - SAVED, 0, (2 + SAVED) * sizeof *top);
    top[-2] = (uintptr_t)run;
    return top - 2 - SAVED;
}

#else

typedef struct place {
    ucontext_t context;
} place;

static _Thread_local ucontext_t main_place;

static void switch_to(void **save, void *load) {
    if (!*save) {
        *save = &main_place;
    }
    swapcontext(*save, load);
}

static void *first_context(char *stack, size_t bytes, void (*run)(void)) {
    place *p = (place *)(void *)stack; /* the bottom of the stack, which is not reached */
    getcontext(&p->context);
    p->context.uc_stack = (stack_t){.ss_sp = stack + sizeof *p, .ss_size = bytes - sizeof *p};
    makecontext(&p->context, run, 0);
    return &p->context;
}

#endif

/* ---- fibers ---- */

static void run(void) {
    fake_fiber *f = next;
#ifdef WITH_ASAN
    __sanitizer_finish_switch_fiber(NULL, &main_stack, &main_bytes);
#endif
    f->entry(f->argument);
    fake_die("a fiber returned");
}

void fake_fiber_make(fake_fiber *f, void (*entry)(void *), void *argument) {
    if (!f->stack) {
        size_t page = (size_t)sysconf(_SC_PAGESIZE);
        f->bytes = STACK;
        char *base =
            mmap(NULL, STACK + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (base == MAP_FAILED || mprotect(base, page, PROT_NONE) != 0) {
            fake_die("no stack for a fiber");
        }
        f->stack = base + page;
    }
    f->fake_stack = NULL;
    f->context = NULL;
    f->entry = entry;
    f->argument = argument;
}

void fake_fiber_free(fake_fiber *f) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (f->stack) {
        munmap((char *)f->stack - page, f->bytes + page);
        f->stack = NULL;
    }
}

void fake_fiber_enter(fake_fiber *f) {
    if (!f->context) {
        f->context = first_context(f->stack, f->bytes, run);
        next = f;
    }
#ifdef WITH_ASAN
    void *fake = NULL;
    __sanitizer_start_switch_fiber(&fake, f->stack, f->bytes);
#endif
    switch_to(&main_context, f->context);
#ifdef WITH_ASAN
    __sanitizer_finish_switch_fiber(fake, NULL, NULL);
#endif
}

void fake_fiber_leave(fake_fiber *f, int forever) {
#ifdef WITH_ASAN
    __sanitizer_start_switch_fiber(forever ? NULL : &f->fake_stack, main_stack, main_bytes);
#else
    (void)forever;
#endif
    switch_to(&f->context, main_context);
#ifdef WITH_ASAN
    __sanitizer_finish_switch_fiber(f->fake_stack, &main_stack, &main_bytes);
#endif
}
