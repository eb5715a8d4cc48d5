// Does a warp repeat itself? It looks at the warp's state every so often: registers, what runs next, which lanes and
// paths. A warp whose states come in a cycle does nothing but wait for memory to change (Brent, "An improved Monte
// Carlo factorization algorithm", 1980: the state kept is replaced after 1, 2, 4, … looks until it comes again).
//
// A loop that counts, or that reads a clock, is no repetition. Memory is not part of the state: who draws conclusions
// has to see whether it changes.
#pragma once

#include "emulator/exec/block/paths.hpp"

#include <span>

namespace warplens::exec {

class Repetition {
public:
  /// Books what a turn used; true where it is time to look. `bytes`: of the warp's header and register file.
  bool due(std::int64_t used, std::uint32_t bytes) {
    used_ += used;
    return used_ >= kInterval && used_ >= kPerByte * std::int64_t{bytes};
  }
  void look(const Warp& warp, std::uint32_t bytes);
  [[nodiscard]] bool repeats() const { return period_ != 0; }

  /// Has the warp only waited, or repeated itself, since this was asked last? Of one that can run it is known after
  /// another look.
  bool quiet(const Warp& warp);
  [[nodiscard]] bool looked_at(const Warp& warp) const { return looked_ || warp.state != WarpState::ready; }

  std::uint32_t turns = 0; ///< of the warp that were used up

private:
  // Looks cost less than a percent at this distance; most warps end before the first that counts.
  static constexpr std::int64_t kInterval = 20'000, kPerByte = 6; // warp instructions
  static constexpr std::uint32_t kFirst = 4;

  std::int64_t used_ = 0;
  std::uint32_t looks_ = 0;                 ///< that did not count
  std::uint64_t kept_ = 0;                  ///< state
  std::uint32_t since_ = 0;                 ///< looks since it was kept, or since it came again
  std::uint32_t limit_ = 1;                 ///< looks after which another is kept
  std::uint32_t period_ = 0;                ///< looks from one time to the next; 0: it has not come again
  bool looked_ = false;                     ///< since quiet() was asked …
  std::uint64_t steps_ = ~std::uint64_t{0}; ///< … and the warp's steps then
};

/// A number that changes with any of the bytes.
std::uint64_t digest(std::span<const std::byte> bytes, std::uint64_t seed = 0);

} // namespace warplens::exec
