// SPDX-License-Identifier: Apache-2.0
// How long lanes of a warp wait for each other: at different words of constant memory, and at words of shared memory
// that its units update. Prints a line of JSON for each launch.
//
//   nvcc -arch=native -o ask_serialised serialised.cu && ./ask_serialised > serialised.jsonl
//
// operation: what is repeated. `distinct`: how many words the lanes of a warp access. `stride`: words from one to the
// next. cycles: of the longest of the `warps` of the only block, for all `repeats`.
// "constant": a load, which needs the result of the one before.
// The atomics have values that the compiler does not know, and addresses that it cannot compare. With "used", the
// result of each is the value of the next one.
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

constexpr int kRepeats = 64, kWords = 2048;

__constant__ int own_index[kWords]; // each word holds its index

__global__ void load_constants(int distinct, int stride, long long* cycles, int* out) {
  int at = static_cast<int>(threadIdx.x % 32) % distinct * stride;
  at = own_index[at]; // the cache has it from now on
  __syncthreads();
  const long long begin = clock64();
  for (int i = 0; i < kRepeats; ++i) at = own_index[at];
  out[threadIdx.x] = at;
  __syncwarp();
  const long long end = clock64();
  if (threadIdx.x % 32 == 0) cycles[threadIdx.x / 32] = end - begin;
}

struct Add {
  static __device__ int update(int* p, int v) { return atomicAdd(p, v); }
};
struct Max {
  static __device__ int update(int* p, int v) { return atomicMax(p, v); }
};
struct Xor {
  static __device__ int update(int* p, int v) { return atomicXor(p, v); }
};
struct Exchange {
  static __device__ int update(int* p, int v) { return atomicExch(p, v); }
};

template <class Operation, bool used>
__global__ void update_shared(int distinct, int stride, int value, long long* cycles, int* out) {
  __shared__ int words[kWords];
  for (int i = static_cast<int>(threadIdx.x); i < kWords; i += static_cast<int>(blockDim.x)) words[i] = 0;
  __syncthreads();
  int* const mine = words + static_cast<int>(threadIdx.x % 32) % distinct * stride;
  int v = value + static_cast<int>(threadIdx.x);
  const long long begin = clock64();
  for (int i = 0; i < kRepeats; ++i) {
    const int old = Operation::update(mine, v);
    if (used) v = old + 1;
  }
  if (used) out[threadIdx.x] = v;
  __syncthreads();
  const long long end = clock64();
  if (threadIdx.x % 32 == 0) cycles[threadIdx.x / 32] = end - begin;
  if (threadIdx.x == 0) out[0] = words[0];
}

long long* cycles = nullptr;
int* out = nullptr;

/// The second of two launches counts.
template <class Launch>
void ask(const char* operation, int distinct, int stride, int warps, Launch&& launch) {
  long long most = 0;
  for (int i = 0; i < 2; ++i) {
    launch();
    CHECK(cudaDeviceSynchronize());
    std::vector<long long> all(static_cast<std::size_t>(warps));
    CHECK(cudaMemcpy(all.data(), cycles, all.size() * sizeof all[0], cudaMemcpyDeviceToHost));
    most = 0;
    for (const long long x : all) most = x > most ? x : most;
  }
  std::printf("{\"operation\": \"%s\", \"distinct\": %d, \"stride\": %d, \"warps\": %d, \"repeats\": %d, \"cycles\": "
              "%lld}\n",
              operation, distinct, stride, warps, kRepeats, most);
}

template <class Operation, bool used> void ask_updates(const char* name) {
  for (const int warps : {1, 4, 8, 16, 32})
    for (const int distinct : {1, 2, 4, 8, 16, 32})
      ask(name, distinct, 1, warps,
          [&] { update_shared<Operation, used><<<1, warps * 32>>>(distinct, 1, 3, cycles, out); });
}

} // namespace

int main() {
  CHECK(cudaMalloc(&cycles, 1024 * sizeof *cycles));
  CHECK(cudaMalloc(&out, 1024 * sizeof *out));
  std::vector<int> indices(kWords);
  for (int i = 0; i < kWords; ++i) indices[static_cast<std::size_t>(i)] = i;
  CHECK(cudaMemcpyToSymbol(own_index, indices.data(), sizeof own_index));
  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  std::printf("{\"device\": \"%s\"}\n", device.name);
  for (const int warps : {1, 4, 8, 16, 32})
    for (const int distinct : {1, 2, 4, 8, 16, 32})
      for (const int stride : {1, 16})
        ask("constant", distinct, stride, warps,
            [&] { load_constants<<<1, warps * 32>>>(distinct, stride, cycles, out); });
  ask_updates<Add, false>("add.u32");
  ask_updates<Add, true>("add.u32 used");
  ask_updates<Max, false>("max.s32");
  ask_updates<Xor, false>("xor.b32");
  ask_updates<Exchange, false>("exch.b32");
}
