// SPDX-License-Identifier: Apache-2.0
// The sectors of global memory that a launch touches: those that it loads, and those that it writes.
//
//   TouchedSectors touched(program.sites.size());
//   touched.regular(site, mask, base, stride, half);    // as AccessWatch::regular()
//   all.merge(touched);                                 // a union: the same for any distribution of blocks to workers
//   all.count().written
#pragma once

#include "emulator/exec/state/launch.hpp"
#include "emulator/exec/state/program.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <vector>

namespace warplens::exec {

class TouchedSectors {
public:
  explicit TouchedSectors(std::size_t sites) : runs_(sites) {}
  TouchedSectors(TouchedSectors&&) = default;

  /// Accesses without gaps only extend the run of their site: warps mostly go on where the one before has ended.
  void regular(const MemorySite& site, Mask mask, std::uint64_t base, const std::int64_t* stride, std::int64_t half) {
    const bool dense = mask == ~Mask{0} && stride[0] == stride[1] && half == 16 * stride[0] && is_dense(stride[0]);
    if (!dense) return halves(site, mask, base, stride, half);
    if (!extends(site, base, stride[0], half))
      begin(site, base, base + 31 * static_cast<std::uint64_t>(stride[0]) + site.observed_bytes);
  }
  /// As regular(), of a full warp without gaps that goes on where the site's run is; otherwise does nothing and returns
  /// false.
  [[gnu::always_inline]] bool extends(const MemorySite& site, std::uint64_t base, std::int64_t stride,
                                      std::int64_t half) {
    return half == 16 * stride && is_dense(stride) &&
           extends(site.index, base, base + 31 * static_cast<std::uint64_t>(stride) + site.observed_bytes);
  }
  /// Likewise, of dense accesses to [base, end).
  [[gnu::always_inline]] bool extends(std::uint32_t site, std::uint64_t base, std::uint64_t end) {
    Run& run = runs_[site];
    if (base - run.low > run.high - run.low) return false;
    run.high = std::max(run.high, end);
    return true;
  }
  /// Whether lanes with this distance leave out no sector.
  static constexpr bool is_dense(std::int64_t stride) { return static_cast<std::uint64_t>(stride) <= kSectorBytes; }
  void irregular(const MemorySite& site, Mask mask, std::uint64_t base, const std::int64_t* offsets);

  void merge(TouchedSectors& other);
  Footprint count();
  void fields(Archive& a);

private:
  static constexpr std::uint64_t kSectorBytes = 32, kPageBytes = std::uint64_t{16} << 20,
                                 kWords = kPageBytes / kSectorBytes / 64;
  struct Run {
    std::uint64_t low = 0, high = 0; ///< addresses
    bool written = false;
  };
  /// Bits of the sectors of a page that are loaded, then of those that are written. The system provides the memory
  /// when it is first used.
  struct Free {
    void operator()(std::uint64_t* words) const { std::free(words); }
  };
  using Page = std::unique_ptr<std::uint64_t[], Free>;
  void begin(const MemorySite& site, std::uint64_t low, std::uint64_t high);
  void halves(const MemorySite& site, Mask mask, std::uint64_t base, const std::int64_t* stride, std::int64_t half);
  void mark(bool written, std::uint64_t low, std::uint64_t high);
  template <class AddressOf> void mark_lanes(const MemorySite& site, Mask lanes, AddressOf&& address_of);
  std::uint64_t* words_of(std::uint64_t page, bool written);
  void flush();

  std::vector<Run> runs_; ///< by site: not in the pages yet
  std::map<std::uint64_t, Page> pages_;
  std::uint64_t recent_ = ~std::uint64_t{0}; ///< the page that was used last, …
  std::uint64_t* words_of_recent_ = nullptr; ///< … and its bits
};

} // namespace warplens::exec
