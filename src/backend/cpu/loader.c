/* Loads compiled kernels: image -> sealed memfd -> dlopen of /proc/self/fd/N; where that is refused, from a file in a
 * private folder. Nobody else can change the bytes between the check and the load.
 *
 * Pitfall: glibc knows libraries by the name they were opened under. After fd 5 has been closed and used again,
 * dlopen("/proc/self/fd/5") returns the OLD library: silently the wrong kernel. So each image gets a name of its own:
 * its inode number, unique while the image is mapped (that is, for ever), is written into the path as bits, "/" for 0
 * and "/./" for 1, which the kernel ignores. The descriptor can then be closed: held open, a thousand kernels would
 * use up a program's descriptors. */
#include "backend/cpu/loader.h"

#include "backend/cpu/scratch.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/strbuf.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MFD_EXEC /* Linux 6.3: must be asked for where vm.memfd_noexec is 1 */
#define MFD_EXEC 0x0010U
#endif

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#endif

/* Why the image is no shared object for this process; NULL when it looks like one. The dynamic linker trusts the
 * program headers: a segment that ends beyond the file would be SIGBUS, not an error. */
static const char *elf_fault(const unsigned char *image, size_t bytes) {
    ElfW(Ehdr) header;
    if (bytes < sizeof header) {
        return "it is too short";
    }
    memcpy(&header, image, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
        return "it is no ELF file";
    }
    if (header.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) || header.e_type != ET_DYN) {
        return "it is no shared object for this process";
    }
#ifdef MACHINE
    if (header.e_machine != MACHINE) {
        return "it is for another processor";
    }
#endif
    if (header.e_phentsize != sizeof(ElfW(Phdr)) || header.e_phnum == 0 || header.e_phoff > bytes
        || header.e_phnum > (bytes - header.e_phoff) / sizeof(ElfW(Phdr))) {
        return "its program headers are damaged";
    }
    for (size_t i = 0; i < header.e_phnum; i++) {
        ElfW(Phdr) segment;
        memcpy(&segment, image + header.e_phoff + i * sizeof segment, sizeof segment);
        if (segment.p_type == PT_LOAD && (segment.p_offset > bytes || segment.p_filesz > bytes - segment.p_offset)) {
            return "it is cut short";
        }
    }
    return NULL;
}

static int write_all(int fd, const char *data, size_t bytes) {
    while (bytes > 0) {
        ssize_t n = write(fd, data, bytes);
        if (n > 0) {
            data += n;
            bytes -= (size_t)n;
        } else if (n == 0 || errno != EINTR) {
            return n == 0 ? EIO : errno;
        }
    }
    return 0;
}

/* The path of a descriptor, with the number's bits in it. */
static void put_unique_path(krf__str *path, int fd, uint64_t number) {
    krf__str_put(path, "/proc/self/fd");
    for (; number != 0; number >>= 1) {
        krf__str_put(path, (number & 1) != 0 ? "/." : "/");
    }
    krf__str_printf(path, "/%d", fd);
}

/* NULL when memory cannot hold code here, or there is no memory (*no_memory). */
static void *open_in_memory(const void *image, size_t bytes, const char *name, bool *no_memory) {
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC);
    if (fd < 0 && errno == EINVAL) {
        fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    }
    if (fd < 0) {
        return NULL;
    }
    void *library = NULL;
    struct stat about;
    krf__str path = {0};
    if (write_all(fd, image, bytes) == 0
        && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) == 0
        && fstat(fd, &about) == 0) {
        put_unique_path(&path, fd, about.st_ino);
        library = path.failed ? NULL : dlopen(path.data, RTLD_NOW | RTLD_LOCAL);
        *no_memory = path.failed;
    }
    krf__str_free(&path);
    close(fd);
    return library;
}

/* The file is removed as soon as it is mapped. Its folder's name is random, so this library's name is unique, too. */
static void *open_in_folder(const void *image, size_t bytes, bool *no_memory) {
    krf__scratch folder;
    int error = krf__scratch_open(&folder);
    if (error != 0) {
        *no_memory = error == ENOMEM;
        return NULL;
    }
    krf__str path = {0};
    krf__str_put(&path, folder.path);
    krf__str_put(&path, "/kernel.so");
    void *library = NULL;
    error = path.failed ? ENOMEM : krf__scratch_write(&folder, "kernel.so", image, bytes);
    if (error == 0) {
        library = dlopen(path.data, RTLD_NOW | RTLD_LOCAL);
    }
    *no_memory = error == ENOMEM;
    krf__str_free(&path);
    krf__scratch_close(&folder);
    return library;
}

/* ISO C knows no conversion from an object pointer to a function pointer; POSIX promises that the bits agree. */
static krf__kernel_function function_of(void *library, const char *symbol) {
    void *address = dlsym(library, symbol);
    krf__kernel_function function;
    memcpy(&function, &address, sizeof function);
    return function;
}

krf_status krf__loader_load(const void *image, size_t bytes, const char *name, struct krf__module *module) {
    *module = (struct krf__module){0};
    const char *fault = elf_fault(image, bytes);
    if (fault != NULL) {
        return krf__fail(KRF_E_COMPILE, "%s: the compiled image cannot be loaded: %s", name, fault);
    }
    krf__str symbol = {0};
    krf__str_put(&symbol, name);
    krf__str_put(&symbol, "_finish");
    if (symbol.failed) {
        krf__str_free(&symbol);
        return krf__fail_memory();
    }
    krf_status status = KRF_OK;
    bool no_memory = false;
    dlerror(); /* forgets what another call left, such as that a map has no second function */
    void *library = open_in_memory(image, bytes, name, &no_memory);
    if (library == NULL && !no_memory) {
        library = open_in_folder(image, bytes, &no_memory);
    }
    if (library == NULL && no_memory) {
        status = krf__fail_memory();
    } else if (library == NULL) {
        const char *reason = dlerror();
        status = krf__fail(KRF_E_COMPILE, "%s: the compiled image cannot be loaded: %s", name,
                           reason != NULL ? reason : "neither from memory nor from a temporary folder");
    } else {
        module->run = function_of(library, name);
        module->finish = function_of(library, symbol.data);
        if (module->run == NULL) {
            status = krf__fail(KRF_E_COMPILE, "%s: the compiled image holds no function of that name", name);
        }
    }
    krf__str_free(&symbol);
    return status;
}
