#include "runtime/driver/image.hpp"

#include "runtime/driver/serve.hpp"
#include "runtime/fatbin/module_image.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

namespace warplens::runtime {

namespace {

// A linked image is text: this line, how many sources there are, and for each a line "size file", then the source.
constexpr std::string_view kLinked = "//warplens linked image\n";

std::vector<api::Source> sources_of_linked(const char* image) {
  char* at = const_cast<char*>(image) + kLinked.size();
  const unsigned long count = std::strtoul(at, &at, 10);
  std::vector<api::Source> sources;
  for (unsigned long i = 0; i < count; ++i) {
    const unsigned long size = std::strtoul(at, &at, 10);
    const char* const name = at + 1;
    const char* const end = std::strchr(name, '\n');
    require(end != nullptr, CUDA_ERROR_INVALID_IMAGE);
    sources.push_back({std::string(end + 1, strnlen(end + 1, size)), std::string(name, end)});
    require(sources.back().text.size() == size, CUDA_ERROR_INVALID_IMAGE);
    at = const_cast<char*>(end) + 1 + size;
  }
  return sources;
}

} // namespace

std::string linked_image(const std::vector<api::Source>& sources) {
  std::string image = fmt::format("{}{}", kLinked, sources.size());
  for (const api::Source& source : sources)
    image += fmt::format(" {} {}\n{}", source.text.size(), source.file, source.text);
  return image += '\0';
}

std::vector<api::Source> ptx_of(const void* image, const model::Device& device) {
  require(image != nullptr);
  const auto* const text = static_cast<const char*>(image);
  if (std::strncmp(text, kLinked.data(), kLinked.size()) == 0) return sources_of_linked(text);
  fatbin::LoadedCode code = fatbin::load_code(image, device.capability);
  if (!code)
    throw Failure{code.error().kind == fatbin::LoadError::Kind::no_ptx ? CUDA_ERROR_NO_BINARY_FOR_GPU
                                                                       : CUDA_ERROR_INVALID_IMAGE,
                  render(code.error().diagnostics, {})};
  for (const std::string& note : code->notes) tell(note);
  return std::move(code->sources);
}

} // namespace warplens::runtime
