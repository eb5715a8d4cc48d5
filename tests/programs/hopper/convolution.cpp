// SPDX-License-Identifier: Apache-2.0
// Runs convolution.ptx, which is given, and compares with the sums of the host.
#include "tests/programs/hopper/gpu.hpp"
#include "tests/programs/hopper/numbers.hpp"

namespace {

constexpr int kImages = 2, kHeight = 7, kWidth = 9, kIn = 64, kOut = 128, kFilter = 3;
constexpr int kPixels = kImages * kHeight * kWidth;

std::size_t place(int image, int y, int x) { return static_cast<std::size_t>((image * kHeight + y) * kWidth + x); }

// Of one output pixel.
void add(const std::vector<float>& in, const std::vector<float>& filter, int image, int y, int x, double* out) {
  for (int dy = 0; dy < kFilter; ++dy)
    for (int dx = 0; dx < kFilter; ++dx) {
      const int from_y = y + dy - 1, from_x = x + dx - 1;
      if (from_y < 0 || from_y >= kHeight || from_x < 0 || from_x >= kWidth) continue;
      const float* const pixel = in.data() + place(image, from_y, from_x) * kIn;
      for (int o = 0; o < kOut; ++o)
        for (int c = 0; c < kIn; ++c)
          out[o] += double{pixel[c]} * filter[static_cast<std::size_t>(((o * kFilter + dy) * kFilter + dx) * kIn + c)];
    }
}

} // namespace

int main(int, char** arguments) {
  gpu::Gpu device(arguments[1]);
  const std::vector<float> in = numbers::eighths(kPixels * kIn, 10);
  const std::vector<float> filter = numbers::eighths(std::size_t{kOut} * kFilter * kFilter * kIn, 11);
  constexpr std::uint64_t depth = kFilter * kFilter * kIn;
  const gpu::TensorMap filter_map = gpu::tiled({.type = gpu::Type::f16,
                                                .address = gpu::Gpu::copied(numbers::halves(filter)),
                                                .sizes = {depth, kOut},
                                                .strides = {2 * depth},
                                                .swizzle = gpu::Swizzle::of_128},
                                               {64, 64});
  const gpu::Tensor pixels{.type = gpu::Type::f16,
                           .address = gpu::Gpu::copied(numbers::halves(in)),
                           .sizes = {kIn, kWidth, kHeight, kImages},
                           .strides = {2 * kIn, 2 * kIn * kWidth, 2 * kIn * kWidth * kHeight},
                           .swizzle = gpu::Swizzle::of_128};
  const int lower[2] = {-1, -1}, upper[2] = {-1, -1};
  gpu::TensorMap pixel_map{};
  if (const int error = gpu::encode_im2col(&pixel_map, pixels, lower, upper, kIn, 64); error != 0) {
    std::fprintf(stderr, "cuTensorMapEncodeIm2col: error %d\n", error);
    return 1;
  }
  const gpu::Pointer out = gpu::Gpu::zeros(std::size_t{kPixels} * kOut * 4);
  constexpr unsigned shared = 4 * 8192 + 16;
  device.launch("convolution", {(kPixels + 63) / 64, kOut / 64}, {128}, shared, pixel_map, filter_map, out, kWidth,
                kHeight, kImages, kOut);
  std::vector<double> expected(std::size_t{kPixels} * kOut);
  for (int image = 0; image < kImages; ++image)
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x) add(in, filter, image, y, x, expected.data() + place(image, y, x) * kOut);
  return numbers::report("convolution", gpu::Gpu::back<float>(out, expected.size()), expected, 1e-6);
}
