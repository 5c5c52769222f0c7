/* A kernel of one's own that counts its threads, with an atomic addition; and two mistakes to look for on the simulated GPU (docs/raw.md).
 *
 *     raw_counter [atomic | race | outside] [threads]
 *
 * race: the addition is not atomic. outside: each thread also marks the element behind its own, the last one behind the array.
 */
#include "example.h"

#include <string.h>

static const char source[] = "extern \"C\" __global__ void count_threads(unsigned *counter, unsigned *marks, unsigned n) {\n"
                             "    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "    if (i >= n) return;\n"
                             "#ifdef RACE\n"
                             "    *counter = *counter + 1;\n"
                             "#else\n"
                             "    atomicAdd(counter, 1u);\n"
                             "#endif\n"
                             "    marks[i] = 1;\n"
                             "#ifdef OUTSIDE\n"
                             "    marks[i + 1] = 1;\n"
                             "#endif\n"
                             "}\n";
static const char c[] = "void count_threads(unsigned *counter, unsigned *marks, unsigned n) {\n"
                        "    for (unsigned i = 0; i < n; i++) { *counter += 1; marks[i] = 1; }\n"
                        "}\n";

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "atomic";
    const int64_t n = argc > 2 ? atoll(argv[2]) : 1000000;
    krf_context *ctx = open_device();
    krf_raw_kernel *counting = NULL;
    check(krf_kernel_define(ctx,
                            &(krf_kernel_description){.size = sizeof(krf_kernel_description),
                                                      .name = "count_threads",
                                                      .parameters = "inout u32 counter[], out u32 marks[n], u32 n",
                                                      .cuda = source,
                                                      .c = c,
                                                      .grid = "(n + 63) / 64",
                                                      .block = "64",
                                                      .options = strcmp(mode, "race") == 0 ? "-DRACE" : strcmp(mode, "outside") == 0 ? "-DOUTSIDE" : NULL},
                            &counting));
    krf_array *counter = NULL, *marks = NULL;
    unsigned counted = 0;
    check(krf_array_from_host(ctx, KRF_U32, 0, NULL, &counted, &counter));
    check(krf_array_create(ctx, KRF_U32, 1, &n, &marks));
    check(krf_kernel_launch(counting, NULL, 2, (krf_binding[]){krf_bind_array("counter", counter), krf_bind_array("marks", marks)}, NULL));
    check(krf_array_to_host(counter, &counted, sizeof counted));
    printf("%u of %lld threads were counted\n", counted, (long long)n);
    krf_array_release(counter);
    krf_array_release(marks);
    krf_kernel_release(counting);
    krf_context_destroy(ctx);
    return counted != n;
}
