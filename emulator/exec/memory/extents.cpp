// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/memory/extents.hpp"

#include "emulator/base/checked.hpp"

#include <algorithm>
#include <utility>

namespace warplens::exec {

void Extents::update(Piece& piece) {
  piece.largest = piece.size;
  for (const Tree* below : {&piece.lower, &piece.higher})
    if (*below) piece.largest = std::max(piece.largest, (*below)->largest);
}

// All pieces of `low` are below those of `high`.
Extents::Tree Extents::joined(Tree low, Tree high) {
  if (!low || !high) return low ? std::move(low) : std::move(high);
  const bool low_is_top = low->priority > high->priority;
  Tree top = std::move(low_is_top ? low : high);
  if (low_is_top)
    top->higher = joined(std::move(top->higher), std::move(high));
  else
    top->lower = joined(std::move(low), std::move(top->lower));
  update(*top);
  return top;
}

// `low` gets the pieces that begin below `at`, `high` the others.
void Extents::split(Tree tree, std::uint64_t at, Tree& low, Tree& high) {
  if (!tree) {
    low = nullptr;
    high = nullptr;
    return;
  }
  const bool is_low = tree->begin < at;
  Tree rest = std::move(is_low ? tree->higher : tree->lower);
  if (is_low)
    split(std::move(rest), at, tree->higher, high);
  else
    split(std::move(rest), at, low, tree->lower);
  update(*tree);
  (is_low ? low : high) = std::move(tree);
}

Extents::Tree Extents::piece(std::uint64_t begin, std::uint64_t size) {
  if (size == 0) return nullptr;
  // Marsaglia's xorshift: <random> takes half a second to compile wherever memory is included.
  random_ ^= random_ << 13;
  random_ ^= random_ >> 17;
  random_ ^= random_ << 5;
  return std::make_unique<Piece>(Piece{begin, size, size, random_, nullptr, nullptr});
}

void Extents::give(std::uint64_t begin, std::uint64_t size) {
  if (size == 0) return;
  Tree low, high, neighbor;
  split(std::move(pieces_), begin, low, high);
  const Piece* before = low.get();
  while (before != nullptr && before->higher) before = before->higher.get();
  if (before != nullptr && before->begin + before->size == begin) {
    split(std::move(low), before->begin, low, neighbor);
    begin = neighbor->begin;
    size += neighbor->size;
  }
  const Piece* after = high.get();
  while (after != nullptr && after->lower) after = after->lower.get();
  if (after != nullptr && after->begin == begin + size) {
    split(std::move(high), after->begin + 1, neighbor, high);
    size += neighbor->size;
  }
  pieces_ = joined(joined(std::move(low), piece(begin, size)), std::move(high));
}

const Extents::Piece* Extents::first_fit(const Piece* tree, std::uint64_t size, std::uint64_t alignment) {
  if (tree == nullptr || tree->largest < size) return nullptr;
  if (const Piece* lower = first_fit(tree->lower.get(), size, alignment)) return lower;
  if ((Checked(tree->begin).aligned(alignment) + size).at_most(tree->begin + tree->size)) return tree;
  return first_fit(tree->higher.get(), size, alignment);
}

std::optional<std::uint64_t> Extents::take(std::uint64_t size, std::uint64_t alignment) {
  if (size == 0) return std::nullopt;
  const Piece* fit = first_fit(pieces_.get(), size, alignment);
  if (fit == nullptr) return std::nullopt;
  const std::uint64_t begin = fit->begin, end = fit->begin + fit->size;
  const std::uint64_t place = Checked(begin).aligned(alignment).saturated();
  Tree low, taken, high;
  split(std::move(pieces_), begin, low, high);
  split(std::move(high), begin + 1, taken, high);
  pieces_ = joined(joined(joined(std::move(low), piece(begin, place - begin)), piece(place + size, end - place - size)),
                   std::move(high));
  return place;
}

} // namespace warplens::exec
