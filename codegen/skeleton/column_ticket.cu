// The block that comes last goes on.
__syncthreads();
$NEXT_MAY_COME
if (thread == 0) {
    last_block = krf_ticket(a.tickets + blockIdx.x, gridDim.y - 1) == gridDim.y - 1;
}
__syncthreads();
if (!last_block) {
    return;
}
