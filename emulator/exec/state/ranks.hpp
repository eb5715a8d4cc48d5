// SPDX-License-Identifier: Apache-2.0
// The processes that run a launch together. Rank 0 merges the results; the others know only whether the launch trapped.
//
//   std::vector<Bytes> parts = ranks.to_first(own);   // rank 0: one of each rank, in their order; others: none
//   Bytes answer = ranks.from_first(of_first);        // the bytes that rank 0 passed, on every rank
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace warplens::exec {

using Bytes = std::vector<std::byte>;
using ByteMask = std::array<std::uint64_t, 64>;         ///< a bit for each byte of a page of 4 KiB
using ChangedPages = std::map<std::uint64_t, ByteMask>; ///< by address

/// The part of the clusters of a launch that a process runs: pieces of neighbouring clusters, in turns with the other
/// ranks, so that each rank gets some of every part of the grid.
struct Share {
  unsigned rank = 0, ranks = 1;

  /// Of so many clusters, how many …
  [[nodiscard]] std::uint64_t size(std::uint64_t clusters) const {
    const std::uint64_t piece = piece_of(clusters), round = piece * ranks, begin = rank * piece;
    const std::uint64_t rest = clusters % round;
    return clusters / round * piece + (rest < begin ? 0 : rest - begin < piece ? rest - begin : piece);
  }
  /// … and which one comes at this place. Ascending.
  [[nodiscard]] std::uint64_t at(std::uint64_t clusters, std::uint64_t place) const {
    const std::uint64_t piece = piece_of(clusters);
    return (place / piece * ranks + rank) * piece + place % piece;
  }

private:
  static constexpr std::uint64_t kPieces = 8; ///< of each rank
  [[nodiscard]] std::uint64_t piece_of(std::uint64_t clusters) const {
    return ranks == 1 ? clusters + 1 : (clusters - 1) / (kPieces * ranks) + 1;
  }
};

/// Calls on all ranks must follow each other in the same order. If another rank has ended, they do not return.
class Ranks {
public:
  virtual ~Ranks() = default;
  [[nodiscard]] virtual unsigned rank() const = 0;
  [[nodiscard]] virtual unsigned count() const = 0;
  [[nodiscard]] virtual unsigned count_here() const = 0; ///< on this machine
  [[nodiscard]] bool is_first() const { return rank() == 0; }
  /// From now on, rank() stays the same: the first call of a function below may make the other ranks, too.
  virtual void start() {}

  virtual std::vector<Bytes> to_first(Bytes own) = 0;
  virtual Bytes from_first(Bytes of_first) = 0;

  /// Rank 0: whether read_pages() can read the memory of the others, so that they need not send it.
  virtual bool can_read() { return false; }
  /// Rank 0: copies pages of 4 KiB of another rank, which must wait meanwhile. False: it is impossible.
  virtual bool read_pages(unsigned rank, std::span<const std::uint64_t> pages, std::byte* to) {
    static_cast<void>(rank), static_cast<void>(pages), static_cast<void>(to);
    return false;
  }

  /// Of rank 0: the bytes that may differ on other ranks. They are sent before the next launch.
  ChangedPages unsent;
};

} // namespace warplens::exec
