// SPDX-License-Identifier: Apache-2.0
#include "runtime/driver/machine/image.hpp"

#include "api/files/input_file.hpp"
#include "runtime/driver/machine/serve.hpp"
#include "runtime/fatbin/module_image.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

namespace warplens::runtime {

namespace {

// A linked image is text: this line, the number of sources, the register limit, and for each source a line "size file"
// and its text.
constexpr std::string_view kLinked = "//warplens linked image\n";

Code code_of_linked(const char* image) {
  char* at = const_cast<char*>(image) + kLinked.size();
  const unsigned long count = std::strtoul(at, &at, 10);
  Code code;
  code.max_registers = static_cast<unsigned>(std::strtoul(at, &at, 10));
  for (unsigned long i = 0; i < count; ++i) {
    const unsigned long size = std::strtoul(at, &at, 10);
    const char* const name = at + 1;
    const char* const end = std::strchr(name, '\n');
    require(end != nullptr, CUDA_ERROR_INVALID_IMAGE);
    code.sources.push_back({std::string(end + 1, strnlen(end + 1, size)), std::string(name, end)});
    require(code.sources.back().text.size() == size, CUDA_ERROR_INVALID_IMAGE);
    at = const_cast<char*>(end) + 1 + size;
  }
  return code;
}

Code code_of(fatbin::LoadedCode code) {
  if (!code)
    throw Failure{code.error().kind == fatbin::LoadError::Kind::no_ptx ? CUDA_ERROR_NO_BINARY_FOR_GPU
                                                                       : CUDA_ERROR_INVALID_IMAGE,
                  render(code.error().diagnostics, {})};
  for (const std::string& note : code->notes) tell(note);
  return {std::move(code->sources)};
}

} // namespace

std::string linked_image(const Code& code) {
  std::string image = fmt::format("{}{} {}", kLinked, code.sources.size(), code.max_registers);
  for (const api::Source& source : code.sources)
    image += fmt::format(" {} {}\n{}", source.text.size(), source.file, source.text);
  return image += '\0';
}

Code ptx_of(const void* image, const model::Device& device) {
  require(image != nullptr);
  const auto* const text = static_cast<const char*>(image);
  if (std::strncmp(text, kLinked.data(), kLinked.size()) == 0) return code_of_linked(text);
  return code_of(fatbin::load_code(image, device.capability));
}

Code ptx_of(std::string_view bytes, const model::Device& device) {
  if (bytes.starts_with(kLinked)) return code_of_linked(std::string(bytes).c_str());
  return code_of(fatbin::load_code(std::as_bytes(std::span(bytes)), device.capability));
}

std::string read_code(const char* path) {
  require(path != nullptr);
  Expected<std::string> bytes = api::read_file(path);
  if (!bytes) throw Failure{CUDA_ERROR_FILE_NOT_FOUND, bytes.error().list().front().message};
  return std::move(*bytes);
}

} // namespace warplens::runtime
