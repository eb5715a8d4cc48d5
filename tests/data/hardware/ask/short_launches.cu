// SPDX-License-Identifier: Apache-2.0
// Asks a GPU what the first loads and the last stores of a launch cost, which short launches consist of.
//
//   nvcc -O3 -std=c++17 -arch=native -o short_launches tests/data/hardware/ask/short_launches.cu
//   python3 tests/data/hardware/ask/calibration.py ./short_launches > answers.csv        needs ncu
//
// A name is what the kernel does, blocks, threads of a block, loads, and bytes between what they load. `times` is the
// number of loads. In "chain", each load waits for the one before; in "apart", they start together. Those with
// "store" store what they loaded at the end. `cycles` is the time that one warp sees; `nanoseconds` are those of the launch.
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                                                    \
  do {                                                                                                                 \
    if (const cudaError_t error = (call); error != cudaSuccess) {                                                      \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));                                              \
      std::exit(1);                                                                                                    \
    }                                                                                                                  \
  } while (false)

namespace {

__device__ long long slowest = 0;

__global__ void nothing(int* out, int never) {
  if (never == 77) *out = never;
}

template <int Loads, bool Chain, bool Store, bool Timed> __global__ void access(const int* in, size_t apart, int* out, int never) {
  const size_t thread = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  const long long begin = Timed ? clock64() : 0;
  int sum = 0;
#pragma unroll
  for (int k = 0; k < Loads; ++k) {
    const int value = in[thread + k * apart + (Chain ? sum : 0)];
    sum += value;
  }
  if (Store || sum == never) out[thread] = sum;
  if (Timed && threadIdx.x == 0 && blockIdx.x == 0) slowest = clock64() - begin + (sum == never);
}

/// Copies or reads memory of the host, or writes it.
__global__ void copy(const int4* in, int4* out, unsigned count, int never) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const int4 four = in ? in[i] : make_int4(1, 2, 3, never);
    if (out || four.x == never) out[i] = four;
  }
}

int launches = 0;

void print(const char* name, int blocks, int threads, int loads, size_t apart, bool timed) {
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  long long cycles = 0;
  if (timed) CHECK(cudaMemcpyFromSymbol(&cycles, slowest, sizeof cycles));
  std::printf("%d,%s %d %d %d %zu,%d,%lld\n", launches++, name, blocks, threads, loads, apart * 4, loads, cycles);
}

template <int Loads, bool Chain, bool Store> void ask(const char* name, const int* in, int* out) {
  for (const int blocks : {1, 132, 1056})
    for (const size_t apart : {size_t(1) << 10, size_t(1) << 19, size_t(1) << 22}) { // 4 KB: little memory; 2 MB, 16 MB: other pages
      if (Loads < 2 && apart != size_t(1) << 22) continue;
      if (blocks > 1 && apart == size_t(1) << 10) continue;
      access<Loads, Chain, Store, false><<<blocks, 256>>>(in, apart, out, 77);
      print(name, blocks, 256, Loads, apart, false);
    }
  access<Loads, Chain, Store, true><<<1, 32>>>(in, 1 << 22, out, 77);
  print("timed", 1, 32, Loads, 1 << 22, true);
}

/// Sizes of each direction; loads is the number of bytes.
void ask_host(const int* device_in, int* device_out) {
  int4* host = nullptr;
  constexpr unsigned kMost = 1u << 26;
  CHECK(cudaHostAlloc(&host, 2 * size_t(kMost), cudaHostAllocMapped));
  for (unsigned i = 0; i < 2 * kMost / 16; ++i) host[i] = make_int4(0, 0, 0, 0);
  for (unsigned bytes = 4096; bytes <= kMost; bytes *= 16) {
    const unsigned count = bytes / 16, blocks = count < 256 * 1056 ? (count + 255) / 256 : 1056;
    copy<<<blocks, 256>>>(host, nullptr, count, 77);
    print("host_read", blocks, 256, bytes, 0, false);
    copy<<<blocks, 256>>>(nullptr, host, count, 77);
    print("host_write", blocks, 256, bytes, 0, false);
    copy<<<blocks, 256>>>(host, host + kMost / 16, count, 77);
    print("host_copy", blocks, 256, bytes, 0, false);
    copy<<<blocks, 256>>>(reinterpret_cast<const int4*>(device_in), reinterpret_cast<int4*>(device_out) + kMost / 16, count, 77);
    print("device_copy", blocks, 256, bytes, 0, false);
  }
}

} // namespace

int main() {
  int *in = nullptr, *out = nullptr;
  CHECK(cudaMalloc(&in, size_t(1) << 28));
  CHECK(cudaMemset(in, 0, size_t(1) << 28));
  CHECK(cudaMalloc(&out, size_t(1) << 28));
  for (int again = 0; again < 2; ++again) {
    for (const int blocks : {1, 132, 1056}) {
      nothing<<<blocks, 256>>>(out, 0);
      print("nothing", blocks, 256, 0, 0, false);
    }
    ask<0, true, true>("store", in, out);
    ask<1, true, false>("load", in, out);
    ask<1, true, true>("load_store", in, out);
    ask<2, true, false>("chain", in, out);
    ask<2, true, true>("chain_store", in, out);
    ask<4, true, false>("chain", in, out);
    ask<4, true, true>("chain_store", in, out);
    ask<8, true, true>("chain_store", in, out);
    ask<4, false, true>("apart_store", in, out);
    ask<8, false, true>("apart_store", in, out);
  }
  ask_host(in, out);
}
