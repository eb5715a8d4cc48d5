// With twice.cu a program of two objects: nvcc -rdc=true leaves their linking to the driver.
__device__ float twice(float x);
extern "C" __global__ void calls_twice(float* x) { x[threadIdx.x] = twice(x[threadIdx.x]); }
int main() { return 0; }
