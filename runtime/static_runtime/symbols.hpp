// The functions of an ELF file, from its symbol tables: .symtab, which `strip` takes away, and .dynsym.
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
    std::uint64_t address; ///< in the file's own numbering: the load address is to be added
    std::uint64_t room;    ///< bytes that belong to it alone, with the padding up to a multiple of 16
  };

  /// Empty where the file cannot be read, is no 64-bit ELF file, or has no symbols.
  explicit Symbols(const char* path);
  ~Symbols();
  Symbols(const Symbols&) = delete;
  Symbols& operator=(const Symbols&) = delete;

  /// The names contain this text, be it in the middle of one: quick.
  [[nodiscard]] bool mentions(std::string_view text) const;
  /// Functions that the file defines and whose names begin with one of the texts, by address. Two names for one
  /// address have no room.
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
  std::vector<std::uint64_t> section_ends_;
};

} // namespace warplens::runtime
