// SPDX-License-Identifier: Apache-2.0
// The words of global memory that compare-and-swaps update, and how often: on a GPU, these updates follow each other,
// and those that another one has overtaken are repeated.
//
//   SwappedWords swapped;
//   swapped.add({block, warp}, address);                // each update
//   all.merge(swapped);                                 // a sum: the same for any distribution of blocks to workers
//   all.count().of_other_warps == 99
#pragma once

#include "emulator/base/archive.hpp"
#include "emulator/exec/state/events.hpp"
#include "emulator/exec/state/launch.hpp"

#include <cstdint>
#include <unordered_map>

namespace warplens::exec {

class SwappedWords {
public:
  void add(WarpId warp, std::uint64_t address);
  void merge(const SwappedWords& other);
  [[nodiscard]] Swaps count() const;
  void fields(Archive& a);

private:
  struct Word {
    std::uint64_t updates = 0;
    std::uint64_t of_warp = 0, most_of_warp = 0; ///< without a pause: of the warp that came last, and of any
    WarpId last;
  };
  std::unordered_map<std::uint64_t, Word> words_; ///< by address
};

} // namespace warplens::exec
