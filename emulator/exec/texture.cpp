#include "emulator/exec/texture.hpp"

#include <algorithm>

namespace warplens::exec {

void Image::lay_out() {
  std::uint64_t offset = 0;
  for (std::uint32_t l = 0; l < levels && l < kMaxLevels; ++l) {
    ImageLevel& now = level[l];
    now.width = std::max(1u, width >> l);
    now.height = std::max(1u, height >> l);
    now.depth = std::max(1u, depth >> l);
    now.offset = offset;
    now.row_bytes = l == 0 && pitch != 0 ? pitch : std::uint64_t{now.width} * texel_bytes();
    now.slice_bytes = now.row_bytes * now.height;
    offset += now.slice_bytes * std::max(now.depth, slices());
  }
}

std::uint64_t Image::bytes() const {
  const ImageLevel& last = level[levels - 1];
  // The last row of pitched memory need not be whole.
  const std::uint64_t rows = last.slice_bytes * std::max(last.depth, slices());
  return last.offset + rows - last.row_bytes + std::uint64_t{last.width} * texel_bytes();
}

} // namespace warplens::exec
