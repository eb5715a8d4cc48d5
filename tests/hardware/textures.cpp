// SPDX-License-Identifier: Apache-2.0
#include "tests/hardware/textures.hpp"

#include "tests/hardware/emulated.hpp"

#include <bit>
#include <cstdlib>
#include <cstring>
#include <sstream>

namespace warplens::tests {

namespace {

using isa::Type;
using nlohmann::json;

std::uint32_t mixed(std::uint32_t i) {
  std::uint32_t h = i * 0x9E3779B1u + 0x7F4A7C15u;
  h = (h ^ h >> 15) * 0x85EBCA77u;
  h = (h ^ h >> 13) * 0xC2B2AE3Du;
  return h ^ h >> 16;
}

// A small natural number as f16.
std::uint32_t half(std::uint32_t value) {
  if (value == 0) return 0;
  const auto exponent = static_cast<std::uint32_t>(std::bit_width(value)) - 1;
  return (exponent + 15) << 10 | ((value << 10 >> exponent) & 0x3ff);
}

std::uint32_t number(Type type, std::uint32_t value) {
  if (type == Type::f32) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return type == Type::f16 ? half(value) : value;
}

// content() of the script.
std::uint32_t content(Type type, const std::string& what, std::uint32_t i, std::uint32_t texel, std::uint32_t level) {
  const std::uint32_t h = mixed(i);
  if (what == "index") return number(type, i);
  if (what == "step") return number(type, texel & 1);
  if (what == "level") return number(type, level);
  if (what == "unit") return (h & 0x7fffff) | 0x3f800000;
  if (what == "mix" && type == Type::f32) return (h & 0x807fffff) | (120 + (h >> 23 & 15)) << 23;
  if (what == "mix" && type == Type::f16) return (h & 0x83ff) | (8 + (h >> 10 & 15)) << 10;
  return h;
}

exec::Image image_of(const json& texture) {
  exec::Image image;
  const std::string kind = texture["kind"], format = texture["format"];
  const auto size = texture["size"].get<std::vector<std::uint32_t>>();
  image.dimensions = static_cast<std::uint8_t>(size.size());
  image.width = size[0];
  image.height = size.size() > 1 ? size[1] : 1;
  image.depth = size.size() > 2 ? size[2] : 1;
  image.cube = kind.find("cube") != std::string::npos;
  image.layered = kind[0] == 'a';
  image.layers = texture.value("layers", 1u);
  image.levels = texture.value("levels", 1u);
  image.channels = texture["channels"];
  image.memory = kind == "linear" || kind == "pitch";
  image.normalized = format.find("norm") != std::string::npos;
  const bool wide = format.ends_with("16");
  image.type = format.starts_with("unorm")   ? (wide ? Type::u16 : Type::u8)
               : format.starts_with("snorm") ? (wide ? Type::s16 : Type::s8)
                                             : *isa::type_named(format);
  image.lay_out();
  return image;
}

std::vector<std::uint32_t> texels(const json& texture, const exec::Image& image) {
  const auto size = static_cast<std::size_t>(isa::bytes(image.type));
  std::vector<std::uint32_t> words((image.bytes() + 3) / 4);
  auto* const bytes = reinterpret_cast<std::byte*>(words.data());
  std::uint32_t i = 0;
  for (std::uint32_t l = 0; l < image.levels; ++l) {
    const exec::ImageLevel& level = image.level[l];
    const std::uint32_t count = level.width * level.height * std::max(level.depth, image.slices()) * image.channels;
    for (const std::uint32_t end = i + count; i < end; ++i) {
      const std::uint32_t value = content(image.type, texture.value("content", "mix"), i, i / image.channels, l);
      std::memcpy(bytes + i * size, &value, size);
    }
  }
  return words;
}

exec::Sampler sampler_of(const json& state) {
  exec::Sampler s;
  const std::map<std::string, exec::Addressing> kModes = {{"wrap", exec::Addressing::wrap},
                                                          {"clamp", exec::Addressing::clamp},
                                                          {"mirror", exec::Addressing::mirror},
                                                          {"border", exec::Addressing::border}};
  const json address = state.value("address", json("clamp"));
  for (std::size_t axis = 0; axis < 3; ++axis)
    s.addressing[axis] = kModes.at(address.is_string() ? address.get<std::string>() : address[axis].get<std::string>());
  s.linear = state.value("filter", "point") == "linear";
  s.linear_levels = state.value("mip", "point") == "linear";
  s.normalized = state.value("normalized", false);
  s.read_normalized = state.value("read", "element") == "normalized_float";
  s.srgb = state.value("srgb", false);
  s.level_bias = state.value("bias", 0.0f);
  const json lod = state.value("lod", json({0, 0}));
  s.lowest_level = lod[0];
  s.highest_level = lod[1];
  const json border = state.value("border", json({0, 0, 0, 0}));
  for (std::size_t c = 0; c < 4; ++c) s.border[c] = border[c];
  return s;
}

} // namespace

Words TextureQuestions::words(const std::string& text) {
  Words list;
  std::istringstream in(text);
  for (std::string word; in >> word;)
    list.push_back(word == "=" ? list.back() : static_cast<std::uint32_t>(std::strtoul(word.c_str(), nullptr, 16)));
  return list;
}

TextureQuestions::TextureQuestions() {
  std::istringstream lines(data_file("hardware/textures.txt"));
  for (std::string line; std::getline(lines, line);) {
    json j = json::parse(line);
    if (j.contains("kernel")) {
      kernel_ = j["kernel"];
    } else if (j.contains("set")) {
      auto& columns = sets_[j["set"]];
      for (const auto& [name, value] : j.items())
        if (name != "set") columns[name] = words(value);
    } else {
      questions_.push_back(std::move(j));
    }
  }
}

TextureQuestions::Answer TextureQuestions::ask(const json& question) const {
  std::string text = kernel_;
  text.replace(text.find("STATEMENT"), 9, question["do"].get<std::string>());
  Emulated machine(text, "question.ptx");
  exec::BoundTexture bound;
  bound.name = "t";
  bound.image = image_of(question["texture"]);
  bound.kind = exec::BoundTexture::Kind::surface;
  if (question.contains("sampler")) {
    bound.kind = exec::BoundTexture::Kind::texture;
    bound.sampler = sampler_of(question["sampler"]);
  }
  bound.image.address = machine.buffer(texels(question["texture"], bound.image));
  const auto& columns = inputs(question["in"]);
  const std::size_t rows = columns.begin()->second.size();
  Words table(12 * rows);
  for (const auto& [name, column] : columns)
    for (std::size_t r = 0; r < rows; ++r) table[12 * r + std::stoul(name.substr(1))] = column[r];
  const std::uint64_t given = machine.buffer(table), out = machine.buffer(Words(4 * rows));
  Emulated::Request request;
  request.kernel = "k";
  request.shape.grid[0] = static_cast<std::uint32_t>(rows / 32);
  request.shape.block[0] = 32;
  request.arguments = {{7, 8}, {given, 8}, {out, 8}};
  request.textures.set(7, bound);
  Answer answer;
  answer.error = machine.run(request);
  const auto* const results = reinterpret_cast<const std::uint32_t*>(out);
  for (const std::string name : question["keep"]) {
    Words& column = answer.out[name];
    for (std::size_t r = 0; r < rows; ++r) column.push_back(results[4 * r + static_cast<std::size_t>(name[1] - '0')]);
  }
  const auto* const bytes = reinterpret_cast<const unsigned char*>(bound.image.address);
  for (std::uint64_t i = 0; !question.value("after", json()).is_null() && i < bound.image.bytes(); ++i)
    for (const int digit : {bytes[i] >> 4, bytes[i] & 15}) answer.after += "0123456789abcdef"[digit];
  machine.free_buffers();
  return answer;
}

} // namespace warplens::tests
