/* libFuzzer entry point: any bytes are a .npy file that loads, or one that is refused with a message; what loads is
 * saved and loads again to the same array. Built and run by coverage.sh; seeds: tests/corpus/npy/make.sh. */
#include <kerfuse/kerfuse.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static krf_context *context;
static char folder[] = "/tmp/fuzz_npy.XXXXXX", saved[64];

static void require(bool holds) {
    if (!holds) {
        __builtin_trap();
    }
}

static void tidy(void) {
    unlink(saved);
    rmdir(folder);
}

static void set_up(void) {
    krf_context_options options = krf_context_options_default();
    options.device = "cpu";
    options.threads = 1;
    options.cpu_tier = KRF_CPU_INTERPRET;
    options.cache = KRF_CACHE_OFF;
    require(krf_context_create(&options, &context) == KRF_OK && mkdtemp(folder) != NULL);
    snprintf(saved, sizeof saved, "%s/a.npy", folder);
    atexit(tidy);
}

/* A file without a name: only its length and its bytes matter. */
static krf_status load_bytes(const uint8_t *data, size_t size, krf_array **array) {
    char path[64];
    int fd = memfd_create("npy", MFD_CLOEXEC);
    require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    krf_status status = krf_array_load(context, path, array);
    close(fd);
    return status;
}

static void *elements(krf_array *array, size_t *bytes) {
    *bytes = (size_t)krf_array_size(array) * krf_dtype_size(krf_array_dtype(array));
    void *data = malloc(*bytes + 1);
    require(data != NULL && krf_array_to_host(array, data, *bytes) == KRF_OK);
    return data;
}

static void check_saved(krf_array *array) {
    krf_array *again = NULL;
    size_t bytes, bytes_again;
    require(krf_array_save(array, saved) == KRF_OK && krf_array_load(context, saved, &again) == KRF_OK);
    require(krf_array_dtype(again) == krf_array_dtype(array) && krf_array_rank(again) == krf_array_rank(array));
    for (int i = 0; i < krf_array_rank(array); i++) {
        require(krf_array_shape(again)[i] == krf_array_shape(array)[i]);
    }
    void *first = elements(array, &bytes), *second = elements(again, &bytes_again);
    require(bytes == bytes_again && memcmp(first, second, bytes) == 0);
    free(first);
    free(second);
    krf_array_release(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    krf_array *array = NULL;
    if (context == NULL) {
        set_up();
    }
    krf_status status = load_bytes(data, size, &array);
    if (status == KRF_OK) {
        check_saved(array);
    } else {
        require(array == NULL && krf_error_message()[0] != '\0');
        require(status == KRF_E_FORMAT || status == KRF_E_FILE || status == KRF_E_MEMORY || status == KRF_E_SHAPE);
    }
    krf_array_release(array);
    return 0;
}
