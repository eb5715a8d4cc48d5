// Pieces of an address range that nobody uses. First fit: the lowest piece that is large enough, so that addresses
// depend on history no more than they must. Taking and giving back cost the logarithm of the number of pieces, unless
// many pieces are large enough, but cannot hold an aligned place.
//
//   Extents free;  free.give(0x1000, 0x4000);  *free.take(0x100, 1) == 0x1000;  free.give(0x1000, 0x100);
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <random>

namespace warplens::exec {

class Extents {
public:
  /// [begin, begin + size) is nobody's now; joined with what is free beside it.
  void give(std::uint64_t begin, std::uint64_t size);
  /// The lowest `size` bytes at a multiple of `alignment`, a power of two. Empty: there are none.
  std::optional<std::uint64_t> take(std::uint64_t size, std::uint64_t alignment);

private:
  // A treap: a search tree by `begin` whose priorities, which are random, keep it balanced.
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
  std::minstd_rand random_; // the same in each run
};

} // namespace warplens::exec
