// Stores to scattered addresses. Launch: grid (count/256), block (256); count is a power of two.
extern "C" __global__ void scatter(int* out, int count)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, at = i * 2654435761u;
    for (int k = 0; k < 32; ++k) {
        at = at * 1664525u + 1013904223u;
        out[(at >> 8) & (count - 1)] = k;
    }
}
