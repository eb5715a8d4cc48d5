#include "runtime/driver/image.hpp"

#include "runtime/driver/serve.hpp"
#include "runtime/fatbin/module_image.hpp"

#include <cstring>

namespace warplens::runtime {

namespace {

// A linked image: this, the number of texts, and for each its length and bytes, name and PTX in turn.
constexpr char kLinked[] = "\x7fWarplens linked PTX";

void put(std::string& image, const std::string& text) {
  const std::uint64_t size = text.size();
  image.append(reinterpret_cast<const char*>(&size), sizeof size);
  image += text;
}

std::string take(const char*& at) {
  std::uint64_t size = 0;
  std::memcpy(&size, at, sizeof size);
  std::string text(at + sizeof size, size);
  at += sizeof size + size;
  return text;
}

std::vector<api::Source> linked_sources(const char* at) {
  std::uint64_t count = 0;
  std::memcpy(&count, at += sizeof kLinked, sizeof count);
  at += sizeof count;
  std::vector<api::Source> sources(count);
  for (api::Source& source : sources) {
    source.file = take(at);
    source.text = take(at);
  }
  return sources;
}

} // namespace

std::string image_of(const std::vector<api::Source>& sources) {
  const std::uint64_t count = sources.size();
  std::string image(kLinked, sizeof kLinked);
  image.append(reinterpret_cast<const char*>(&count), sizeof count);
  for (const api::Source& source : sources) {
    put(image, source.file);
    put(image, source.text);
  }
  return image;
}

std::vector<api::Source> ptx_of(const void* image, const model::Device& device) {
  require(image != nullptr);
  // Ended by a zero, or longer than this: every other image is.
  if (std::strncmp(static_cast<const char*>(image), kLinked, sizeof kLinked) == 0)
    return linked_sources(static_cast<const char*>(image));
  fatbin::LoadedCode code = fatbin::load_code(image, device.capability);
  if (!code)
    throw Failure{code.error().kind == fatbin::LoadError::Kind::no_ptx ? CUDA_ERROR_NO_BINARY_FOR_GPU
                                                                       : CUDA_ERROR_INVALID_IMAGE,
                  render(code.error().diagnostics, {})};
  for (const std::string& note : code->notes) tell(note);
  return std::move(code->sources);
}

} // namespace warplens::runtime
