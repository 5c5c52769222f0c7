/* Fibers: stacks that one thread switches between. */
#ifndef FAKECUDA_FIBER_H
#define FAKECUDA_FIBER_H

#include <stddef.h>

typedef struct fake_fiber {
    void *stack; /* NULL: none yet */
    size_t bytes;
    void (*entry)(void *argument);
    void *argument;
    void *context;    /* where it stands; NULL: not begun */
    void *fake_stack; /* AddressSanitizer's, while it does not run */
} fake_fiber;

/* Makes the fiber ready to run entry(argument), which must not return. Keeps the stack of an earlier use. */
void fake_fiber_make(fake_fiber *f, void (*entry)(void *argument), void *argument);
void fake_fiber_free(fake_fiber *f);

void fake_fiber_enter(fake_fiber *f);              /* from the thread's own stack, until the fiber leaves */
void fake_fiber_leave(fake_fiber *f, int forever); /* from the fiber, back */

#endif
