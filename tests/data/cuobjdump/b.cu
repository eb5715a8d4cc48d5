extern "C" __device__ float twice(float x) { return 2 * x; }
extern "C" __global__ void other(float *a) { a[0] = twice(a[0]); }
