/* Which of the interpreter's loop tables this processor and its operating system can run. Asked for each call of the
 * interpreter: __builtin_cpu_supports reads a variable, where the instruction cpuid costs tens of microseconds in a
 * virtual machine. Some compilers do not know the names of whole levels, nor lzcnt, movbe and f16c; so loops.c is
 * compiled without those (v4 with f16c, which AVX-512 implies), and the features asked for here are all that it uses.
 */
#include "backend/cpu/loops.h"

#if defined(__x86_64__)
static bool supports_v3(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi")
           && __builtin_cpu_supports("bmi2");
}

static bool supports_v4(void) {
    return supports_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
           && __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq")
           && __builtin_cpu_supports("avx512vl");
}

const krf__loops *const *krf__loops_usable(void) {
    static const krf__loops *const tables[] = {&krf__loops_v4, &krf__loops_v3, &krf__loops_base, NULL};
    __builtin_cpu_init(); /* for a constructor that runs before the compiler's own */
    return supports_v4() ? tables : supports_v3() ? tables + 1 : tables + 2;
}
#else
const krf__loops *const *krf__loops_usable(void) {
    static const krf__loops *const tables[] = {&krf__loops_base, NULL};
    return tables;
}
#endif
