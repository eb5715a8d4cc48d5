// SPDX-License-Identifier: Apache-2.0
// The functions of an ELF file, from its symbol tables: .symtab, which `strip` removes, and .dynsym.
//
//   Symbols s("/proc/self/exe");   s.begin_with("cuda", "__cuda")  ->  {{"cudaMalloc", 0x1c5d0, room 0x90}, …}
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace warplens::runtime {

class Symbols {
public:
  struct Function {
    std::string_view name;
    std::uint64_t address; ///< in the file's own numbering: add the load address
    std::uint64_t room;    ///< bytes that belong to this function alone, with the padding up to a multiple of 16
  };

  /// Empty if the file cannot be read, is not a 64-bit ELF file, or has no symbols.
  explicit Symbols(const char* path);
  ~Symbols();
  Symbols(const Symbols&) = delete;
  Symbols& operator=(const Symbols&) = delete;

  /// Fast check: the name tables contain this text, possibly inside a name.
  [[nodiscard]] bool mentions(std::string_view text) const;
  /// The constants of the program contain this text.
  [[nodiscard]] bool has_constant(std::string_view text) const;
  /// Functions that the file defines and whose names begin with one of the texts, sorted by address. If two names share
  /// an address, `room` is 0.
  [[nodiscard]] std::vector<Function> begin_with(std::string_view one, std::string_view other) const;

private:
  struct Table {
    const char* entries;
    std::uint64_t count;
    std::string_view names;
  };
  [[nodiscard]] const char* at(std::uint64_t offset, std::uint64_t size) const;

  const char* file_ = nullptr;
  std::uint64_t size_ = 0;
  std::vector<Table> tables_;
  std::vector<std::string_view> constants_; ///< sections that are loaded, and neither written nor executed
  std::vector<std::uint64_t> section_ends_;
};

} // namespace warplens::runtime
