/* Facts about the machine: see host.h. Everything is read from the kernel's own files and from CPUID; nothing is run
 * and nothing is remembered here. */
#include "backend/cpu/host.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>

#define V2_FLAGS "-march=x86-64 -mcx16 -msahf -mpopcnt -msse3 -mssse3 -msse4.1 -msse4.2"
#define V3_FLAGS V2_FLAGS " -mavx -mavx2 -mbmi -mbmi2 -mf16c -mfma -mlzcnt -mmovbe"
#define V4_FLAGS V3_FLAGS " -mavx512f -mavx512bw -mavx512cd -mavx512dq -mavx512vl"
#define BYTES_FLAGS " -mavx512vbmi -mavx512vbmi2 -mavx512bitalg -mavx512vpopcntdq" /* no level has them: bytes of vectors in any order, and bits counted */

/* The features of v3 that __builtin_cpu_supports does not name in every compiler we build with. */
static bool has_v3_rest(void) {
    unsigned a = 0, b = 0, c = 0, d = 0, extended = 0;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C) != 0 && (c & bit_MOVBE) != 0
           && __get_cpuid(0x80000001, &a, &b, &extended, &d) && (extended & bit_LZCNT) != 0;
}

/* KRF_FETCHES: kernels ask for what reductions read before they read it (codegen/c_ahead.c). */
#define ISA(name, flags) (intel ? (krf__isa){name, flags " -DKRF_FETCHES"} : (krf__isa){name, flags})

krf__isa krf__isa_detect(void) {
    __builtin_cpu_init();
    const bool intel = __builtin_cpu_is("intel");
    bool v2 = __builtin_cpu_supports("ssse3") && __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("sse4.2")
              && __builtin_cpu_supports("popcnt");
    bool v3 = v2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi")
              && __builtin_cpu_supports("bmi2") && has_v3_rest();
    bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
              && __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq")
              && __builtin_cpu_supports("avx512vl");
    const bool bytes = v4 && __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512bitalg") && __builtin_cpu_supports("avx512vpopcntdq");
    /* The width is said outright: left to the compiler's idea of the processor, v4 would use half of it. */
    return bytes ? ISA("x86-64-v4", V4_FLAGS BYTES_FLAGS " -mprefer-vector-width=512")
           : v4 ? ISA("x86-64-v4", V4_FLAGS " -mprefer-vector-width=512")
           : v3 ? ISA("x86-64-v3", V3_FLAGS " -mprefer-vector-width=256")
           : v2 ? ISA("x86-64-v2", V2_FLAGS)
                : ISA("x86-64", "-march=x86-64");
}
#elif defined(__aarch64__)
krf__isa krf__isa_detect(void) { return (krf__isa){"armv8-a", "-march=armv8-a"}; }
#else
krf__isa krf__isa_detect(void) { return (krf__isa){"generic", ""}; }
#endif

/* A file of the kernel's as text (krf__mem_free), or NULL. */
static char *read_text(const char *path) {
    void *data = NULL;
    size_t bytes = 0;
    return krf__file_read(AT_FDCWD, path, false, &data, &bytes) == 0 ? data : NULL;
}

/* Processors in the affinity mask. A large machine's does not fit in a cpu_set_t: EINVAL asks for a longer one. */
static int affinity_count(void) {
    for (int cpus = 1024; cpus <= 1 << 20; cpus *= 2) {
        cpu_set_t *set = CPU_ALLOC((size_t)cpus);
        if (set == NULL) {
            return 1;
        }
        size_t bytes = CPU_ALLOC_SIZE((size_t)cpus);
        int error = sched_getaffinity(0, bytes, set) == 0 ? 0 : errno;
        int count = error == 0 ? CPU_COUNT_S(bytes, set) : 0;
        CPU_FREE(set);
        if (error != EINVAL) {
            return count > 0 ? count : 1;
        }
    }
    return 1;
}

int krf__cpu_quota(const char *line) {
    char *end = NULL;
    long long quota = strtoll(line, &end, 10); /* "max 100000": no number, no limit */
    if (end == line || quota <= 0) {
        return 0;
    }
    long long period = strtoll(end, NULL, 10);
    if (period <= 0) {
        return 0;
    }
    long long cpus = quota / period + (quota % period != 0);
    return cpus < 1 << 20 ? (int)cpus : 0;
}

/* The cgroup's path below the mount point, from the "0::" line of /proc/self/cgroup. False when there is none. */
static bool cgroup_path(krf__str *path) {
    char *text = read_text("/proc/self/cgroup");
    const char *line = text;
    while (line != NULL && strncmp(line, "0::/", 4) != 0) {
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
    if (line != NULL) {
        krf__str_put(path, "/sys/fs/cgroup");
        krf__str_putn(path, line + 3, strcspn(line + 3, "\n"));
    }
    krf__mem_free(text);
    return line != NULL && !path->failed;
}

/* The least quota of the process's cgroup and those above it; 0 for none. In a container the path may name what is
 * not mounted there; the walk up ends at the mount point, which is the container's own group then. */
static int cgroup_quota(void) {
    krf__str path = {0};
    int least = 0;
    bool more = cgroup_path(&path);
    while (more) {
        size_t length = path.length;
        krf__str_put(&path, "/cpu.max");
        char *line = path.failed ? NULL : read_text(path.data);
        int quota = line != NULL ? krf__cpu_quota(line) : 0;
        krf__mem_free(line);
        if (quota > 0 && (least == 0 || quota < least)) {
            least = quota;
        }
        if (path.failed) {
            break;
        }
        while (length > 0 && path.data[length - 1] != '/') {
            length--;
        }
        more = length > sizeof "/sys/fs/cgroup" - 1;
        path.length = length > 0 ? length - 1 : 0;
        path.data[path.length] = '\0';
    }
    krf__str_free(&path);
    return least;
}

int krf__cpu_count(void) {
    int count = affinity_count(), quota = cgroup_quota();
    return quota > 0 && quota < count ? quota : count;
}

char *krf__cpu_model(void) {
    char *text = read_text("/proc/cpuinfo");
    const char *line = text != NULL ? strstr(text, "model name") : NULL;
    const char *colon = line != NULL ? strchr(line, ':') : NULL;
    krf__str name = {0};
    if (colon != NULL) {
        colon += 1 + strspn(colon + 1, " \t");
        krf__str_putn(&name, colon, strcspn(colon, "\n"));
    }
    if (name.length == 0) { /* ARM kernels do not say */
        krf__str_put(&name, "CPU");
    }
    krf__mem_free(text);
    return krf__str_take(&name);
}

int64_t krf__main_memory(void) {
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (int64_t)pages * size : 0;
}
