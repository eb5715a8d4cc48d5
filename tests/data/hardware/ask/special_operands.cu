// SPDX-License-Identifier: Apache-2.0
// Asks a GPU for which operands divisions, square roots and reciprocals that round take the longer path through a
// subroutine, and how long both take.
//
//   nvcc -O3 -std=c++17 -arch=native -o special_operands tests/data/hardware/ask/special_operands.cu
//   ./special_operands > answers.csv
//
// A line has the operation, the operands, as bits, the warps of the block, how many lanes of each warp have these
// operands (the others divide 1 by 1), and the cycles of an operation, where each waits for the one before.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                                                                    \
  do {                                                                                                                 \
    if (const cudaError_t error = (call); error != cudaSuccess) {                                                      \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));                                              \
      std::exit(1);                                                                                                    \
    }                                                                                                                  \
  } while (false)

namespace {

struct Case {
  std::uint64_t a, b;
  int lanes;
};

__device__ double as(std::uint64_t bits, double) { return __longlong_as_double(bits); }
__device__ float as(std::uint64_t bits, float) { return __uint_as_float(unsigned(bits)); }
__device__ std::uint64_t bits(double v) { return __double_as_longlong(v); }
__device__ std::uint64_t bits(float v) { return __float_as_uint(v); }

#define OPERATION(name, type, expression)                                                                              \
  struct name {                                                                                                        \
    using T = type;                                                                                                    \
    static constexpr const char* kName = #name;                                                                        \
    static __device__ T of(T a, [[maybe_unused]] T b) { return expression; }                                           \
  };
OPERATION(div_f32, float, __fdiv_rn(a, b))
OPERATION(sqrt_f32, float, __fsqrt_rn(a))
OPERATION(rcp_f32, float, __frcp_rn(a))
OPERATION(div_f64, double, __ddiv_rn(a, b))
OPERATION(sqrt_f64, double, __dsqrt_rn(a))
OPERATION(rcp_f64, double, __drcp_rn(a))

constexpr int kTimes = 16;

template <class Operation>
__global__ void operate(const Case* cases, float* cycles, std::uint64_t* out, std::uint64_t zero) {
  using T = typename Operation::T;
  const Case& one = cases[blockIdx.x];
  const bool special = threadIdx.x % 32 < one.lanes;
  const std::uint64_t ones = bits(T(1)), a = special ? one.a : ones, b = special ? one.b : ones;
  std::uint64_t sum = 0;
  long long begin = 0;
#pragma unroll 1
  for (int turn = 0; turn < 2; ++turn) {
    __syncthreads();
    begin = clock64();
#pragma unroll 1
    for (int i = 0; i < kTimes; ++i) sum = bits(Operation::of(as(a ^ (sum & zero), T{}), as(b, T{})));
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
    __syncthreads();
    begin = clock64() - begin;
  }
  if (threadIdx.x == 0) cycles[blockIdx.x] = float(begin) / kTimes;
}

std::vector<std::uint64_t> operands(bool wide) {
  std::vector<std::uint64_t> all;
  const int mantissa = wide ? 52 : 23, most = wide ? 2047 : 255, bias = wide ? 1023 : 127;
  const auto of = [&](int exponent, std::uint64_t rest) { all.push_back(std::uint64_t(exponent) << mantissa | rest); };
  of(0, 0);
  of(0, 1);
  of(0, std::uint64_t(1) << (mantissa - 1));
  for (const int e : {1, 2, 4, 16, 22, 24, 25, 26, 27, 28, 32, 52, 53, 54, 55, 64}) of(e, 1);
  for (const int e : {-64, -32, -8, -1, 0, 1, 8, 32, 64}) of(bias + e, 1);
  for (const int e : {-128, -64, -32, -25, -24, -8, -7, -6, -5, -4, -3, -2, -1}) of(most + e, 1);
  of(most, 0);
  of(most, 1);
  return all;
}

template <class Operation> void ask(bool two, int warps, int lanes) {
  const bool wide = sizeof(typename Operation::T) == 8;
  std::vector<Case> cases;
  const std::uint64_t one = wide ? 0x3ff0000000000000u : 0x3f800000u;
  for (const std::uint64_t a : operands(wide))
    if (two)
      for (const std::uint64_t b : operands(wide)) cases.push_back({a, b, lanes});
    else
      cases.push_back({a, one, lanes});
  Case* on_device = nullptr;
  float* cycles = nullptr;
  std::uint64_t* out = nullptr;
  CHECK(cudaMalloc(&on_device, cases.size() * sizeof(Case)));
  CHECK(cudaMalloc(&cycles, cases.size() * sizeof(float)));
  CHECK(cudaMalloc(&out, cases.size() * 8 * 32 * warps));
  CHECK(cudaMemcpy(on_device, cases.data(), cases.size() * sizeof(Case), cudaMemcpyHostToDevice));
  // A block has a multiprocessor for itself.
  const int shared = 200 << 10;
  CHECK(cudaFuncSetAttribute(operate<Operation>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  operate<Operation><<<unsigned(cases.size()), 32 * warps, shared>>>(on_device, cycles, out, 0);
  CHECK(cudaGetLastError());
  std::vector<float> taken(cases.size());
  CHECK(cudaMemcpy(taken.data(), cycles, taken.size() * sizeof(float), cudaMemcpyDeviceToHost));
  for (std::size_t i = 0; i < cases.size(); ++i)
    std::printf("%s,%llx,%llx,%d,%d,%.1f\n", Operation::kName, (unsigned long long)cases[i].a,
                (unsigned long long)cases[i].b, warps, lanes, taken[i]);
  CHECK(cudaFree(on_device));
  CHECK(cudaFree(cycles));
  CHECK(cudaFree(out));
}

template <class Operation> void ask_operation(bool two) {
  ask<Operation>(two, 1, 32);
  if (two) return;
  ask<Operation>(two, 1, 1);
  ask<Operation>(two, 32, 32);
}

/// A division of which the first operand is 0 or the second infinite, by some lanes and many warps.
template <class Operation> void ask_some() { ask<Operation>(true, 32, 1); }

} // namespace

int main() {
  std::printf("operation,a,b,warps,lanes,cycles\n");
  ask_operation<div_f32>(true);
  ask_operation<div_f64>(true);
  ask_operation<sqrt_f32>(false);
  ask_operation<rcp_f32>(false);
  ask_operation<sqrt_f64>(false);
  ask_operation<rcp_f64>(false);
  ask_some<div_f32>();
  ask_some<div_f64>();
}
