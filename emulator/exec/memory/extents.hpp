// SPDX-License-Identifier: Apache-2.0
// The free pieces of an address range. First fit: the lowest piece that is large enough is used, so that addresses
// depend little on history. Both operations take logarithmic time in the number of pieces, unless many pieces are large
// enough but cannot hold an aligned block.
//
//   Extents free;  free.give(0x1000, 0x4000);  *free.take(0x100, 1) == 0x1000;  free.give(0x1000, 0x100);
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

namespace warplens::exec {

class Extents {
public:
  /// Frees [begin, begin + size) and merges it with adjacent free pieces.
  void give(std::uint64_t begin, std::uint64_t size);
  /// Takes the lowest `size` bytes at a multiple of `alignment`, a power of two. Empty if there are none.
  std::optional<std::uint64_t> take(std::uint64_t size, std::uint64_t alignment);

private:
  // A treap: a search tree by `begin`, balanced by random priorities.
  struct Piece;
  using Tree = std::unique_ptr<Piece>;
  struct Piece {
    std::uint64_t begin, size;
    std::uint64_t largest; ///< size of the largest piece of the tree below, this one included
    std::uint32_t priority;
    Tree lower, higher;
  };
  static void update(Piece& piece);
  static Tree joined(Tree low, Tree high);
  static void split(Tree tree, std::uint64_t at, Tree& low, Tree& high);
  static const Piece* first_fit(const Piece* tree, std::uint64_t size, std::uint64_t alignment);
  Tree piece(std::uint64_t begin, std::uint64_t size);

  Tree pieces_;
  std::uint32_t random_ = 1; // the same in each run
};

} // namespace warplens::exec
