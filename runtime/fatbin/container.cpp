// SPDX-License-Identifier: Apache-2.0
#include "runtime/fatbin/container.hpp"

#include "api/session/limits.hpp"

#include <fmt/format.h>
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>

namespace warplens::fatbin {

namespace {

constexpr std::size_t kEntryHeader = 64; ///< the part that every version has, bytes

// Flags of an entry. CUDA 4 and 5 set 0x1000 where later versions set 0x2000.
constexpr std::uint64_t kLz4 = 0x1000 | 0x2000, kZstd = 0x8000, kArchitecture = 0x100000, kFamily = 0x200000;

/// A number at an offset; the caller has checked the bounds.
template <class T> T read(std::span<const std::byte> bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

auto corrupt(std::string what) {
  return failure("corrupt fat binary: " + std::move(what), "the file may be truncated: rebuild it");
}

/// A piece of an entry's header, such as the identifier: `at` and `length` come from the file. Empty if it is out of
/// bounds. Strips blanks around it and zeros after it.
std::string_view text_of(std::span<const std::byte> header, std::uint32_t at, std::uint32_t length) {
  if (at < kEntryHeader || at > header.size() || length > header.size() - at) return {};
  std::string_view text(reinterpret_cast<const char*>(header.data()) + at, length);
  text = text.substr(0, text.find('\0'));
  const std::size_t first = text.find_first_not_of(' ');
  return first == text.npos ? std::string_view{} : text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

/// `header`: the whole header of the entry. `payload`: with its padding.
Expected<Image> read_entry(std::span<const std::byte> header, std::span<const std::byte> payload) {
  Image image;
  image.kind = Kind{read<std::uint16_t>(header, 0)};
  const auto stored = read<std::uint32_t>(header, 16); // 0 if not compressed
  const auto options_at = read<std::uint32_t>(header, 20);
  image.target.architecture = read<std::uint32_t>(header, 28);
  image.identifier = text_of(header, read<std::uint32_t>(header, 32), read<std::uint32_t>(header, 36));
  const auto flags = read<std::uint64_t>(header, 40);
  if ((flags & kArchitecture) != 0)
    image.target.suffix = 'a';
  else if ((flags & kFamily) != 0)
    image.target.suffix = 'f';
  if (options_at >= kEntryHeader && options_at <= header.size() - 8)
    image.options =
        text_of(header, read<std::uint32_t>(header, options_at), read<std::uint32_t>(header, options_at + 4));
  image.payload = payload;
  image.size = payload.size();
  if ((flags & (kLz4 | kZstd)) == 0) return image;

  image.compression = (flags & kZstd) != 0 ? Compression::zstd : Compression::lz4;
  image.size = read<std::uint64_t>(header, 56);
  if (stored > payload.size())
    return corrupt(fmt::format("an entry of {} bytes declares {} compressed bytes", payload.size(), stored));
  image.payload = payload.first(stored);
  return image;
}

Expected<std::string> decompress_lz4(const Image& image) {
  // A byte of LZ4 yields at most 255 bytes: a wrong size does not make us allocate gigabytes.
  constexpr std::uint64_t kMostPerByte = 255;
  if (image.size > kMostPerByte * image.payload.size() + kMostPerByte)
    return corrupt(fmt::format("{} bytes of LZ4 data cannot decompress to {} bytes", image.payload.size(), image.size));
  std::string out(image.size, '\0');
  const int got = LZ4_decompress_safe(reinterpret_cast<const char*>(image.payload.data()), out.data(),
                                      static_cast<int>(image.payload.size()), static_cast<int>(out.size()));
  if (got < 0 || static_cast<std::uint64_t>(got) != image.size)
    return corrupt(fmt::format("the LZ4 data do not decompress to {} bytes", image.size));
  return out;
}

/// Each thread keeps its own: to make one takes longer than to decompress a small image.
ZSTD_DStream* zstd_stream() {
  thread_local const std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream(ZSTD_createDStream(),
                                                                                       &ZSTD_freeDStream);
  if (stream != nullptr) ZSTD_DCtx_reset(stream.get(), ZSTD_reset_session_only);
  return stream.get();
}

/// Grows with the output, so that a wrong size does not make us allocate gigabytes.
Expected<std::string> decompress_zstd(const Image& image) {
  ZSTD_DStream* const stream = zstd_stream();
  if (stream == nullptr) return failure("out of memory");
  // One more byte than there should be shows that there are more.
  std::string out,
      piece(static_cast<std::size_t>(std::min<std::uint64_t>(ZSTD_DStreamOutSize(), image.size)) + 1, '\0');
  ZSTD_inBuffer in{image.payload.data(), image.payload.size(), 0};
  std::size_t left = 1;
  while (left != 0) {
    ZSTD_outBuffer to{piece.data(), piece.size(), 0};
    const std::size_t before = in.pos;
    left = ZSTD_decompressStream(stream, &to, &in);
    if (ZSTD_isError(left) != 0) return corrupt(fmt::format("zstd: {}", ZSTD_getErrorName(left)));
    out.append(piece.data(), to.pos);
    if (out.size() > image.size || (to.pos == 0 && in.pos == before)) break;
  }
  if (left != 0 || out.size() != image.size)
    return corrupt(fmt::format("the zstd data do not decompress to {} bytes", image.size));
  return out;
}

} // namespace

std::string name(CodeTarget target, std::string_view kind) {
  return fmt::format("{}_{}{}", kind, target.architecture,
                     target.suffix == 0 ? std::string{} : std::string(1, target.suffix));
}

bool is_container(std::span<const std::byte> bytes) {
  return bytes.size() >= sizeof kContainerMagic && read<std::uint32_t>(bytes, 0) == kContainerMagic;
}

Expected<std::uint64_t> container_size(const std::byte* header) {
  const std::span<const std::byte> bytes(header, kContainerHeader);
  if (const auto magic = read<std::uint32_t>(bytes, 0); magic != kContainerMagic)
    return failure(fmt::format("not a fat binary: it begins with {:#010x}, not {:#010x}", magic, kContainerMagic));
  if (const auto version = read<std::uint16_t>(bytes, 4); version != 1)
    return failure(fmt::format("unsupported fat binary version {}: only version 1 is supported", version));
  const auto header_size = read<std::uint16_t>(bytes, 6);
  const auto size = read<std::uint64_t>(bytes, 8);
  if (header_size < kContainerHeader || size > std::numeric_limits<std::uint64_t>::max() - header_size)
    return corrupt(fmt::format("a header of {} bytes before {} bytes of entries", header_size, size));
  return header_size + size;
}

Expected<std::vector<Image>> read_container(std::span<const std::byte> bytes) {
  if (bytes.size() < kContainerHeader) return corrupt(fmt::format("{} bytes, fewer than its header", bytes.size()));
  const Expected<std::uint64_t> end = container_size(bytes.data());
  if (!end) return failure(end.error());
  if (*end > bytes.size()) return corrupt(fmt::format("{} bytes, but {} are expected", bytes.size(), *end));

  std::vector<Image> images;
  std::size_t at = read<std::uint16_t>(bytes, 6);
  while (at != *end) {
    const std::size_t left = *end - at;
    const auto outside = [&] { return corrupt(fmt::format("the entry at byte {} extends past the end", at)); };
    if (left < kEntryHeader) return outside();
    const auto header = read<std::uint32_t>(bytes, at + 4);
    const auto payload = read<std::uint64_t>(bytes, at + 8);
    if (header < kEntryHeader) return corrupt(fmt::format("the entry at byte {} has a header of {} bytes", at, header));
    if (header > left || payload > left - header) return outside();
    Expected<Image> image = read_entry(bytes.subspan(at, header), bytes.subspan(at + header, payload));
    if (!image) return failure(image.error());
    images.push_back(*image);
    at += header + payload;
  }
  return images;
}

namespace {

/// A few kilobytes can declare, and really expand to, gigabytes. Null: the size is acceptable.
const Limit* exceeded_by(const Image& image) {
  if (image.compression == Compression::none || limits::kExpandedBytes.admits(image.size)) return nullptr;
  const Checked allowed = Checked(image.payload.size()) * limits::kExpansion.most();
  return image.size <= allowed.saturated() && limits::kInputBytes.admits(image.size) ? nullptr
                                                                                     : &limits::kExpandedBytes;
}

} // namespace

Expected<std::string> contents(const Image& image) {
  if (const Limit* const limit = exceeded_by(image))
    return failure(limit->exceeded(fmt::format("an entry of {} compressed bytes", image.payload.size()), image.size),
                   limit->hint());
  constexpr std::uint64_t kMost = LZ4_MAX_INPUT_SIZE; // the library uses int
  if (image.size > kMost) return corrupt(fmt::format("an entry of {} bytes", image.size));
  Expected<std::string> out = [&]() -> Expected<std::string> {
    switch (image.compression) {
    case Compression::lz4: return decompress_lz4(image);
    case Compression::zstd: return decompress_zstd(image);
    case Compression::none: break;
    }
    return std::string(reinterpret_cast<const char*>(image.payload.data()), image.payload.size());
  }();
  if (out && image.kind == Kind::ptx) out->erase(out->find_last_not_of('\0') + 1);
  return out;
}

} // namespace warplens::fatbin
