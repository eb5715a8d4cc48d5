// Atomics on shared memory, 256 bins. Launch: grid (any), block (256).
extern "C" __global__ void histogram(unsigned* out)
{
    __shared__ unsigned bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    unsigned at = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u;
    for (int k = 0; k < 32; ++k) {
        at = at * 1664525u + 1013904223u;
        atomicAdd(&bins[at >> 24], 1u);
    }
    __syncthreads();
    atomicAdd(out + threadIdx.x, bins[threadIdx.x]);
}
