#include <cstdio>
extern "C" __global__ void add(float *a, const float *b, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) a[i] += b[i]; }
__constant__ float k[4] = {1, 2, 3, 4};
__global__ void scale(float *a) { a[threadIdx.x] *= k[threadIdx.x & 3]; printf("scaled %d\n", threadIdx.x); }
int main() { add<<<1, 1>>>(0, 0, 0); scale<<<1, 1>>>(0); }
