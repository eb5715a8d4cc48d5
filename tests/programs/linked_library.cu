// One of two files that are linked: its `change` is another one than that of linked_kernel.cu.
__device__ int weights[8] = {1, 2, 3, 4, 5, 6, 7, 8};
static __device__ __noinline__ int change(int x) { return 2 * x; }

__device__ int weigh(int value, int (*other)(int)) { return other(change(value)) * weights[value % 8]; }
