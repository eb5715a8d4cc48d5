// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/state/texture.hpp"

#include "emulator/base/checked.hpp"

#include <algorithm>

namespace warplens::exec {

void Image::lay_out() {
  Checked offset = 0, end = 0;
  for (std::uint32_t l = 0; l < levels && l < kMaxLevels; ++l) {
    ImageLevel& now = level[l];
    now.width = std::max(1u, width >> l);
    now.height = std::max(1u, height >> l);
    now.depth = std::max(1u, depth >> l);
    const Checked texels = Checked(now.width) * channels * static_cast<std::uint32_t>(isa::bytes(type)) * samples;
    const Checked row = l == 0 && pitch != 0 ? Checked(pitch) : texels, slice = row * now.height;
    const Checked all = slice * std::max(std::uint64_t{layers} * (cube ? 6 : 1), std::uint64_t{now.depth});
    now.offset = offset.saturated();
    now.row_bytes = row.saturated();
    now.slice_bytes = slice.saturated();
    end = offset + all - row + texels; // the last row of pitched memory may be incomplete
    offset += all;
  }
  bytes_ = end.saturated();
}

} // namespace warplens::exec
