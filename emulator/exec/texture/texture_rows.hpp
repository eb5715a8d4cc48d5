// SPDX-License-Identifier: Apache-2.0
// The results of a texture unit for a warp: sample() of sampler.hpp for 32 threads at once, with the same bits.
// Compiled once per level; rare cases are left to sample().
//
//   SampledRows rows;
//   Mask answered = level.sample({&image, &sampler, &site, warp, mask, false}, rows);   // rows.value[channel][lane]
#pragma once

#include "emulator/exec/state/texture.hpp"
#include "emulator/exec/state/texture_site.hpp"
#include "emulator/exec/state/warp.hpp"

namespace warplens::exec {

template <class T> struct alignas(64) Row {
  T of[kWarpSize];
  T& operator[](int lane) { return of[lane]; }
  const T& operator[](int lane) const { return of[lane]; }
};

/// One texture and one sampler for all lanes of `mask`; the site gives the rows of their operands.
struct SampleRowsRequest {
  const Image* image = nullptr;
  const Sampler* sampler = nullptr;
  const TextureSite* site = nullptr;
  Warp* warp = nullptr;
  Mask mask = 0;
  bool addresses = false; ///< return addresses, for a watcher
};

/// SampleAnswer of 32 lanes. Channels that the site has no row for, and other lanes than were asked for, are undefined.
struct SampledRows {
  Row<std::uint32_t> value[4];
  Row<std::uint64_t> address;
};

/// sample(), lane by lane, for the remaining lanes. It takes the same operands.
void sample_lanes(const SampleRowsRequest& request, Mask lanes, SampledRows& to);

} // namespace warplens::exec
