// SPDX-License-Identifier: Apache-2.0
#include "runtime/fatbin/module_image.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <tuple>

namespace warplens::fatbin {

namespace {

constexpr std::uint32_t kWrapperMagic = 0x466243B1; ///< FATBINC_MAGIC of fatbinary_section.h
constexpr std::uint32_t kCuda3Magic = 0x1EE55A01;   ///< "old style" in fatbinary.h
constexpr std::uint32_t kElfMagic = 0x464C457F;

/// __fatBinC_Wrapper_t of fatbinary_section.h.
struct Wrapper {
  std::uint32_t magic, version; ///< 1; 2: output of the link step of nvcc -rdc=true
  const std::byte* container;
  const std::byte* const* prelinked; ///< version 2: containers of the parts before linking; ends with null
};

auto refuse(LoadError::Kind kind, Diagnostics why) { return tl::make_unexpected(LoadError{kind, std::move(why)}); }
auto refuse(LoadError::Kind kind, std::string why, std::string hint = {}) {
  return refuse(kind, failure(std::move(why), std::move(hint)).value());
}

unsigned number(model::ComputeCapability device) { return static_cast<unsigned>(device.major * 10 + device.minor); }

std::string rebuild(model::ComputeCapability device) {
  const unsigned n = std::max(number(device), 75U); // the oldest that nvcc 13 supports
  return fmt::format("rebuild it with nvcc -gencode arch=compute_{0},code=compute_{0}", n);
}

/// "sm_80, sm_90 and lto_90": what the fat binary contains instead of PTX.
std::string list_of(std::span<const Image> images) {
  std::vector<std::string> names;
  for (const Image& image : images) names.push_back(name(image.target, image.kind == Kind::lto ? "lto" : "sm"));
  return fmt::format("{}", fmt::join(names, ", "));
}

bool runs_on(CodeTarget target, unsigned device) {
  if (target.suffix == 'a') return target.architecture == device;
  if (target.suffix == 'f') return target.architecture <= device && target.architecture / 10 == device / 10;
  return target.architecture <= device;
}

int specialisation(CodeTarget target) { return target.suffix == 'a' ? 2 : target.suffix == 'f' ? 1 : 0; }

/// The name of the PTX in diagnostics: "compute_90.ptx", or "scale.compute_90.ptx" if the source's name is known.
std::string file_name(const Image& image) {
  const std::string_view source = image.identifier.substr(0, image.identifier.rfind('.'));
  return fmt::format("{}{}{}.ptx", source, source.empty() ? "" : ".", name(image.target));
}

/// CUDA's device runtime (libcudadevrt.a), which is part of every program built with nvcc -rdc=true. Warplens
/// implements its functions (emulator/ir/device_library.hpp) instead of the system calls below them.
bool is_device_runtime(std::string_view ptx) { return ptx.find(" cnpGetParameterBuffer") != ptx.npos; }

LoadedCode code_of(std::span<const Image> images, model::ComputeCapability device) {
  using enum LoadError::Kind;
  const Image* image = best_ptx(images, device);
  if (image == nullptr && images.empty()) return refuse(no_ptx, "the fat binary is empty", rebuild(device));
  if (image == nullptr)
    return refuse(no_ptx, fmt::format("the program has no PTX, only code for {}", list_of(images)), rebuild(device));
  Expected<std::string> text = contents(*image);
  if (!text) return refuse(invalid_image, text.error());
  Code code;
  if (is_device_runtime(*text)) return code;
  const std::string target = name(image->target);
  code.sources.push_back({std::move(*text), file_name(*image)});
  if (!runs_on(image->target, number(device)))
    code.notes.push_back(fmt::format("the program has PTX for {}, but none for compute capability {}: it runs here, "
                                     "but a GPU of that capability would reject it",
                                     target, model::to_string(device)));
  return code;
}

LoadedCode code_of_container(std::span<const std::byte> bytes, model::ComputeCapability device) {
  const Expected<std::vector<Image>> images = read_container(bytes);
  if (!images) return refuse(LoadError::Kind::invalid_image, images.error());
  return code_of(*images, device);
}

LoadedCode code_of_container(const std::byte* start, model::ComputeCapability device) {
  const Expected<std::uint64_t> size = container_size(start);
  if (!size) return refuse(LoadError::Kind::invalid_image, size.error());
  return code_of_container(std::span(start, *size), device);
}

/// The parts of a program built with nvcc -rdc=true. Parts without PTX are left out; linking reports what is missing.
LoadedCode code_of_parts(const std::byte* const* part, model::ComputeCapability device) {
  Code all;
  std::optional<LoadError> first_error;
  for (; *part != nullptr; ++part) {
    LoadedCode code = code_of_container(*part, device);
    if (!code && code.error().kind == LoadError::Kind::invalid_image) return code;
    if (!code && !first_error) first_error = std::move(code.error());
    if (!code) continue;
    for (api::Source& source : code->sources) all.sources.push_back(std::move(source));
    for (std::string& note : code->notes) all.notes.push_back(std::move(note));
  }
  if (all.sources.empty() && first_error) return tl::make_unexpected(std::move(*first_error));
  if (all.sources.empty()) return refuse(LoadError::Kind::no_ptx, "the program has no device code", rebuild(device));
  return all;
}

LoadedCode code_of_wrapper(const Wrapper& wrapper, model::ComputeCapability device) {
  using enum LoadError::Kind;
  if (wrapper.version != 1 && wrapper.version != 2)
    return refuse(invalid_image, fmt::format("unsupported fat binary wrapper version {}: only 1 and 2 are supported",
                                             wrapper.version));
  if (wrapper.container == nullptr) return refuse(invalid_image, "the fat binary wrapper contains no fat binary");
  LoadedCode linked = code_of_container(wrapper.container, device);
  const bool ask_parts =
      !linked && linked.error().kind == no_ptx && wrapper.version == 2 && wrapper.prelinked != nullptr;
  return ask_parts ? code_of_parts(wrapper.prelinked, device) : linked;
}

LoadedCode code_of_text(std::string_view text) { return Code{{{std::string(text), "module.ptx"}}, {}}; }

/// Known formats that are neither text nor a container. `magic`: the first four bytes.
std::optional<LoadError> known_but_unusable(std::uint32_t magic, model::ComputeCapability device) {
  using enum LoadError::Kind;
  if (magic == kElfMagic) return refuse(no_ptx, "machine code without PTX (a cubin)", rebuild(device)).value();
  if (magic == kCuda3Magic)
    return refuse(invalid_image, "fat binary from CUDA 3 or older", "rebuild the program with CUDA 4 or later").value();
  return std::nullopt;
}

} // namespace

const Image* best_ptx(std::span<const Image> images, model::ComputeCapability device) {
  const auto rank = [n = number(device)](const Image& image) {
    const int architecture = static_cast<int>(image.target.architecture);
    const bool runs = runs_on(image.target, n);
    // Of those that run, the newest is best; of the others, the oldest and least specific.
    return std::tuple(runs, runs ? architecture : -architecture,
                      runs ? specialisation(image.target) : -specialisation(image.target));
  };
  const Image* best = nullptr;
  for (const Image& image : images)
    if (image.kind == Kind::ptx && (best == nullptr || rank(image) > rank(*best))) best = &image;
  return best;
}

LoadedCode load_code(const void* image, model::ComputeCapability device) {
  if (image == nullptr) return refuse(LoadError::Kind::invalid_image, "the image is a null pointer");
  const auto* const start = static_cast<const std::byte*>(image);
  // A text of fewer than three characters ends before the magic number does.
  const std::size_t length = strnlen(static_cast<const char*>(image), sizeof(std::uint32_t));
  std::uint32_t magic = 0;
  if (length == sizeof magic) std::memcpy(&magic, image, sizeof magic);
  if (magic == kContainerMagic) return code_of_container(start, device);
  if (magic == kWrapperMagic) {
    Wrapper wrapper{};
    std::memcpy(&wrapper, image, sizeof wrapper);
    return code_of_wrapper(wrapper, device);
  }
  if (std::optional<LoadError> error = known_but_unusable(magic, device)) return tl::make_unexpected(std::move(*error));
  return code_of_text(static_cast<const char*>(image));
}

LoadedCode load_code(std::span<const std::byte> bytes, model::ComputeCapability device) {
  std::uint32_t magic = 0;
  if (bytes.size() >= sizeof magic) std::memcpy(&magic, bytes.data(), sizeof magic);
  if (magic == kContainerMagic) return code_of_container(bytes, device);
  if (std::optional<LoadError> error = known_but_unusable(magic, device)) return tl::make_unexpected(std::move(*error));
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return code_of_text(text.substr(0, text.find_last_not_of('\0') + 1));
}

} // namespace warplens::fatbin
