/* kerfuse beside the CUDA runtime API in one process: its memory, its stream, its events and a graph that it captures. Nothing is copied and the host waits once.
 *
 *     cuda_runtime
 *
 * y = softplus(x) is computed from cudaMalloc's memory into cudaMalloc's memory, on the program's stream between its own copies; then the same run is captured into a
 * CUDA graph, which the program launches with other data in x. */
#include "example.h"

#include <cuda_runtime_api.h>

enum { N = 1000000 };

static void check_cuda(cudaError_t error) {
    if (error != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(error));
        exit(EXIT_FAILURE);
    }
}

static krf_array *wrap(krf_context *ctx, float *memory) {
    krf_array *a = NULL;
    check(krf_array_wrap(ctx, KRF_F32, 1, (int64_t[]){N}, NULL, memory, NULL, NULL, &a));
    return a;
}

static void fill(float *data, float first) {
    for (int i = 0; i < N; i++) {
        data[i] = first + 1e-5f * (float)(i % 1000000);
    }
}

static double worst(const float *x, const float *y) {
    double most = 0;
    for (int i = 0; i < N; i++) {
        most = fmax(most, fabs((double)y[i] - log1p(exp((double)x[i]))));
    }
    return most;
}

int main(void) {
    krf_context_options options = krf_context_options_default();
    krf_context *ctx = NULL;
    float *host_x, *host_y, *x, *y, ms;
    cudaStream_t stream;
    cudaEvent_t from, to;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    options.device = "cuda:0"; /* the runtime's device 0: both use its primary context */
    check(krf_context_create(&options, &ctx));
    check_cuda(cudaSetDevice(0));
    check_cuda(cudaStreamCreate(&stream));
    check_cuda(cudaEventCreate(&from));
    check_cuda(cudaEventCreate(&to));
    check_cuda(cudaMallocHost((void **)&host_x, N * sizeof(float)));
    check_cuda(cudaMallocHost((void **)&host_y, N * sizeof(float)));
    check_cuda(cudaMalloc((void **)&x, N * sizeof(float)));
    check_cuda(cudaMalloc((void **)&y, N * sizeof(float)));

    krf_array *in = wrap(ctx, x), *out = wrap(ctx, y);
    krf_graph *g = krf_graph_create(ctx);
    krf_expr e = krf_placeholder(g, "x", KRF_F32, 1, (int64_t[]){N});
    krf_expr softplus = krf_add(krf_maximum(e, krf_scalar(g, 0)), krf_log1p(krf_exp(krf_negative(krf_abs(e)))));
    krf_plan *plan = NULL;
    check(krf_compile(g, 1, &softplus, NULL, &plan));
    krf_graph_destroy(g);
    const krf_binding binding = krf_bind_array("x", in);

    fill(host_x, -5);
    check_cuda(cudaMemcpyAsync(x, host_x, N * sizeof(float), cudaMemcpyHostToDevice, stream));
    check_cuda(cudaEventRecord(from, stream));
    check(krf_plan_run(plan, stream, 1, &binding, &out)); /* a cudaStream_t is a handle as it is */
    check_cuda(cudaEventRecord(to, stream));
    check_cuda(cudaMemcpyAsync(host_y, y, N * sizeof(float), cudaMemcpyDeviceToHost, stream));
    check_cuda(cudaStreamSynchronize(stream));
    check_cuda(cudaEventElapsedTime(&ms, from, to));
    printf("on the program's stream: %.3f ms, largest error %.1e\n", (double)ms, worst(host_x, host_y));

    check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    check_cuda(cudaMemcpyAsync(x, host_x, N * sizeof(float), cudaMemcpyHostToDevice, stream));
    check(krf_plan_run(plan, stream, 1, &binding, &out));
    check_cuda(cudaMemcpyAsync(host_y, y, N * sizeof(float), cudaMemcpyDeviceToHost, stream));
    check_cuda(cudaStreamEndCapture(stream, &graph));
    check_cuda(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    fill(host_x, 2);
    check_cuda(cudaGraphLaunch(exec, stream));
    check_cuda(cudaStreamSynchronize(stream));
    printf("in the program's graph: largest error %.1e\n", worst(host_x, host_y));

    check_cuda(cudaGraphExecDestroy(exec));
    check_cuda(cudaGraphDestroy(graph));
    krf_plan_release(plan);
    krf_array_release(in); /* memory that was wrapped stays the program's */
    krf_array_release(out);
    krf_context_destroy(ctx);
    check_cuda(cudaFree(x));
    check_cuda(cudaFree(y));
    check_cuda(cudaFreeHost(host_x));
    check_cuda(cudaFreeHost(host_y));
    check_cuda(cudaEventDestroy(from));
    check_cuda(cudaEventDestroy(to));
    check_cuda(cudaStreamDestroy(stream));
    return 0;
}
