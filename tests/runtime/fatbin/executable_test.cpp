// SPDX-License-Identifier: Apache-2.0
// Fat binaries in host files: object files of nvcc 13, and generated files.
#include "runtime/fatbin/executable.hpp"

#include "runtime/fatbin/container.hpp"
#include "tests/runtime/fatbin/specimens.hpp"

#include <gtest/gtest.h>

#include <elf.h>

#include <algorithm>
#include <array>

namespace warplens::fatbin {
namespace executable_test {

TEST(Executable, FindsTheContainers) {
  for (const char* file : {"object.elf", "relocatable_object.elf"}) {
    const Bytes bytes = specimen(file);
    const auto containers = containers_in(bytes);
    ASSERT_TRUE(containers) << file;
    ASSERT_EQ(containers->size(), 1U) << file;
    EXPECT_EQ(containers->at(0).is_part, file[0] == 'r') << file;
    EXPECT_EQ(read_container(containers->at(0).container).value().at(0).target, (CodeTarget{90})) << file;
  }
}

/// An ELF file with one section of that name, and the section name table.
Bytes elf_of(const Bytes& section, std::string_view name) {
  const std::string names = std::string("\0", 1) + std::string(name) + '\0';
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_shoff = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 3;
  header.e_shstrndx = 2;
  std::array<Elf64_Shdr, 3> sections{};
  const std::size_t data = sizeof header + sizeof sections;
  sections[1].sh_name = 1;
  sections[1].sh_type = SHT_PROGBITS;
  sections[1].sh_offset = data;
  sections[1].sh_size = section.size();
  sections[2].sh_type = SHT_STRTAB;
  sections[2].sh_offset = data + section.size();
  sections[2].sh_size = names.size();
  Bytes file(data + section.size() + names.size());
  write(file, 0, header);
  write(file, sizeof header, sections);
  std::copy(section.begin(), section.end(), file.begin() + static_cast<long>(data));
  std::memcpy(file.data() + data + section.size(), names.data(), names.size());
  return file;
}

TEST(Executable, OneSectionHoldsThoseOfAllObjects) {
  Bytes section = specimen("zstd.fatbin");
  section.resize(section.size() + 8); // padding, as a linker may leave
  const Bytes second = specimen("lz4.fatbin");
  section.insert(section.end(), second.begin(), second.end());
  const Bytes file = elf_of(section, ".nv_fatbin");
  EXPECT_EQ(containers_in(file).value().size(), 2U);
  EXPECT_EQ(containers_in(elf_of(section, ".data")).value().size(), 0U);
}

TEST(Executable, RefusesWhatIsNoElfOrCut) {
  EXPECT_FALSE(containers_in(specimen("zstd.fatbin")));
  EXPECT_FALSE(is_elf(specimen("zstd.fatbin")));
  Bytes bytes = specimen("object.elf");
  EXPECT_TRUE(is_elf(bytes));
  bytes.resize(bytes.size() / 2);
  EXPECT_FALSE(containers_in(bytes));
  bytes.resize(20);
  EXPECT_FALSE(containers_in(bytes));
}

} // namespace executable_test
} // namespace warplens::fatbin
