/* The system's C compiler: found and identified when the device is opened, run once a kernel. */
#ifndef KRF_BACKEND_CPU_COMPILER_H
#define KRF_BACKEND_CPU_COMPILER_H

#include "backend/cpu/host.h"
#include "base/log.h"
#include "base/strbuf.h"

/* Constant after krf__compiler_open, so that any number of threads may compile at once. */
typedef struct krf__compiler {
    char **words;       /* the command: the compiler's path, then options that CC holds; NULL: there is none */
    char **flags;       /* ours */
    char **environment; /* of the child: ours when the device was opened, less what is for us alone */
    char *flag_text;    /* flags, separated by blanks */
    krf__isa isa;
    int timeout_ms;
} krf__compiler;

/* command: the option of that name, or NULL for KRF_CC, CC, cc, gcc, clang. Finding none is logged, no failure. */
krf_status krf__compiler_open(const char *command, const krf__log *log, krf__compiler *compiler);
void krf__compiler_close(krf__compiler *compiler);

/* Appends what decides the machine code besides the source: the command, its files' inode, size and time, the flags. */
krf_status krf__compiler_identity(const krf__compiler *compiler, krf__str *key);

/* In a text: pointers of other types than a function's parameters are an error. */
#define KRF__STRICT_POINTERS "/* strict pointers */\n"

/* Compiles C text into a shared object. image: krf__mem_free. KRF_E_COMPILE and the compiler's first words. */
krf_status krf__compiler_run(const krf__compiler *compiler, const char *source, const char *name, void **image,
                             size_t *bytes);

/* An executable file by name: as it is when it holds a slash, else along PATH. *found: its absolute path
 * (krf__mem_free), or NULL. False when out of memory. */
bool krf__find_program(const char *name, size_t length, char **found);

#endif
