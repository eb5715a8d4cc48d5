// SPDX-License-Identifier: Apache-2.0
// Micro-benchmarks of a GPU: latencies and rates of its units, its caches and its memory, contended atomics, the cost
// of a launch. calibration.py runs them.
//
// It prints for each launch its number, a name, how often a warp (rates: a multiprocessor) did what is measured, and the
// cycles that this took by the clock of the multiprocessor; 0 for launches of which the time of the whole counts.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                                                    \
  do {                                                                                                                 \
    if (const cudaError_t error = (call); error != cudaSuccess) {                                                      \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));                                              \
      std::exit(1);                                                                                                    \
    }                                                                                                                  \
  } while (false)

namespace {

constexpr int kSteps = 256, kUnrolled = 64;

#define OPERATION(name, type, start, step)                                                                             \
  struct name {                                                                                                        \
    using T = type;                                                                                                    \
    static constexpr const char* kName = #name;                                                                        \
    static __device__ T first() { return start; }                                                                      \
    static __device__ T next(T x, [[maybe_unused]] T y) { return step; }                                               \
  };

#define UNARY(instruction, constraint)                                                                                 \
  [&] {                                                                                                                \
    T r;                                                                                                               \
    asm volatile(instruction " %0, %1;" : "=" constraint(r) : constraint(x));                                          \
    return r;                                                                                                          \
  }()
#define BINARY(instruction, constraint)                                                                                \
  [&] {                                                                                                                \
    T r;                                                                                                               \
    asm volatile(instruction " %0, %1, %2;" : "=" constraint(r) : constraint(x), constraint(y));                       \
    return r;                                                                                                          \
  }()
// y / x stays in the range of normal numbers.
#define REVERSED(instruction, constraint)                                                                              \
  [&] {                                                                                                                \
    T r;                                                                                                               \
    asm volatile(instruction " %0, %1, %2;" : "=" constraint(r) : constraint(y), constraint(x));                       \
    return r;                                                                                                          \
  }()
#define TERNARY(instruction, constraint)                                                                               \
  [&] {                                                                                                                \
    T r;                                                                                                               \
    asm volatile(instruction " %0, %1, %2, %1;" : "=" constraint(r) : constraint(x), constraint(y));                   \
    return r;                                                                                                          \
  }()

OPERATION(add_f32, float, 1.5f, BINARY("add.f32", "f"))
OPERATION(fma_f32, float, 1.5f, TERNARY("fma.rn.f32", "f"))
OPERATION(mad_s32, int, 3, TERNARY("mad.lo.s32", "r"))
OPERATION(add_s64, long long, 3, BINARY("add.s64", "l"))
OPERATION(mul_s64, long long, 3, BINARY("mul.lo.s64", "l"))
OPERATION(shf_b32, int, 3, BINARY("shl.b32", "r"))
OPERATION(min_f32, float, 3, BINARY("min.f32", "f"))
OPERATION(fma_f64, double, 1.5, TERNARY("fma.rn.f64", "d"))
OPERATION(ex2, float, 0.5f, UNARY("ex2.approx.ftz.f32", "f"))
OPERATION(lg2, float, 2.5f, UNARY("lg2.approx.ftz.f32", "f"))
OPERATION(sin_approx, float, 0.5f, UNARY("sin.approx.ftz.f32", "f"))
OPERATION(rcp_approx_and_add, float, 1.5f, UNARY("rcp.approx.ftz.f32", "f") + y)
OPERATION(rsqrt_approx, float, 1.5f, UNARY("rsqrt.approx.ftz.f32", "f"))
OPERATION(sqrt_rn, float, 1.5f, UNARY("sqrt.rn.f32", "f"))
OPERATION(rcp_rn, float, 1.5f, UNARY("rcp.rn.f32", "f"))
OPERATION(div_rn, float, 1.5f, REVERSED("div.rn.f32", "f"))
OPERATION(div_full, float, 1.5f, REVERSED("div.full.f32", "f"))
OPERATION(div_f64, double, 1.5, REVERSED("div.rn.f64", "d"))
OPERATION(sqrt_f64, double, 1.5, UNARY("sqrt.rn.f64", "d"))
OPERATION(div_u32, unsigned, 0x7fffffffu, x / (y | 1) + 0x7ffffffeu)
OPERATION(div_s32, int, 0x7fffffff, x / (y | 1) + 0x7ffffff0)
OPERATION(div_u64, unsigned long long, ~0ull, x / (y | 1) + 0x7ffffffffffffffeull)
OPERATION(convert_s32, float, 1.5f, __int2float_rn(__float2int_rz(x)))
OPERATION(convert_f64, float, 1.5f, __double2float_rn(__longlong_as_double(__double_as_longlong((double)x) ^ 1)))
OPERATION(expf_accurate, float, 0.5f, expf(x))
OPERATION(sinf_accurate, float, 0.5f, sinf(x))
OPERATION(rcp_f64, double, 1.5, UNARY("rcp.rn.f64", "d"))
OPERATION(popc, unsigned, 3u, UNARY("popc.b32", "r"))
OPERATION(shuffle, int, int(threadIdx.x), __shfl_sync(~0u, x, x))
OPERATION(vote, unsigned, 3u, __ballot_sync(~0u, x))

/// Cycles of `kSteps` times `kUnrolled` operations of a warp, each on the result of the one before; `Chains` of them at
/// the same time.
template <class Operation, int Chains> __global__ void operate(long long* cycles, typename Operation::T* out, int steps, int one) {
  using T = typename Operation::T;
  T x[Chains];
  for (int c = 0; c < Chains; ++c) x[c] = Operation::first() + T(threadIdx.x / 32 * one * c);
  const T y = Operation::first() + T(one);
  __syncthreads();
  const long long start = clock64();
  for (int s = 0; s < steps; ++s)
#pragma unroll
    for (int u = 0; u < kUnrolled / Chains; ++u)
#pragma unroll
      for (int c = 0; c < Chains; ++c) x[c] = Operation::next(x[c], y);
  T sum = 0;
  for (int c = 0; c < Chains; ++c) sum += x[c];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum; // before the barrier: nothing is left to do after it
  __syncthreads();
  const long long stop = clock64();
  if (threadIdx.x == 0) cycles[blockIdx.x] = stop - start;
}

__global__ void chase_shared(long long* cycles, int* out, int steps) {
  __shared__ int next[1024];
  for (int i = threadIdx.x; i < 1024; i += 32) next[i] = (i + 32) % 1024;
  __syncwarp();
  int at = threadIdx.x;
  const long long start = clock64();
  for (int s = 0; s < steps; ++s)
#pragma unroll
    for (int u = 0; u < kUnrolled; ++u) at = next[at];
  cycles[0] = clock64() - start;
  out[threadIdx.x] = at;
}

/// A loop that is not unrolled: the counter, its comparison, the branch.
__global__ void loop(long long* cycles, int* out, int steps) {
  int x = threadIdx.x;
  const long long start = clock64();
#pragma unroll 1
  for (int s = 0; s < steps; ++s) asm volatile("add.s32 %0, %0, 1;" : "+r"(x));
  cycles[0] = clock64() - start;
  out[threadIdx.x] = x;
}
/// Lanes below `below` take one side of a branch, the others the other; each is 16 steps long.
__global__ void diverge(long long* cycles, int* out, int steps, int below) {
  int x = threadIdx.x;
  const long long start = clock64();
#pragma unroll 1
  for (int s = 0; s < steps; ++s) {
    if (int(threadIdx.x) < below)
#pragma unroll
      for (int u = 0; u < 16; ++u) asm volatile("mad.lo.s32 %0, %0, %0, 1;" : "+r"(x));
    else
#pragma unroll
      for (int u = 0; u < 16; ++u) asm volatile("mad.lo.s32 %0, %0, %0, 2;" : "+r"(x));
  }
  cycles[0] = clock64() - start;
  out[threadIdx.x] = x;
}
/// Multiplications of halves by the matrix unit, each added to the sum before; `Chains` sums.
template <int Chains> __global__ void multiply_matrices(long long* cycles, float* out, int steps) {
  float d[Chains][4] = {};
  const unsigned a = 0x3c003c00, b = threadIdx.x;
  __syncthreads();
  const long long start = clock64();
  for (int s = 0; s < steps; ++s)
#pragma unroll
    for (int u = 0; u < 16; ++u)
#pragma unroll
      for (int c = 0; c < Chains; ++c)
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%5,%5}, {%0,%1,%2,%3};"
                     : "+f"(d[c][0]), "+f"(d[c][1]), "+f"(d[c][2]), "+f"(d[c][3])
                     : "r"(a), "r"(b));
  float sum = 0;
  for (int c = 0; c < Chains; ++c) sum += d[c][0] + d[c][1] + d[c][2] + d[c][3];
  out[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) cycles[0] = clock64() - start;
}
enum class Through { l1, l2 };
template <Through Level> __global__ void chase(const int* next, long long* cycles, int* out, int steps) {
  int at = 0;
  const long long start = clock64();
  for (int s = 0; s < steps; ++s) at = Level == Through::l1 ? __ldca(next + at) : __ldcg(next + at);
  cycles[0] = clock64() - start + (at < 0);
  out[threadIdx.x] = at;
}

__global__ void chase_local(long long* cycles, int* out, int steps, int zero) {
  int table[64];
  for (int i = 0; i < 64; ++i) table[(i + zero) % 64] = (i + 1 + zero) % 64;
  int at = zero;
  const long long start = clock64();
  for (int s = 0; s < steps; ++s) at = table[at];
  cycles[0] = clock64() - start;
  out[threadIdx.x] = at;
}

__global__ void wait_at_barriers(long long* cycles, int steps) {
  __syncthreads();
  const long long start = clock64();
  for (int s = 0; s < steps; ++s)
#pragma unroll
    for (int u = 0; u < 8; ++u) __syncthreads();
  if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - start;
}

__global__ void atomic_latency(int* at, long long* cycles, int* out, int steps) {
  int x = 0;
  const long long start = clock64();
  for (int s = 0; s < steps; ++s) x = atomicAdd(at + (x >> 30), 1);
  cycles[0] = clock64() - start + (x < 0);
  out[threadIdx.x] = x;
}

/// Shared atomics of all lanes to words `stride` apart; stride 0: one word.
__global__ void atomics_shared(long long* cycles, int* out, int stride, int steps) {
  __shared__ int words[2048];
  for (int i = threadIdx.x; i < 2048; i += blockDim.x) words[i] = 0;
  __syncthreads();
  const int at = (threadIdx.x * stride) % 2048;
  const long long start = clock64();
  for (int s = 0; s < steps; ++s) atomicAdd(&words[at], s);
  __syncthreads();
  if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - start;
  out[threadIdx.x] = words[threadIdx.x];
}

template <int Words> __global__ void load_shared(long long* cycles, float* out, int stride, int steps) {
  __shared__ __align__(16) float words[4096];
  for (int i = threadIdx.x; i < 4096; i += blockDim.x) words[i] = 1;
  __syncthreads();
  const volatile float* at = words + (threadIdx.x % 32 * stride) % 4096;
  float sum = 0;
  const long long start = clock64();
  for (int s = 0; s < steps; ++s)
#pragma unroll
    for (int u = 0; u < 16; ++u) sum += at[(u & 1) * 0];
  __syncthreads();
  if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - start;
  out[threadIdx.x] = sum;
}

// Launches whose times count.
__global__ void nothing() {}
struct Bytes {
  int of[256];
};
__global__ void takes_bytes(Bytes bytes, int* out) {
  if (out) *out = bytes.of[threadIdx.x % 256];
}
__global__ void copy_words(const int* in, int* out) {
  const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  out[i] = in[i];
}
__global__ void copy_fours(const int4* in, int4* out) {
  const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  out[i] = in[i];
}
/// Words `stride` apart.
__global__ void read_words(const int* in, int* out, size_t stride, int never) {
  const size_t i = (size_t(blockIdx.x) * blockDim.x + threadIdx.x) * stride;
  if (in[i] == never) out[0] = 1;
}
__global__ void write_words(int* out, size_t stride, int value) {
  out[(size_t(blockIdx.x) * blockDim.x + threadIdx.x) * stride] = value;
}
__global__ void gather_words(const int* in, int* out, unsigned mask, int never) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (in[(i * 2654435761u >> 3) & mask] == never) out[0] = 1;
}
__global__ void scatter_words(int* out, unsigned mask, int value) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[(i * 2654435761u >> 3) & mask] = value;
}
/// `passes` over `words` of four.
__global__ void read_again(const int4* in, int* out, unsigned words, int passes, int never) {
  int sum = 0;
  const unsigned all = gridDim.x * blockDim.x;
  for (int p = 0; p < passes; ++p)
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += all) {
      const int4 four = __ldcg(in + i);
      sum += four.x ^ four.y ^ four.z ^ four.w;
    }
  if (sum == never) out[0] = 1;
}
__global__ void write_again(int4* out, unsigned words, int passes) {
  const unsigned all = gridDim.x * blockDim.x;
  for (int p = 0; p < passes; ++p)
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += all) out[i] = make_int4(p, p, p, p);
}
/// Each block re-reads its own `words`, which its first cache holds.
__global__ void read_first_cache(const int* in, int* out, int words, int passes, int never) {
  int sum = 0;
  for (int p = 0; p < passes; ++p)
    for (int i = threadIdx.x; i < words; i += blockDim.x) sum += __ldca(in + i) ^ p;
  if (sum == never) out[0] = 1;
}
template <class T> __global__ void add_atomically(T* words, unsigned mask, unsigned spread, int times) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int t = 0; t < times; ++t) atomicAdd(words + size_t(i & mask) * spread, T(1));
}
__global__ void add_of_warps(int* words, unsigned mask, int* out) {
  const unsigned i = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (threadIdx.x % 32 == 0) out[i] = atomicAdd(words + (i & mask), 1);
}
__global__ void compute_only(float* out, int steps, float y) {
  float x = threadIdx.x;
  for (int s = 0; s < steps; ++s) x = x * y + 1;
  if (x == -1) *out = x;
}

/// Instructions that are executed once: the caches of instructions hold none of them.
template <int Count> __global__ void run_once(float* out, float y) {
  float x = threadIdx.x;
#pragma unroll
  for (int i = 0; i < Count; ++i) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x) : "f"(y));
  if (x == -1) *out = x;
}

/// The same, without waiting for each other.
template <int Count> __global__ void run_once_apart(float* out, float y) {
  float x[8];
  for (int i = 0; i < 8; ++i) x[i] = threadIdx.x + i;
#pragma unroll
  for (int i = 0; i < Count; ++i) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x[i % 8]) : "f"(y));
  float sum = 0;
  for (int i = 0; i < 8; ++i) sum += x[i];
  if (sum == -1) *out = sum;
}

/// Additions by compare-and-swap to words at random. `tries` counts those of warps.
__global__ void add_by_exchange(unsigned* words, unsigned mask, unsigned long long* tries) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned* const word = words + ((i * 2654435761u >> 3) & mask);
  unsigned old = *reinterpret_cast<volatile unsigned*>(word), assumed;
  int count = 0;
  do {
    assumed = old;
    old = atomicCAS(word, assumed, assumed + 1);
    ++count;
  } while (old != assumed);
  if (tries != nullptr) atomicAdd(tries, (unsigned long long)count);
}
/// All threads of a block store to one byte, `apart` bytes from that of the next block.
__global__ void store_bytes(volatile unsigned char* out, unsigned apart, int times) {
  for (int t = 0; t < times; ++t) {
    out[size_t(blockIdx.x) * apart] = t;
    __syncthreads();
  }
}

long long* cycles;
void* room;
int launches = 0;

void report(const char* name, const char* what, double times) {
  CHECK(cudaDeviceSynchronize());
  long long c = 0;
  CHECK(cudaMemcpy(&c, cycles, sizeof c, cudaMemcpyDeviceToHost));
  std::printf("%d,%s %s,%.0f,%lld\n", launches++, name, what, times, c);
}
void timed(const char* name, double times) {
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  std::printf("%d,%s,%.0f,0\n", launches++, name, times);
}
template <class... Values> const char* text(const char* format, Values... values) {
  static char buffer[200];
  std::snprintf(buffer, sizeof buffer, format, values...);
  return buffer;
}

template <class Operation> void units() {
  auto* out = static_cast<typename Operation::T*>(room);
  const double each = double(kSteps) * kUnrolled;
  operate<Operation, 1><<<1, 32>>>(cycles, out, kSteps, 1);
  report(Operation::kName, "latency", each);
  operate<Operation, 4><<<1, 1024>>>(cycles, out, kSteps, 1);
  report(Operation::kName, "rate", each * 32);
}
template <class... Operations> void all_units() { (units<Operations>(), ...); }

/// A cycle over `bytes`, words `apart` bytes from each other, in a scattered order.
void chases(const char* name, size_t bytes, bool first, size_t apart = 128) {
  const size_t lines = bytes / apart, words = apart / 4;
  std::vector<int> next(lines * words);
  std::vector<unsigned> order(lines);
  for (size_t i = 0; i < lines; ++i) order[i] = unsigned(i);
  unsigned long long seed = 88172645463325252ull;
  for (size_t i = lines - 1; i > 0; --i) {
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    const size_t j = seed % (i + 1);
    const unsigned o = order[i];
    order[i] = order[j], order[j] = o;
  }
  for (size_t i = 0; i < lines; ++i) next[size_t(order[i]) * words] = int(order[(i + 1) % lines] * words);
  int* in = static_cast<int*>(room);
  CHECK(cudaMemcpy(in, next.data(), next.size() * 4, cudaMemcpyHostToDevice));
  int* out = in + next.size() + 1024;
  const int steps = int(lines < 20000 ? 4 * lines : 20000);
  for (int again = 0; again < 2; ++again) { // the second has what the first brought, where nothing flushes
    if (first)
      chase<Through::l1><<<1, 1>>>(in, cycles, out, steps);
    else
      chase<Through::l2><<<1, 1>>>(in, cycles, out, steps);
    report(name, again ? "latency again" : "latency", steps);
  }
}

} // namespace

int main() {
  constexpr size_t kRoom = size_t(3) << 30;
  CHECK(cudaMalloc(&cycles, 1024 * sizeof *cycles));
  CHECK(cudaMalloc(&room, kRoom));
  CHECK(cudaMemset(cycles, 0, 1024 * sizeof *cycles));
  CHECK(cudaMemset(room, 0, kRoom));
  int* words = static_cast<int*>(room);
  int* second = words + (size_t(1) << 28); // a gigabyte later
  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  std::fprintf(stderr, "%s\n", device.name);
  const int multiprocessors = device.multiProcessorCount;
  all_units<add_f32, fma_f32, mad_s32, add_s64, mul_s64, shf_b32, min_f32, fma_f64, ex2, lg2, sin_approx, rcp_approx_and_add, rsqrt_approx, sqrt_rn,
            rcp_rn, div_rn, div_full, div_f64, sqrt_f64, div_u32, div_s32, div_u64, convert_s32, convert_f64, expf_accurate, sinf_accurate, popc, shuffle,
            vote, rcp_f64>();
  for (const int lanes : {1, 32}) {
    loop<<<1, lanes>>>(cycles, words, 1000);
    report("loop", text("latency of %d threads", lanes), 1000);
  }
  for (const int below : {0, 16, 32}) {
    diverge<<<1, 32>>>(cycles, words, 1000, below);
    report("diverge", text("latency of %d lanes", below), 1000);
  }
  multiply_matrices<1><<<1, 32>>>(cycles, static_cast<float*>(room), kSteps);
  report("mma_f16", "latency", 16.0 * kSteps);
  multiply_matrices<4><<<1, 512>>>(cycles, static_cast<float*>(room), kSteps);
  report("mma_f16", "rate", 16.0 * 4 * 16 * kSteps);
  chase_shared<<<1, 32>>>(cycles, words, kSteps);
  report("shared", "latency", double(kSteps) * kUnrolled);
  chase_local<<<1, 32>>>(cycles, words, 4096, 0);
  report("local", "latency", 4096);
  chases("l1", 16 << 10, true);
  chases("l2 1M", 1 << 20, false);
  chases("l2 16M", 16 << 20, false);
  chases("memory 512M", 512 << 20, false);
  chases("memory pages", size_t(1400) << 21, false, size_t(2) << 20);
  for (const int threads : {32, 64, 128, 256, 512, 1024}) {
    wait_at_barriers<<<1, threads>>>(cycles, 100);
    report("barrier", text("latency of %d threads", threads), 800);
  }
  atomic_latency<<<1, 1>>>(words, cycles, words + 64, 1000);
  report("atomic", "latency", 1000);
  for (const int stride : {0, 1, 2, 4, 8, 16, 32})
    for (const int threads : {32, 256, 1024}) {
      atomics_shared<<<1, threads>>>(cycles, words, stride, 200);
      report("shared atomics", text("stride %d threads %d", stride, threads), 200.0 * threads / 32);
    }
  for (const int stride : {0, 1, 2, 4, 8, 16, 32}) {
    load_shared<1><<<1, 1024>>>(cycles, static_cast<float*>(room), stride, 100);
    report("shared loads", text("stride %d", stride), 1600.0 * 32);
  }

  for (const int grid : {1, 33, multiprocessors, 4 * multiprocessors, 16 * multiprocessors, 64 * multiprocessors, 256 * multiprocessors})
    for (const int block : {32, 128, 256, 1024}) {
      nothing<<<grid, block>>>();
      timed(text("nothing %d %d", grid, block), 1);
    }
  for (const int grid : {1, multiprocessors, 16 * multiprocessors})
    for (const int block : {32, 1024}) {
      takes_bytes<<<grid, block>>>(Bytes{}, nullptr);
      timed(text("takes_bytes %d %d", grid, block), 1);
    }
  for (const int steps : {0, 100, 1000, 10000}) {
    compute_only<<<1, 32>>>(static_cast<float*>(room), steps, 0.5f);
    timed(text("compute_only 1 32 %d", steps), steps);
  }
  for (const int grid : {1, multiprocessors}) {
    auto* out = static_cast<float*>(room);
    run_once<16><<<grid, 32>>>(out, 0.5f);
    timed(text("run_once %d 32 16", grid), 16);
    run_once<128><<<grid, 32>>>(out, 0.5f);
    timed(text("run_once %d 32 128", grid), 128);
    run_once<1024><<<grid, 32>>>(out, 0.5f);
    timed(text("run_once %d 32 1024", grid), 1024);
    run_once<8192><<<grid, 32>>>(out, 0.5f);
    timed(text("run_once %d 32 8192", grid), 8192);
  }
  for (const int grid : {1, multiprocessors}) {
    auto* out = static_cast<float*>(room);
    run_once_apart<16><<<grid, 32>>>(out, 0.5f);
    timed(text("run_once_apart %d 32 16", grid), 16);
    run_once_apart<1024><<<grid, 32>>>(out, 0.5f);
    timed(text("run_once_apart %d 32 1024", grid), 1024);
    run_once_apart<1024><<<grid, 256>>>(out, 0.5f);
    timed(text("run_once_apart %d 256 1024", grid), 1024);
    run_once_apart<8192><<<grid, 32>>>(out, 0.5f);
    timed(text("run_once_apart %d 32 8192", grid), 8192);
  }
  for (const int bits : {0, 2, 5, 8, 12, 15, 16, 20}) {
    CHECK(cudaMemset(second, 0, 8));
    add_by_exchange<<<391, 256>>>(reinterpret_cast<unsigned*>(words), (1u << bits) - 1, reinterpret_cast<unsigned long long*>(second));
    unsigned long long tries = 0;
    CHECK(cudaMemcpy(&tries, second, 8, cudaMemcpyDeviceToHost));
    timed(text("add_by_exchange 391 256 %d tries", bits), double(tries));
    add_by_exchange<<<391, 256>>>(reinterpret_cast<unsigned*>(words), (1u << bits) - 1, nullptr);
    timed(text("add_by_exchange 391 256 %d", bits), 1);
  }
  for (const unsigned apart : {1u, 32u, 128u, 4096u}) {
    store_bytes<<<16 * multiprocessors, 128>>>(static_cast<unsigned char*>(room), apart, 32);
    timed(text("store_bytes %d 128 %u", 16 * multiprocessors, apart), 32);
  }
  for (const int shift : {5, 8, 12, 14, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27}) {
    const int block = shift < 8 ? 1 << shift : 256, grid = (1 << shift) / block;
    copy_words<<<grid, block>>>(words, second);
    timed(text("copy_words %d %d", grid, block), 1 << shift);
    read_words<<<grid, block>>>(words, second, 1, -1);
    timed(text("read_words %d %d 1", grid, block), 1 << shift);
    write_words<<<grid, block>>>(second, 1, 0);
    timed(text("write_words %d %d 1", grid, block), 1 << shift);
    if (shift < 8) continue;
    copy_fours<<<grid, block>>>(static_cast<int4*>(room), reinterpret_cast<int4*>(second));
    timed(text("copy_fours %d %d", grid, block), 1 << shift);
  }
  for (const int stride : {2, 4, 8, 16, 32, 64, 128})
    for (const int shift : {16, 20, 22}) {
      const int block = 256, grid = (1 << shift) / block;
      read_words<<<grid, block>>>(words, second, stride, -1);
      timed(text("read_words %d %d %d", grid, block, stride), 1 << shift);
      write_words<<<grid, block>>>(words, stride, 0);
      timed(text("write_words %d %d %d", grid, block, stride), 1 << shift);
    }
  for (const int bits : {16, 20, 23, 25, 28})
    for (const int shift : {16, 20, 22, 24}) {
      gather_words<<<(1 << shift) / 256, 256>>>(words, second, (1u << bits) - 1, -1);
      timed(text("gather_words %d 256 %d", (1 << shift) / 256, bits), 1 << shift);
      scatter_words<<<(1 << shift) / 256, 256>>>(words, (1u << bits) - 1, 0);
      timed(text("scatter_words %d 256 %d", (1 << shift) / 256, bits), 1 << shift);
    }
  for (const int megabytes : {1, 4, 8, 16, 24, 32, 48, 64, 128})
    for (const int passes : {1, 11}) {
      read_again<<<8 * multiprocessors, 256>>>(static_cast<int4*>(room), second, megabytes << 16, passes, -1);
      timed(text("read_again %d 256 %d MB %d", 8 * multiprocessors, megabytes, passes), passes);
      write_again<<<8 * multiprocessors, 256>>>(static_cast<int4*>(room), megabytes << 16, passes);
      timed(text("write_again %d 256 %d MB %d", 8 * multiprocessors, megabytes, passes), passes);
    }
  for (const int passes : {10, 110}) {
    read_first_cache<<<multiprocessors, 1024>>>(words, second, 8192, passes, -1);
    timed(text("read_first_cache %d 1024 %d", multiprocessors, passes), passes);
  }
  for (const int bits : {0, 1, 3, 5, 8, 10, 12, 16, 18})
    for (const unsigned spread : {1u, 8u, 32u}) {
      if (bits == 0 && spread > 1) continue;
      add_atomically<<<256, 256>>>(words, (1u << bits) - 1, spread, 4);
      timed(text("add_atomically s32 256 256 %d %u", bits, spread), 4);
      add_atomically<<<256, 256>>>(reinterpret_cast<float*>(words), (1u << bits) - 1, spread, 4);
      timed(text("add_atomically f32 256 256 %d %u", bits, spread), 4);
      add_atomically<<<256, 256>>>(reinterpret_cast<double*>(words), (1u << bits) - 1, spread, 4);
      timed(text("add_atomically f64 256 256 %d %u", bits, spread), 4);
    }
  for (const int bits : {0, 3, 5, 8, 12}) {
    add_of_warps<<<1024, 256>>>(words, (1u << bits) - 1, second);
    timed(text("add_of_warps 1024 256 %d", bits), 1);
  }
  return 0;
}
