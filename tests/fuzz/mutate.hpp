// SPDX-License-Identifier: Apache-2.0
// Changes inputs at random, in units of their format: bytes and numbers of binary formats, words and lines of text.
// mutate_ptx.hpp knows the instructions of PTX.
//
//   Random random(seed);
//   mutate_text(input, {random, {"[buffer.x]", "type"}, other_input});
#pragma once

#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::fuzz {

/// SplitMix64 (Steele, Lea and Flood, 2014): the same sequence on every machine.
class Random {
public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t operator()() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// Below `n`, which is not 0.
  std::size_t below(std::size_t n) { return (*this)() % n; }
  bool one_in(std::size_t n) { return below(n) == 0; }
  template <class List> auto& any(List& list) { return list[below(std::size(list))]; }

private:
  std::uint64_t state_;
};

struct Mutation {
  Random& random;
  const std::vector<std::string>& dictionary;
  std::string_view other; ///< another input, whose parts can be used; can be empty
};

using Mutator = void(std::string& input, const Mutation& how);

Mutator mutate_bytes, mutate_text;

/// A number at which code often goes wrong: 0, -1, powers of two and their neighbours.
std::int64_t interesting_number(Random& random);

/// The words, numbers, strings and marks of a text, with the white space between them: together they are the text.
std::vector<std::string_view> tokens_of(std::string_view text);

} // namespace warplens::fuzz
