// SPDX-License-Identifier: Apache-2.0
// A convolution as a matrix product: 3 x 3, padded by 1, 64 channels in. A block has 64 pixels of the output, one image
// after the other, and 64 of its channels; a tensor map of the kind im2col loads what a place of the filter sees.
#include "tests/programs/hopper/hopper.cuh"

namespace {

constexpr int kTile = 64, kChannels = 64, kFilter = 3, kBytes = kTile * kChannels * 2;

struct Shared {
  alignas(1024) unsigned char pixels[2][kBytes], filter[2][kBytes];
  uint64_t full[2];
};

struct Shape {
  int width, height, images, channels; // of the output
};

__device__ void load(Shared& s, const CUtensorMap* pixels, const CUtensorMap* filter, int step, Shape shape) {
  uint64_t* const full = &s.full[step % 2];
  const int first = blockIdx.x * kTile, image = shape.width * shape.height;
  const hopper::Pixel at{0, first % shape.width - 1, first % image / shape.width - 1, first / image};
  hopper::expect(full, 2 * kBytes);
  hopper::load_pixels(s.pixels[step % 2], pixels, full, at, static_cast<uint16_t>(step % kFilter),
                      static_cast<uint16_t>(step / kFilter));
  hopper::load(s.filter[step % 2], filter, full, step * kChannels, blockIdx.y * kTile);
}

} // namespace

extern "C" __global__ void __launch_bounds__(128)
    convolution(const __grid_constant__ CUtensorMap pixels, const __grid_constant__ CUtensorMap filter, float* out,
                int width, int height, int images, int channels) {
  extern __shared__ __align__(1024) unsigned char memory[];
  Shared& s = *reinterpret_cast<Shared*>(memory);
  const Shape shape{width, height, images, channels};
  if (threadIdx.x == 0) {
    hopper::init(&s.full[0], 1);
    hopper::init(&s.full[1], 1);
    hopper::fence_init();
    load(s, &pixels, &filter, 0, shape);
  }
  __syncthreads();
  float sums[kTile / 2];
  for (int step = 0; step < kFilter * kFilter; ++step) {
    if (threadIdx.x == 0 && step + 1 < kFilter * kFilter) load(s, &pixels, &filter, step + 1, shape);
    hopper::wait(&s.full[step % 2], step / 2 % 2);
    const uint64_t a = hopper::descriptor(s.pixels[step % 2], 128), b = hopper::descriptor(s.filter[step % 2], 128);
    hopper::begin_products();
    for (int j = 0; j < kChannels / 16; ++j) hopper::multiply_f16(sums, a + 2 * j, b + 2 * j, step + j != 0);
    hopper::end_products();
    hopper::wait_products<0>();
    __syncthreads();
  }
  for (int i = 0; i < kTile / 2; ++i) {
    const int pixel = blockIdx.x * kTile + hopper::row_of(i);
    if (pixel < width * height * images)
      out[static_cast<size_t>(pixel) * channels + blockIdx.y * kTile + hopper::column_of(i)] = sums[i];
  }
}
