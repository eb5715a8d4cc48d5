// SPDX-License-Identifier: Apache-2.0
// Fat binaries, and the executables that contain them.
#include "tests/fuzz/target.hpp"

#include "runtime/fatbin/container.hpp"
#include "runtime/fatbin/executable.hpp"
#include "runtime/fatbin/module_image.hpp"

namespace warplens::fuzz {

namespace {

void read(std::span<const std::byte> container) {
  const auto images = fatbin::read_container(container);
  if (!images) return void(render(images.error(), ""));
  for (const fatbin::Image& image : *images)
    if (const auto text = fatbin::contents(image); !text) render(text.error(), "");
}

void run_binary(std::string_view content) {
  // A copy without anything behind it: a read past the end is then found.
  const std::vector<std::byte> bytes(reinterpret_cast<const std::byte*>(content.data()),
                                     reinterpret_cast<const std::byte*>(content.data()) + content.size());
  if (fatbin::is_elf(bytes)) {
    if (const auto found = fatbin::containers_in(bytes))
      for (const fatbin::Embedded& e : *found) read(e.container);
  } else {
    read(bytes);
  }
  if (const auto code = fatbin::load_code(std::span(bytes), {9, 0}); !code) render(code.error().diagnostics, "");
}

std::vector<std::string> words_of_binaries() {
  using namespace std::literals;
  return {"\x50\xed\x55\xba\x01\x00\x10\x00"s,
          "\x7f\x45LF\x02\x01\x01"s,
          ".nv_fatbin"s,
          "__nv_relfatbin"s,
          "\x28\xb5\x2f\xfd"s,
          ".version 7.0\n"s};
}

} // namespace

const Target target::fat_binary{"fat_binary", run_binary, mutate_bytes, words_of_binaries};

} // namespace warplens::fuzz
