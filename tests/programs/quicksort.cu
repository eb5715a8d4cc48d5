// Every thread sorts a piece of its own, by a quicksort that calls itself.
static __device__ __noinline__ void swap(int* a, int* b) {
  const int kept = *a;
  *a = *b;
  *b = kept;
}

static __device__ __noinline__ int partition(int* values, int low, int high) {
  const int pivot = values[high];
  int end = low;
  for (int i = low; i < high; ++i)
    if (values[i] < pivot) swap(&values[i], &values[end++]);
  swap(&values[end], &values[high]);
  return end;
}

static __device__ void sort(int* values, int low, int high) {
  if (low >= high) return;
  const int middle = partition(values, low, high);
  sort(values, low, middle - 1);
  sort(values, middle + 1, high);
}

extern "C" __global__ void quicksort(int* values, int count) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  // Pieces of different lengths: the lanes of a warp are never at the same depth.
  sort(values + thread * count, 0, count - 1 - thread % 7);
}
