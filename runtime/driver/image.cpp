#include "runtime/driver/image.hpp"

#include "runtime/driver/serve.hpp"

#include <cstring>

namespace warplens::runtime {

namespace {

constexpr std::uint32_t kFatBinary = 0xba55ed50, kFatBinaryWrapper = 0x466243b1;

} // namespace

std::vector<api::Source> ptx_of(const void* image, const model::Device&) {
  require(image != nullptr);
  std::uint32_t magic = 0;
  std::memcpy(&magic, image, sizeof magic);
  if (magic == kFatBinary || magic == kFatBinaryWrapper)
    throw Failure{CUDA_ERROR_NO_BINARY_FOR_GPU, "fat binaries cannot be read yet: hand over the PTX"};
  if (std::memcmp(image,
                  "\x7f"
                  "ELF",
                  4) == 0)
    throw Failure{CUDA_ERROR_NO_BINARY_FOR_GPU,
                  "the image is machine code: Warplens runs PTX (nvcc -gencode arch=compute_90,code=compute_90)"};
  return {{static_cast<const char*>(image), "<ptx>"}};
}

} // namespace warplens::runtime
