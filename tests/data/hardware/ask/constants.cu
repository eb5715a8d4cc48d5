// SPDX-License-Identifier: Apache-2.0
// Asks a GPU what the first and the next accesses to kernel parameters and to constant memory cost.
//
//   nvcc -O3 -std=c++17 -arch=native -o constants tests/data/hardware/ask/constants.cu
//   python3 tests/data/hardware/ask/calibration.py ./constants > answers.csv        needs ncu
//
// A name is what is read and how, bytes, blocks, warps of a block, and the turn: 0 reads all for the first time.
// `times` is the number of reads of a warp in a turn, and `cycles` is what the slowest block takes for them. "operands"
// are at addresses that the code names, 64 bytes apart; "loads" at addresses that the warp computes, each independent
// of the others, and "chain" at the address that the load before has read. "code" executes as many instructions without
// reading.
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

constexpr int kTurns = 3, kWords = 16384, kStep = 16; // words in 64 bytes

__device__ unsigned long long slowest[kTurns];
__constant__ unsigned constants[kWords];

template <int Words> struct Parameters { unsigned word[Words]; };

enum class How { operands, loads, chain, code };

template <How how, int Words, class Read> __device__ unsigned read_all(unsigned sum, Read&& read) {
  if (how == How::operands) {
#pragma unroll
    for (int i = 0; i < Words; i += kStep) sum = (sum ^ read(i)) + (sum >> 1);
  } else if (how == How::code) {
#pragma unroll
    for (int i = 0; i < Words; i += kStep) sum = (sum ^ unsigned(i)) + (sum >> 1);
  } else if (how == How::loads) {
#pragma unroll 4
    for (int i = 0; i < Words; i += kStep) sum = (sum ^ read(i)) + (sum >> 1);
  } else {
    unsigned at = 0;
#pragma unroll 1
    for (int i = 0; i < Words; i += kStep) at = read(at);
    sum += at;
  }
  return sum;
}

template <How how, int Words, class Read> __device__ void measure(Read&& read, unsigned* out) {
  unsigned sum = threadIdx.x;
#pragma unroll 1
  for (int turn = 0; turn < kTurns; ++turn) {
    __syncthreads();
    const long long begin = clock64();
    sum = read_all<how, Words>(sum, read);
    if (sum == 77) out[1] = sum;
    __syncthreads();
    const unsigned long long taken = clock64() - begin;
    if (threadIdx.x == 0) atomicMax(&slowest[turn], taken);
  }
  if (sum == 77) out[0] = sum;
}

template <How how, int Words>
__global__ void of_parameters(const __grid_constant__ Parameters<Words> p, unsigned* out) {
  measure<how, Words>([&](unsigned i) { return p.word[i]; }, out);
}

template <How how, int Words> __global__ void of_constants(unsigned* out) {
  measure<how, Words>([&](unsigned i) { return constants[i]; }, out);
}

int launches = 0;

void print(const char* what, int words, int blocks, int warps) {
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  unsigned long long cycles[kTurns];
  const unsigned long long none[kTurns] = {};
  CHECK(cudaMemcpyFromSymbol(cycles, slowest, sizeof cycles));
  CHECK(cudaMemcpyToSymbol(slowest, none, sizeof none));
  for (int turn = 0; turn < kTurns; ++turn)
    std::printf("%d,%s %d %d %d %d,%d,%llu\n", launches, what, words * 4, blocks, warps, turn, words / kStep,
                cycles[turn]);
  ++launches;
}

template <How how, int Words> void ask_parameters(const char* what, unsigned* out, int blocks, int warps) {
  Parameters<Words> p;
  for (int i = 0; i < Words; ++i) p.word[i] = (i + kStep) % Words;
  of_parameters<how, Words><<<blocks, 32 * warps>>>(p, out);
  print(what, Words, blocks, warps);
}

template <How how, int Words> void ask_constants(const char* what, unsigned* out, int blocks, int warps) {
  static unsigned words[kWords];
  for (int i = 0; i < kWords; ++i) words[i] = (i + kStep) % Words;
  CHECK(cudaMemcpyToSymbol(constants, words, sizeof words));
  of_constants<how, Words><<<blocks, 32 * warps>>>(out);
  print(what, Words, blocks, warps);
}

template <int Words> void ask(unsigned* out, int blocks, int warps) {
  if constexpr (Words <= 7680) {
    ask_parameters<How::operands, Words>("parameter_operands", out, blocks, warps);
    ask_parameters<How::loads, Words>("parameter_loads", out, blocks, warps);
    ask_parameters<How::chain, Words>("parameter_chain", out, blocks, warps);
  }
  ask_constants<How::operands, Words>("constant_operands", out, blocks, warps);
  ask_constants<How::loads, Words>("constant_loads", out, blocks, warps);
  ask_constants<How::chain, Words>("constant_chain", out, blocks, warps);
  ask_constants<How::code, Words>("code", out, blocks, warps);
}

} // namespace

int main() {
  unsigned* out = nullptr;
  CHECK(cudaMalloc(&out, 64));
  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  std::fprintf(stderr, "%s\n", device.name);
  for (const int blocks : {1, device.multiProcessorCount, 4 * device.multiProcessorCount})
    for (const int warps : {1, 8}) {
      ask<64>(out, blocks, warps);
      ask<128>(out, blocks, warps);
      ask<192>(out, blocks, warps);
      ask<256>(out, blocks, warps);
      ask<512>(out, blocks, warps);
      ask<1024>(out, blocks, warps);
      ask<2048>(out, blocks, warps);
      ask<4096>(out, blocks, warps);
      ask<7680>(out, blocks, warps);
      ask<16384>(out, blocks, warps);
    }
}
