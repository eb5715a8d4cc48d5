// SPDX-License-Identifier: Apache-2.0
#include "runtime/static_runtime/symbols.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <tuple>

namespace warplens::runtime {

const char* Symbols::at(std::uint64_t offset, std::uint64_t size) const {
  return offset <= size_ && size <= size_ - offset ? file_ + offset : nullptr;
}

Symbols::Symbols(const char* path) {
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return;
  struct stat status {};
  if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    size_ = static_cast<std::uint64_t>(status.st_size);
    void* const mapped = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
    file_ = mapped != MAP_FAILED ? static_cast<const char*>(mapped) : nullptr;
  }
  close(descriptor);
  if (file_ == nullptr) return;

  Elf64_Ehdr header;
  if (at(0, sizeof header) == nullptr) return;
  std::memcpy(&header, file_, sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_shentsize != sizeof(Elf64_Shdr))
    return;
  const char* const sections = at(header.e_shoff, std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr));
  if (sections == nullptr) return;
  const auto section = [&](std::uint64_t i) {
    Elf64_Shdr s;
    std::memcpy(&s, sections + i * sizeof s, sizeof s);
    return s;
  };
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr table = section(i);
    section_ends_.push_back(table.sh_addr + table.sh_size);
    const bool is_constant = (table.sh_flags & (SHF_ALLOC | SHF_WRITE | SHF_EXECINSTR)) == SHF_ALLOC;
    if (table.sh_type == SHT_PROGBITS && is_constant && at(table.sh_offset, table.sh_size) != nullptr)
      constants_.emplace_back(at(table.sh_offset, table.sh_size), table.sh_size);
    if ((table.sh_type != SHT_SYMTAB && table.sh_type != SHT_DYNSYM) || table.sh_link >= header.e_shnum) continue;
    const Elf64_Shdr strings = section(table.sh_link);
    const char* const entries = at(table.sh_offset, table.sh_size);
    const char* const names = at(strings.sh_offset, strings.sh_size);
    // Names end within their table.
    if (entries == nullptr || names == nullptr || strings.sh_size == 0 || names[strings.sh_size - 1] != 0) continue;
    tables_.push_back({entries, table.sh_size / sizeof(Elf64_Sym), {names, strings.sh_size}});
  }
}

Symbols::~Symbols() {
  if (file_ != nullptr) munmap(const_cast<char*>(file_), size_);
}

namespace {

bool contains(std::string_view all, std::string_view text) {
  return memmem(all.data(), all.size(), text.data(), text.size()) != nullptr;
}

} // namespace

bool Symbols::mentions(std::string_view text) const {
  return std::any_of(tables_.begin(), tables_.end(), [&](const Table& table) { return contains(table.names, text); });
}

bool Symbols::has_constant(std::string_view text) const {
  return std::any_of(constants_.begin(), constants_.end(), [&](std::string_view all) { return contains(all, text); });
}

std::vector<Symbols::Function> Symbols::begin_with(std::string_view one, std::string_view other) const {
  std::vector<Function> wanted;
  std::vector<std::uint64_t> starts = section_ends_; // and the start of every named symbol
  for (const Table& table : tables_) {
    for (std::uint64_t i = 0; i < table.count; ++i) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, table.entries + i * sizeof symbol, sizeof symbol);
      const unsigned type = ELF64_ST_TYPE(symbol.st_info);
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= SHN_LORESERVE || type == STT_TLS || type == STT_SECTION ||
          symbol.st_name >= table.names.size())
        continue;
      starts.push_back(symbol.st_value);
      const std::string_view name = table.names.data() + symbol.st_name;
      // The code of an indirect function is that of its resolver: there is no room for other code.
      if ((type == STT_FUNC || type == STT_GNU_IFUNC) && (name.starts_with(one) || name.starts_with(other)))
        wanted.push_back({name, symbol.st_value, type == STT_FUNC ? (symbol.st_size + 15) / 16 * 16 : 0});
    }
  }
  std::sort(starts.begin(), starts.end());
  std::sort(wanted.begin(), wanted.end(), [](const Function& a, const Function& b) {
    return std::tie(a.address, a.name) < std::tie(b.address, b.name);
  });
  // A function can be in both tables.
  const auto same = [](const Function& a, const Function& b) { return a.address == b.address && a.name == b.name; };
  wanted.erase(std::unique(wanted.begin(), wanted.end(), same), wanted.end());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    Function& f = wanted[i];
    const auto next = std::upper_bound(starts.begin(), starts.end(), f.address);
    f.room = next == starts.end() ? 0 : std::min(f.room, *next - f.address);
    if (i > 0 && wanted[i - 1].address == f.address) f.room = wanted[i - 1].room = 0;
  }
  return wanted;
}

} // namespace warplens::runtime
