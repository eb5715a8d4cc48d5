// Column sums of a matrix; each block processes a strip of columns. While a block adds the strip of one row, the
// strip of the next row is copied to shared memory.
#include <cuda/barrier>
#include <cuda_pipeline.h>

constexpr int kThreads = 64, kStrip = 4 * kThreads; // columns of a strip: four per thread, 16 bytes

// cp.async: each thread copies its own 16 bytes and waits for the groups of copies in order.
__global__ void column_sums_by_threads(const int* matrix, int rows, int columns, int* sums) {
  __shared__ alignas(16) int buffer[2][kStrip];
  const int first = blockIdx.x * kStrip + 4 * threadIdx.x;
  const auto fetch = [&](int row) {
    if (row < rows) __pipeline_memcpy_async(&buffer[row % 2][4 * threadIdx.x], matrix + row * columns + first, 16);
    __pipeline_commit();
  };
  int sum[4] = {0, 0, 0, 0};
  fetch(0);
  for (int row = 0; row < rows; ++row) {
    fetch(row + 1);
    __pipeline_wait_prior(1);
    for (int i = 0; i < 4; ++i) sum[i] += buffer[row % 2][4 * threadIdx.x + i];
  }
  *reinterpret_cast<int4*>(sums + first) = make_int4(sum[0], sum[1], sum[2], sum[3]);
}

// cp.async.bulk: one thread copies the strip; an mbarrier in shared memory counts its bytes.
__global__ void column_sums_in_bulk(const int* matrix, int rows, int columns, int* sums) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ alignas(16) int buffer[2][kStrip];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier full[2];
  if (threadIdx.x == 0) {
    for (Barrier& barrier : full) init(&barrier, kThreads);
    cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
  }
  __syncthreads();
  const int first = blockIdx.x * kStrip;
  const auto fetch = [&](int row) -> Barrier::arrival_token {
    Barrier& barrier = full[row % 2];
    if (threadIdx.x != 0 || row >= rows) return barrier.arrive();
    cuda::device::memcpy_async_tx(buffer[row % 2], matrix + row * columns + first,
                                  cuda::aligned_size_t<16>(sizeof buffer[0]), barrier);
    return cuda::device::barrier_arrive_tx(barrier, 1, sizeof buffer[0]);
  };
  int sum[4] = {0, 0, 0, 0};
  Barrier::arrival_token token = fetch(0);
  for (int row = 0; row < rows; ++row) {
    Barrier::arrival_token next = fetch(row + 1);
    full[row % 2].wait(std::move(token));
    for (int i = 0; i < 4; ++i) sum[i] += buffer[row % 2][4 * threadIdx.x + i];
    __syncthreads(); // the buffer is free again
    token = std::move(next);
  }
  *reinterpret_cast<int4*>(sums + first + 4 * threadIdx.x) = make_int4(sum[0], sum[1], sum[2], sum[3]);
}
