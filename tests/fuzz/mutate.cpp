// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/mutate.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>

namespace warplens::fuzz {

namespace {

constexpr std::size_t kMostCopied = 512; // bytes of another place or input

/// A place and a length in a text.
struct Span {
  std::size_t at = 0, size = 0;
};

Span any_span(std::string_view text, Random& random, std::size_t most = kMostCopied) {
  if (text.empty()) return {};
  const std::size_t at = random.below(text.size());
  return {at, 1 + random.below(std::min(most, text.size() - at))};
}

/// Replaces some bytes by a number of one to eight bytes, or adds a small number to them.
void change_number(std::string& input, Random& random) {
  const std::size_t size = std::size_t{1} << random.below(4);
  if (input.size() < size) return;
  const std::size_t at = random.below(input.size() - size + 1);
  std::uint64_t number = 0;
  std::memcpy(&number, input.data() + at, size);
  if (random.one_in(2))
    number = static_cast<std::uint64_t>(interesting_number(random));
  else
    number += random.below(33) - 16;
  std::memcpy(input.data() + at, &number, size);
}

void insert_copy(std::string& input, const Mutation& how) {
  const std::string_view from = how.other.empty() || how.random.one_in(2) ? std::string_view(input) : how.other;
  const Span span = any_span(from, how.random);
  const std::string copy(from.substr(span.at, span.size));
  const std::size_t to = how.random.below(input.size() + 1);
  if (how.random.one_in(2))
    input.insert(to, copy);
  else
    input.replace(to, std::min(copy.size(), input.size() - to), copy);
}

void insert_word(std::string& input, const Mutation& how, std::size_t at) {
  if (!how.dictionary.empty()) input.insert(at, how.random.any(how.dictionary));
}

std::string number_text(Random& random) {
  switch (random.below(8)) {
  case 0: return "0x" + std::to_string(random.below(100000));
  case 1: return std::to_string(random.below(100)) + "." + std::to_string(random.below(1000));
  case 2: return std::to_string(random.below(10)) + "e" + std::to_string(random.below(400));
  case 3: return std::to_string(static_cast<std::uint64_t>(interesting_number(random)));
  case 4: return std::to_string(random.below(40));
  default: return std::to_string(interesting_number(random));
  }
}

bool is_number(std::string_view token) { return std::isdigit(static_cast<unsigned char>(token.front())) != 0; }

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& p : parts) text += p;
  return text;
}

void change_tokens(std::string& input, const Mutation& how) {
  const std::vector<std::string_view> views = tokens_of(input);
  if (views.empty()) return insert_word(input, how, 0);
  std::vector<std::string> tokens(views.begin(), views.end());
  Random& random = how.random;
  const std::size_t at = random.below(tokens.size()), other = random.below(tokens.size());
  switch (random.below(7)) {
  case 0: tokens[at].clear(); break;
  case 1: tokens[at] = tokens[other]; break;
  case 2: std::swap(tokens[at], tokens[other]); break;
  case 3: tokens[at] += tokens[at]; break;
  case 4:
    if (!how.dictionary.empty()) tokens[at] = random.any(how.dictionary);
    break;
  default: // the next number
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      std::string& token = tokens[(at + i) % tokens.size()];
      if (!is_number(token)) continue;
      token = number_text(random);
      break;
    }
  }
  input = joined(tokens);
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end == text.npos ? end : end + 1));
    text.remove_prefix(lines.back().size());
  }
  return lines;
}

void change_lines(std::string& input, const Mutation& how) {
  std::vector<std::string> lines = lines_of(input);
  if (lines.empty()) return;
  Random& random = how.random;
  const std::size_t at = random.below(lines.size()), other = random.below(lines.size());
  switch (random.below(5)) {
  case 0: lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(at)); break;
  case 1: lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(at), lines[other]); break;
  case 2: std::swap(lines[at], lines[other]); break;
  case 3: lines.resize(at); break;
  default: {
    std::vector<std::string> others = lines_of(how.other);
    if (!others.empty()) lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(at), random.any(others));
  }
  }
  input = joined(lines);
}

} // namespace

std::int64_t interesting_number(Random& random) {
  constexpr std::int64_t kSome[] = {0, 1, -1, 2, 7, 10, 100, 1000, 65535, 1000000};
  if (random.one_in(2)) return kSome[random.below(std::size(kSome))];
  const std::uint64_t power = std::uint64_t{1} << random.below(64);
  return static_cast<std::int64_t>((random.one_in(4) ? 0 - power : power) + random.below(3) - 1);
}

std::vector<std::string_view> tokens_of(std::string_view text) {
  std::vector<std::string_view> tokens;
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '%'; };
  while (!text.empty()) {
    std::size_t size = 1;
    if (is_word(text[0])) {
      while (size < text.size() && is_word(text[size])) ++size;
    } else if (text[0] == '"') {
      while (size < text.size() && text[size] != '"' && text[size] != '\n') ++size;
      if (size < text.size()) ++size;
    } else if (text[0] == ' ') {
      while (size < text.size() && text[size] == ' ') ++size;
    }
    tokens.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return tokens;
}

void mutate_bytes(std::string& input, const Mutation& how) {
  Random& random = how.random;
  if (input.empty()) input.push_back(0);
  switch (random.below(8)) {
  case 0: random.any(input) ^= static_cast<char>(1u << random.below(8)); break;
  case 1: random.any(input) = static_cast<char>(random()); break;
  case 2: {
    const Span span = any_span(input, random);
    input.erase(span.at, span.size);
    break;
  }
  case 3: insert_copy(input, how); break;
  case 4: insert_word(input, how, random.below(input.size() + 1)); break;
  default: change_number(input, random);
  }
}

void mutate_text(std::string& input, const Mutation& how) {
  switch (how.random.below(8)) {
  case 0: return mutate_bytes(input, how);
  case 1: return insert_word(input, how, how.random.below(input.size() + 1));
  case 2:
  case 3: return change_lines(input, how);
  default: return change_tokens(input, how);
  }
}

} // namespace warplens::fuzz
