// SPDX-License-Identifier: Apache-2.0
#include "runtime/fatbin/executable.hpp"

#include "runtime/fatbin/container.hpp"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>

namespace warplens::fatbin {

namespace {

using Bytes = std::span<const std::byte>;

std::optional<Bytes> piece(Bytes bytes, std::uint64_t at, std::uint64_t size) {
  if (at > bytes.size() || size > bytes.size() - at) return std::nullopt;
  return bytes.subspan(at, size);
}

template <class T> std::optional<T> read_within(Bytes bytes, std::uint64_t at) {
  const std::optional<Bytes> from = piece(bytes, at, sizeof(T));
  if (!from) return std::nullopt;
  T value;
  std::memcpy(&value, from->data(), sizeof value);
  return value;
}

std::string_view name_at(Bytes names, std::uint32_t at) {
  if (at >= names.size()) return {};
  const auto* const text = reinterpret_cast<const char*>(names.data()) + at;
  return {text, strnlen(text, names.size() - at)};
}

/// The containers of a section; there can be padding between them.
void add_containers(Bytes section, bool are_parts, std::vector<Embedded>& containers) {
  constexpr std::size_t kAlignment = 8;
  for (std::size_t at = 0; at + kContainerHeader <= section.size();) {
    const Expected<std::uint64_t> size = container_size(section.data() + at);
    const std::optional<Bytes> container = size ? piece(section, at, *size) : std::nullopt;
    if (container) containers.push_back({*container, are_parts});
    const std::size_t step = container ? container->size() : kAlignment;
    at += (step + kAlignment - 1) / kAlignment * kAlignment;
  }
}

/// Overlapping sections would be read once for each of them.
bool overlap(std::vector<Embedded> sections) {
  std::erase_if(sections, [](const Embedded& s) { return s.container.empty(); });
  const auto begin = [](const Embedded& s) { return s.container.data(); };
  std::sort(sections.begin(), sections.end(), [&](const auto& a, const auto& b) { return begin(a) < begin(b); });
  const auto meet = [&](const Embedded& a, const Embedded& b) { return begin(b) < begin(a) + a.container.size(); };
  return std::adjacent_find(sections.begin(), sections.end(), meet) != sections.end();
}

} // namespace

bool is_elf(Bytes bytes) {
  const auto ident = read_within<std::array<unsigned char, EI_NIDENT>>(bytes, 0);
  return ident && std::memcmp(ident->data(), ELFMAG, SELFMAG) == 0 && (*ident)[EI_CLASS] == ELFCLASS64 &&
         (*ident)[EI_DATA] == ELFDATA2LSB;
}

Expected<std::vector<Embedded>> containers_in(Bytes bytes) {
  const auto outside = [] { return failure("corrupt ELF file: its headers point outside the file"); };
  const auto header = read_within<Elf64_Ehdr>(bytes, 0);
  if (!header || !is_elf(bytes)) return failure("not an ELF file for 64-bit little-endian machines");
  const auto section = [&](std::uint64_t i) {
    return read_within<Elf64_Shdr>(bytes, header->e_shoff + i * sizeof(Elf64_Shdr));
  };
  std::vector<Embedded> containers;
  std::vector<Embedded> sections;              // with device code
  if (header->e_shoff == 0) return containers; // without sections
  if (header->e_shoff > bytes.size() || header->e_shentsize != sizeof(Elf64_Shdr)) return outside();

  // Files with many sections store their number, and the index of the name table, in section 0.
  const auto zero = section(0);
  if (!zero) return outside();
  const std::uint64_t count = header->e_shnum != 0 ? header->e_shnum : zero->sh_size;
  const auto names_header = section(header->e_shstrndx != SHN_XINDEX ? header->e_shstrndx : zero->sh_link);
  const auto names = names_header ? piece(bytes, names_header->sh_offset, names_header->sh_size) : std::nullopt;
  if (!names || count > bytes.size() / sizeof(Elf64_Shdr)) return outside();
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto s = section(i);
    if (!s) return outside();
    const std::string_view section_name = name_at(*names, s->sh_name);
    const bool are_parts = section_name == "__nv_relfatbin";
    if (s->sh_type == SHT_NOBITS || (section_name != ".nv_fatbin" && !are_parts)) continue;
    const auto inside = piece(bytes, s->sh_offset, s->sh_size);
    if (!inside) return outside();
    sections.push_back({*inside, are_parts});
  }
  if (overlap(sections)) return failure("corrupt ELF file: device code sections overlap");
  for (const Embedded& s : sections) add_containers(s.container, s.is_part, containers);
  return containers;
}

} // namespace warplens::fatbin
