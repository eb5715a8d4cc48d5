// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/texture/texture_rows.hpp"

#include "emulator/exec/texture/sampler.hpp"

#include <bit>

namespace warplens::exec {

namespace {

SampleRequest request_of(const SampleRowsRequest& all, int lane) {
  const TextureSite& site = *all.site;
  const auto word = [&](std::uint32_t offset) { return offset == 0 ? 0 : row<std::uint32_t>(all.warp, offset)[lane]; };
  const auto number = [&](std::uint32_t offset) { return std::bit_cast<float>(word(offset)); };
  SampleRequest r;
  r.image = all.image;
  r.sampler = all.sampler;
  r.site = all.site;
  for (std::size_t i = 0; i < 4; ++i) r.coordinate[i] = word(site.coordinate[i]);
  r.level = word(site.level);
  r.compare = number(site.compare);
  for (std::size_t i = 0; i < 3; ++i) {
    r.offset[i] = static_cast<std::int32_t>(word(site.offset[i]));
    for (std::size_t g = 0; g < 2; ++g) r.gradient[g][i] = number(site.gradient[g][i]);
  }
  return r;
}

} // namespace

void sample_lanes(const SampleRowsRequest& request, Mask lanes, SampledRows& to) {
  for (const int lane : EachLane(lanes)) {
    const SampleAnswer answer = sample(request_of(request, lane));
    for (std::size_t c = 0; c < 4; ++c) to.value[c][lane] = answer.value[c];
    to.address[lane] = answer.address;
  }
}

} // namespace warplens::exec
