// SPDX-License-Identifier: Apache-2.0
#include "python/core/texture.hpp"

#include "api/files/values.hpp"

#include <pybind11/stl.h>

#include <fmt/format.h>

namespace warplens::python {

namespace py = pybind11;

TextureObject::TextureObject(const DeviceMemory* memory, exec::BoundTexture description)
    : texture_(value_or_throw(
          api::Texture::create(context(), std::move(description), memory != nullptr ? memory->share() : nullptr),
          "ArgumentError")) {}

const api::Texture& TextureObject::open() const {
  refuse_forks();
  if (!texture_) throw Failure("ClosedError", "the texture is closed");
  return *texture_;
}

namespace {

exec::Addressing addressing_of(const std::string& word) {
  if (word == "wrap") return exec::Addressing::wrap;
  if (word == "clamp") return exec::Addressing::clamp;
  if (word == "mirror") return exec::Addressing::mirror;
  if (word == "border") return exec::Addressing::border;
  throw Failure("ArgumentError",
                fmt::format("address: expected \"wrap\", \"clamp\", \"mirror\" or \"border\", found \"{}\"", word));
}

std::uint32_t extent(const std::vector<std::uint64_t>& shape, std::size_t from_last) {
  if (from_last >= shape.size()) return 1;
  const std::uint64_t n = shape[shape.size() - 1 - from_last];
  if (n > UINT32_MAX) throw Failure("ArgumentError", fmt::format("a texture of {} texels in one dimension", n));
  return static_cast<std::uint32_t>(n);
}

TextureObject make(const std::string& kind, const DeviceMemory* memory, const std::vector<std::uint64_t>& shape,
                   const std::string& type, std::uint32_t channels, bool layered, const std::string& address,
                   bool linear, bool normalized, bool read_normalized, const std::array<float, 4>& border,
                   const std::string& name) {
  exec::BoundTexture t;
  t.kind = kind == "surface"   ? exec::BoundTexture::Kind::surface
           : kind == "sampler" ? exec::BoundTexture::Kind::sampler
                               : exec::BoundTexture::Kind::texture;
  t.name = name;
  t.sampler.addressing.fill(addressing_of(address));
  t.sampler.linear = linear;
  t.sampler.normalized = normalized;
  t.sampler.read_normalized = read_normalized;
  t.sampler.border = border;
  if (t.kind == exec::BoundTexture::Kind::sampler) return {nullptr, std::move(t)};
  if (memory == nullptr) throw Failure("ArgumentError", fmt::format("a {} needs an array, found None", kind));
  exec::Image& image = t.image;
  image.type = value_or_throw(api::value_type_named(type), "ArgumentError");
  image.channels = channels;
  image.layered = layered;
  image.dimensions = static_cast<std::uint8_t>(layered ? shape.size() - 1 : shape.size());
  image.width = extent(shape, 0);
  image.height = layered && shape.size() == 2 ? 1 : extent(shape, 1);
  if (layered)
    image.layers = extent(shape, shape.size() - 1);
  else
    image.depth = extent(shape, 2);
  return {memory, std::move(t)};
}

} // namespace

void add_textures(py::module_& module) {
  py::class_<TextureObject>(module, "Texture", "A texture, surface or sampler.")
      .def(py::init(&make), py::arg("kind"), py::arg("memory").none(true), py::arg("shape"), py::arg("type"),
           py::arg("channels"), py::arg("layered"), py::arg("address"), py::arg("linear"), py::arg("normalized"),
           py::arg("read_normalized"), py::arg("border"), py::arg("name"))
      .def_property_readonly("handle", [](const TextureObject& t) { return t.open().handle(); })
      .def_property_readonly("closed", [](const TextureObject& t) { return !t.is_open(); })
      .def("close", &TextureObject::close);
}

} // namespace warplens::python
