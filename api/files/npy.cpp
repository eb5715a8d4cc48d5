// SPDX-License-Identifier: Apache-2.0
#include "api/files/npy.hpp"

#include "api/files/input_file.hpp"
#include "api/files/output_file.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <optional>

namespace warplens::api {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

// "<f4": the kind is that of numpy's type strings.
std::string descriptor(Type type) {
  const char kind = isa::is_float(type) ? 'f' : isa::is_signed(type) ? 'i' : 'u';
  const int bytes = isa::bytes(type);
  return fmt::format("{}{}{}", bytes == 1 ? '|' : '<', kind, bytes);
}

bool fits(std::string_view text, Type type) {
  if (text == descriptor(type)) return true;
  if (text.size() < 3 || (text[0] != '<' && text[0] != '|')) return false;
  if (isa::bytes(type) == 1 && text.substr(1) == descriptor(type).substr(1)) return true; // "<u1" is "|u1"
  return isa::info(type).kind == isa::Class::untyped &&
         std::string_view("fiu").find(text[1]) != std::string_view::npos &&
         text.substr(2) == std::to_string(isa::bytes(type));
}

// The value of 'key': in the header, which is the text of a Python dictionary.
std::string_view value_of(std::string_view header, std::string_view key) {
  const std::size_t at = header.find(fmt::format("'{}':", key));
  if (at == std::string_view::npos) return {};
  std::string_view rest = header.substr(at + key.size() + 3);
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  if (rest.starts_with('(')) return rest.substr(0, rest.find(')') + 1);
  if (rest.starts_with('\'')) return rest.substr(1, std::min(rest.find('\'', 1), rest.size()) - 1);
  return rest.substr(0, rest.find_first_of(",}"));
}

// The number of elements of "(4, 5)"; empty if it is not a shape.
std::optional<std::uint64_t> elements(std::string_view shape) {
  if (!shape.starts_with('(') || !shape.ends_with(')')) return std::nullopt;
  shape = shape.substr(1, shape.size() - 2);
  std::uint64_t count = 1;
  while (!shape.empty()) {
    while (shape.starts_with(' ') || shape.starts_with(',')) shape.remove_prefix(1);
    if (shape.empty()) break;
    std::uint64_t extent = 0;
    const auto [end, error] = std::from_chars(shape.data(), shape.data() + shape.size(), extent);
    if (error != std::errc{} || __builtin_mul_overflow(count, extent, &count)) return std::nullopt;
    shape.remove_prefix(static_cast<std::size_t>(end - shape.data()));
    if (!shape.empty() && shape.front() != ',') return std::nullopt;
  }
  return count;
}

} // namespace

Expected<Array> decode_npy(std::string_view content, Type type, std::string_view name) {
  const auto bad = [&](std::string_view why) { return failure(fmt::format("'{}': {}", name, why)); };
  if (!content.starts_with(kMagic) || content.size() < 10) return bad("not a .npy file");
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(content[i])); };
  const std::size_t version = byte(6);
  if (version != 1 && version != 2) return bad(fmt::format("version {} of the .npy format: expected 1 or 2", version));
  const std::size_t begin = version == 1 ? 10 : 12;
  if (content.size() < begin) return bad("the header is truncated");
  const std::size_t length =
      version == 1 ? byte(8) | byte(9) << 8 : byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24;
  if (content.size() - begin < length) return bad("the header is truncated");
  const std::string_view header = content.substr(begin, length);

  const std::string_view descr = value_of(header, "descr");
  if (!fits(descr, type)) return bad(fmt::format("expected elements of type '{}', got '{}'", descriptor(type), descr));
  if (value_of(header, "fortran_order") != "False") return bad("expected C order ('fortran_order': False)");
  const std::optional<std::uint64_t> count = elements(value_of(header, "shape"));
  const std::string_view data = content.substr(begin + length);
  if (!count) return bad("the shape is invalid");
  const auto width = static_cast<std::uint64_t>(isa::bytes(type));
  if (*count != data.size() / width || data.size() % width != 0)
    return bad(fmt::format("the shape has {} elements of {} bytes, but {} bytes follow the header", *count, width,
                           data.size()));
  Array array{*count, std::vector<std::byte>(data.size())};
  if (!data.empty()) std::memcpy(array.bytes.data(), data.data(), data.size());
  return array;
}

Expected<Array> read_npy(const std::filesystem::path& file, Type type) {
  const Expected<std::string> content = read_file(file, limits::kBufferBytes);
  if (!content) return failure(content.error());
  return decode_npy(*content, type, file.string());
}

std::string encode_npy(Type type, std::span<const std::byte> bytes) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({},), }}", descriptor(type),
                                   bytes.size() / static_cast<std::size_t>(isa::bytes(type)));
  // The data begin at a multiple of 64; the header ends with a newline.
  header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 11, ' ');
  header += '\n';
  std::string content(kMagic);
  content += {'\x01', '\x00', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  content += header;
  if (!bytes.empty()) content.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return content;
}

Expected<void> write_npy(const std::filesystem::path& file, Type type, std::span<const std::byte> bytes) {
  return write_whole(file, encode_npy(type, bytes));
}

} // namespace warplens::api
