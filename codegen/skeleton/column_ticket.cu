// The block that comes last goes on.
__syncthreads();
if (thread == 0) {
    __threadfence();
    last_block = atomicInc(a.tickets + blockIdx.x, gridDim.y - 1) == gridDim.y - 1;
}
__syncthreads();
if (!last_block) {
    return;
}
__threadfence();
