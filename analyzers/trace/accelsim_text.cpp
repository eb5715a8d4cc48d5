// SPDX-License-Identifier: Apache-2.0
#include "analyzers/trace/accelsim_text.hpp"
#include "emulator/base/unreadable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <utility>

namespace warplens::analyzers::trace {

namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

/// Decimal with an optional sign, or hexadecimal after 0x (or always, if `base` is 16).
template <class T> bool read(std::string_view word, T& value, int base = 10) {
  if (word.starts_with("0x") || word.starts_with("0X")) word.remove_prefix(2), base = 16;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, base);
  return error == std::errc{} && end == word.data() + word.size() && !word.empty();
}

// "(2,1,1)" or "0,0,0".
bool read_three(std::string_view text, std::uint32_t (&xyz)[3]) {
  if (text.starts_with('(') && text.ends_with(')')) text = text.substr(1, text.size() - 2);
  for (int i = 0; i < 3; ++i) {
    const std::size_t comma = i < 2 ? text.find(',') : text.size();
    if (comma == text.npos || !read(trimmed(text.substr(0, comma)), xyz[i])) return false;
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return true;
}

std::uint64_t linear(const std::uint32_t (&at)[3], const std::uint32_t (&grid)[3]) {
  return (std::uint64_t{at[2]} * grid[1] + at[1]) * grid[0] + at[0];
}

} // namespace

Diagnostics AccelSimReader::wrong(std::string what) const {
  Diagnostics errors;
  errors.error({line_number_, 1}, std::move(what));
  errors.in_file(name_);
  return errors;
}

Expected<AccelSimReader> AccelSimReader::open(const std::filesystem::path& path) {
  std::error_code ignored;
  std::ifstream in; // opening a pipe would wait for a writer
  if (std::filesystem::is_regular_file(path, ignored)) in.open(path, std::ios::binary);
  if (!in.is_open()) return failure(fmt::format("cannot read '{}': {}", path.string(), why_unreadable(path)));
  if (path.extension() == ".xz")
    return failure(fmt::format("'{}' is compressed", path.string()), fmt::format("xz -dk {}", path.string()));
  AccelSimReader reader(path.string(), std::move(in));
  if (Expected<void> header = reader.read_header(); !header) return failure(header.error());
  return reader;
}

// Returns false for an invalid value. Ignores unknown lines.
bool AccelSimReader::header_line(std::string_view line) {
  const std::size_t equals = line.find('=');
  if (equals == line.npos) return true;
  const std::string_view key = trimmed(line.substr(1, equals - 1)), value = trimmed(line.substr(equals + 1));
  AccelSimHeader& h = header_;
  if (key == "kernel name") return h.kernel = value, !value.empty();
  if (key == "grid dim") return read_three(value, h.grid);
  if (key == "block dim") return read_three(value, h.block);
  if (key == "shmem") return read(value, h.shared_bytes);
  if (key == "nregs") return read(value, h.registers);
  if (key == "binary version") return read(value, h.binary_version);
  if (key == "shmem base_addr") return read(value, h.shared_base);
  if (key == "local mem base_addr") return read(value, h.local_base);
  if (key == "enable lineinfo") h.line_info = value == "1";
  return true;
}

Expected<void> AccelSimReader::read_header() {
  bool any = false;
  for (; next_line(); ++line_number_) {
    const std::string_view line = trimmed(line_);
    if (line.empty()) continue;
    if (!line.starts_with('-')) {
      pending_ = true;
      break;
    }
    any = true;
    if (!header_line(line)) {
      ++line_number_;
      return failure(wrong(fmt::format("invalid header line: '{}'", line.substr(0, 80))));
    }
  }
  const AccelSimHeader& h = header_;
  if (!any || h.kernel.empty())
    return failure(fmt::format("'{}' is not an Accel-Sim trace: it does not begin with '-kernel name = …'", name_),
                   "expected kernel-1.traceg, for example, or kernelslist.g, which lists several traces");
  for (int i = 0; i < 3; ++i)
    if (h.grid[i] == 0 || h.block[i] == 0) return failure(wrong("the grid or the block is empty"));
  const std::uint64_t threads = std::uint64_t{h.block[0]} * h.block[1] * h.block[2];
  if (threads > (1u << 20)) return failure(wrong(fmt::format("the block has {} threads, which is too many", threads)));
  return {};
}

bool AccelSimReader::next_line() {
  constexpr std::size_t kMost = 1 << 16; // a line with 32 addresses takes less than a kilobyte
  line_.resize(kMost);
  in_.getline(line_.data(), kMost);
  const auto got = static_cast<std::size_t>(in_.gcount());
  const bool whole = in_.good();               // a newline was found and is part of the count
  if (!whole && got + 1 >= kMost) in_.clear(); // the rest becomes another line, which is a syntax error
  line_.resize(got - (whole && got > 0 ? 1 : 0));
  return whole || got > 0;
}

Expected<void> AccelSimReader::end_warp() {
  const std::uint64_t left = std::exchange(announced_, std::nullopt).value_or(0);
  if (left != 0)
    return failure(wrong(fmt::format("warp {} is missing {} of its instructions", instruction_.warp, left)));
  return {};
}

Expected<AccelSimReader::Item> AccelSimReader::next() {
  for (;; pending_ = false) {
    if (!pending_ && !next_line()) break;
    ++line_number_;
    const std::string_view line = trimmed(line_);
    if (line == "#BEGIN_TB") grouped_ = true;
    if (line == "#END_TB") {
      if (Expected<void> whole = end_warp(); !whole) return failure(whole.error());
      pending_ = grouped_ = false;
      return Item::end_of_cta;
    }
    if (line.empty() || line.starts_with('#') || line.starts_with('-')) continue;
    if (line.starts_with("thread block")) {
      std::uint32_t at[3];
      if (!read_three(trimmed(line.substr(std::min(line.find('=') + 1, line.size()))), at))
        return failure(wrong("expected 'thread block = x,y,z'"));
      for (int i = 0; i < 3; ++i)
        if (at[i] >= header_.grid[i]) return failure(wrong("the thread block is outside the grid"));
      instruction_.cta = linear(at, header_.grid);
      if (!seen_.insert(instruction_.cta).second) return failure(wrong("the thread block occurs twice"));
      continue;
    }
    if (line.starts_with("warp")) {
      if (Expected<void> whole = end_warp(); !whole) return failure(whole.error());
      if (!read(trimmed(line.substr(std::min(line.find('=') + 1, line.size()))), instruction_.warp))
        return failure(wrong("expected 'warp = number'"));
      continue;
    }
    if (line.starts_with("insts")) {
      if (!read(trimmed(line.substr(std::min(line.find('=') + 1, line.size()))), announced_.emplace()))
        return failure(wrong("expected 'insts = number'"));
      continue;
    }
    if (announced_ && (*announced_)-- == 0)
      return failure(wrong(fmt::format("warp {} has more instructions than 'insts'", instruction_.warp)));
    pending_ = false;
    if (!parse_instruction())
      return failure(wrong(fmt::format("expected an instruction, got '{}'", line.substr(0, 80))));
    const std::uint64_t threads = std::uint64_t{header_.block[0]} * header_.block[1] * header_.block[2];
    if (instruction_.warp >= (threads + 31) / 32) return failure(wrong("the warp is outside the block"));
    return Item::instruction;
  }
  if (grouped_) return failure(wrong("the file is truncated: it ends inside a thread block"));
  return Item::end;
}

bool AccelSimReader::parse_instruction() {
  words_.clear();
  for (std::string_view rest = trimmed(line_); !rest.empty();) {
    const std::size_t space = std::min(rest.find_first_of(" \t"), rest.size());
    words_.push_back(rest.substr(0, space));
    rest = trimmed(rest.substr(space));
  }
  AccelSimInstruction& i = instruction_;
  auto word = words_.cbegin();
  const auto take = [&](auto& value, int base = 10) { return word != words_.cend() && read(*word++, value, base); };
  if (!grouped_) {
    std::uint32_t at[3];
    for (int axis = 0; axis < 3; ++axis)
      if (!take(at[axis]) || at[axis] >= header_.grid[axis]) return false;
    i.cta = linear(at, header_.grid);
    if (!take(i.warp)) return false;
  }
  i.source_line = 0;
  if (header_.line_info && !take(i.source_line)) return false;
  std::uint32_t registers = 0;
  if (!take(i.pc, 16) || !take(i.mask, 16) || !take(registers)) return false;
  const auto skip = [&](std::uint32_t count) {
    if (static_cast<std::size_t>(words_.cend() - word) < count) return false;
    word += static_cast<std::ptrdiff_t>(count);
    return true;
  };
  if (!skip(registers) || word == words_.cend()) return false;
  i.opcode = *word++;
  if (!take(registers) || !skip(registers)) return false;
  constexpr std::uint32_t kWidest = 32; // bytes
  if (!take(i.width) || i.width > kWidest || (i.width & (i.width - 1)) != 0) return false;
  i.addressed = i.width != 0 && i.mask != 0 && word != words_.cend();
  return !i.addressed || parse_addresses(word);
}

bool AccelSimReader::parse_addresses(std::vector<std::string_view>::const_iterator word) {
  AccelSimInstruction& i = instruction_;
  std::uint32_t mode = 0;
  if (!read(*word++, mode) || mode > 2) return false;
  std::uint64_t address = 0;
  std::int64_t stride = 0;
  const auto take = [&](auto& value, int base) { return word != words_.cend() && read(*word++, value, base); };
  const int first = std::countr_zero(i.mask);
  if (mode != 0 && !take(address, 16)) return false;
  if (mode == 1 && !take(stride, 10)) return false;
  for (const int lane : exec::EachLane(i.mask)) {
    if (mode == 0) {
      if (!take(address, 16)) return false;
    } else if (mode == 2 && lane != first) {
      std::int64_t difference = 0; // to the previous active lane
      if (!take(difference, 10)) return false;
      address += static_cast<std::uint64_t>(difference);
    }
    i.addresses[lane] =
        mode == 1 ? address + static_cast<std::uint64_t>(lane - first) * static_cast<std::uint64_t>(stride) : address;
  }
  return true;
}

} // namespace warplens::analyzers::trace
