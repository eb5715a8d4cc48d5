// SPDX-License-Identifier: Apache-2.0
#include "api/launch/launch.hpp"

#include <cstring>

namespace warplens::api {

Expected<Argument> Argument::scalar(Type type, const Number& value) {
  Expected<std::vector<std::byte>> bytes = encode(type, value);
  if (!bytes) return failure(bytes.error());
  return Argument{Kind::scalar, type, std::move(*bytes), {}};
}

Argument Argument::buffer(const Buffer& buffer) {
  const std::uint64_t address = buffer.address();
  Argument argument{Kind::buffer, Type::b64, std::vector<std::byte>(sizeof address), buffer.name()};
  std::memcpy(argument.bytes.data(), &address, sizeof address);
  return argument;
}

Argument Argument::texture(const Texture& texture) {
  const std::uint64_t handle = texture.handle();
  Argument argument{Kind::texture, Type::b64, std::vector<std::byte>(sizeof handle), texture.description().name};
  std::memcpy(argument.bytes.data(), &handle, sizeof handle);
  return argument;
}

Argument Argument::raw(std::span<const std::byte> bytes) {
  return {Kind::raw, Type::none, {bytes.begin(), bytes.end()}, {}};
}

} // namespace warplens::api
