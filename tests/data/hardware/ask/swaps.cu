// SPDX-License-Identifier: Apache-2.0
// How long updates of global memory by compare-and-swap take that several warps make: of one word by few warps, and of
// words at random by warps that do not begin at the same time. The profiler measures each launch, in this order:
//
//   nvcc -O3 -arch=sm_90 swaps.cu -o swaps
//   ncu --csv --metrics sm__cycles_elapsed.max ./swaps > profiled.csv
//   ./swaps names            prints what each launch is: paste -d, of both is swaps_h200.csv
#include <cstdio>
#include <cstring>

__device__ unsigned add(unsigned* word) {
  unsigned old = *reinterpret_cast<volatile unsigned*>(word), assumed;
  unsigned tries = 0;
  do {
    assumed = old;
    old = atomicCAS(word, assumed, assumed + 1);
    ++tries;
  } while (old != assumed);
  return tries;
}

/// One thread a block; each makes `updates` of one word.
__global__ void one_word(unsigned* word, int updates) {
  for (int i = 0; i < updates; ++i) add(word);
}

/// Each thread updates a word at random, after up to `spread` cycles.
__global__ void random_words(unsigned* words, unsigned mask, unsigned spread) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned h = i * 2654435761u;
  h = (h ^ h >> 15) * 2246822519u;
  h ^= h >> 13;
  const long long start = clock64();
  const long long wait = spread == 0 ? 0 : (h >> 8) % spread;
  while (clock64() - start < wait) {
  }
  add(words + (h & mask));
}

bool only_names = false;
template <class Launch> void ask(const char* name, int a, int b, int c, Launch launch) {
  if (only_names)
    std::printf("%s %d %d %d\n", name, a, b, c);
  else
    launch();
}

int main(int count, char** arguments) {
  only_names = count > 1 && std::strcmp(arguments[1], "names") == 0;
  unsigned* words = nullptr;
  if (!only_names) cudaMalloc(&words, 4 << 20);
  if (!only_names) cudaMemset(words, 0, 4 << 20);
  for (const int blocks : {1, 2, 4, 8, 16, 32, 64, 128})
    for (const int updates : {16, 144}) ask("one_word", blocks, updates, 0, [&] { one_word<<<blocks, 1>>>(words, updates); });
  for (const int blocks : {40, 391})
    for (const int bits : {8, 12, 14, 15, 16, 20})
      for (const int spread : {0, 2000, 8000})
        ask("random_words", blocks, bits, spread,
            [&] { random_words<<<blocks, 256>>>(words, (1u << bits) - 1, spread); });
  if (!only_names) std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
