// SPDX-License-Identifier: Apache-2.0
#include "runtime/driver/machine/copy.hpp"

#include "runtime/driver/machine/array.hpp"
#include "runtime/driver/machine/serve.hpp"

#include <fmt/format.h>

#include <cstring>

namespace warplens::runtime {

namespace {

constexpr const char* kDestination = "destination";
constexpr const char* kSource = "source";

std::uint64_t extent(const Box& box, std::uint64_t width, std::uint64_t rows, std::uint64_t slices) {
  return (slices - 1) * box.slice + (rows - 1) * box.pitch + width;
}

struct Place {
  bool host, pageable;
};

Place place(const char* what, Side side, const Box& box, std::uint64_t width, std::uint64_t rows,
            std::uint64_t slices) {
  require(box.address != 0);
  const std::optional<Allocation> found = Machine::instance().memory().find(box.address);
  if (!found && side != Side::device) return {true, true};
  require_covered(what, box, width, rows, slices);
  return {found->kind == Allocation::Kind::host || found->kind == Allocation::Kind::registered, false};
}

Side side_of(CUmemorytype type) {
  switch (type) {
  case CU_MEMORYTYPE_HOST: return Side::host;
  case CU_MEMORYTYPE_DEVICE: return Side::device;
  case CU_MEMORYTYPE_UNIFIED: return Side::unified;
  default: throw Failure{CUDA_ERROR_INVALID_VALUE, {}};
  }
}

/// One side of CUDA_MEMCPY3D.
struct Half {
  CUmemorytype type;
  const void* host;
  CUdeviceptr device;
  CUarray array;
  std::uint64_t x, y, z, pitch, height;
};

Box box_of(const Half& half, const CUDA_MEMCPY3D& p) {
  if (half.type == CU_MEMORYTYPE_ARRAY)
    return box_in(half.array, half.x, half.y, half.z, p.WidthInBytes, p.Height, p.Depth);
  const std::uint64_t base = half.type == CU_MEMORYTYPE_HOST ? reinterpret_cast<std::uint64_t>(half.host) : half.device;
  require(base != 0);
  // A pitch or height of 0 means adjacent rows and slices.
  const std::uint64_t pitch = half.pitch != 0 ? half.pitch : p.WidthInBytes + half.x;
  const std::uint64_t height = half.height != 0 ? half.height : p.Height + half.y;
  require(pitch >= p.WidthInBytes + half.x || (p.Height <= 1 && p.Depth <= 1));
  require(height >= p.Height + half.y || p.Depth <= 1);
  return {base + half.z * pitch * height + half.y * pitch + half.x, pitch, pitch * height};
}

} // namespace

void require_covered(const char* what, const Box& box, std::uint64_t width, std::uint64_t rows, std::uint64_t slices) {
  const Memory& memory = Machine::instance().memory();
  const std::uint64_t bytes = extent(box, width, rows, slices);
  if (memory.covers(box.address, bytes)) return;
  const std::optional<Allocation> near = memory.find(box.address);
  throw Failure{CUDA_ERROR_INVALID_VALUE,
                near ? fmt::format("the {} ({} bytes at {:#x}) exceeds its allocation ({} bytes at {:#x})", what, bytes,
                                   box.address, near->size, near->begin)
                     : fmt::format("the {} ({} bytes at {:#x}) is not device memory", what, bytes, box.address),
                wrong_access(box.address, bytes, what != std::string_view(kSource))};
}

Transfer linear_transfer(std::uint64_t to, Side to_side, std::uint64_t from, Side from_side, std::uint64_t bytes) {
  Transfer t;
  t.copy = {.from = {from, bytes, bytes}, .to = {to, bytes, bytes}, .width = bytes};
  if (bytes == 0) return t;
  const Place at_to = place(kDestination, to_side, t.copy.to, bytes, 1, 1);
  const Place at_from = place(kSource, from_side, t.copy.from, bytes, 1, 1);
  t.host_to = at_to.host, t.pageable_to = at_to.pageable;
  t.host_from = at_from.host, t.pageable_from = at_from.pageable;
  return t;
}

Transfer transfer_of(const CUDA_MEMCPY3D& p) {
  Transfer t;
  if (p.WidthInBytes == 0 || p.Height == 0 || p.Depth == 0) return t;
  require(p.srcLOD == 0 && p.dstLOD == 0);
  const Half from{p.srcMemoryType, p.srcHost, p.srcDevice, p.srcArray, p.srcXInBytes,
                  p.srcY,          p.srcZ,    p.srcPitch,  p.srcHeight};
  const Half to{p.dstMemoryType, p.dstHost, p.dstDevice, p.dstArray, p.dstXInBytes,
                p.dstY,          p.dstZ,    p.dstPitch,  p.dstHeight};
  t.copy = {.from = box_of(from, p), .to = box_of(to, p), .width = p.WidthInBytes, .rows = p.Height, .slices = p.Depth};
  const auto where = [&](const char* what, const Half& half, const Box& box) -> Place {
    if (half.type == CU_MEMORYTYPE_ARRAY) return {false, false};
    return place(what, side_of(half.type), box, p.WidthInBytes, p.Height, p.Depth);
  };
  const Place at_to = where(kDestination, to, t.copy.to), at_from = where(kSource, from, t.copy.from);
  t.host_to = at_to.host, t.pageable_to = at_to.pageable;
  t.host_from = at_from.host, t.pageable_from = at_from.pageable;
  return t;
}

CUDA_MEMCPY3D widened(const CUDA_MEMCPY2D& p) {
  CUDA_MEMCPY3D w{};
  w.srcXInBytes = p.srcXInBytes, w.srcY = p.srcY, w.srcMemoryType = p.srcMemoryType, w.srcHost = p.srcHost;
  w.srcDevice = p.srcDevice, w.srcArray = p.srcArray, w.srcPitch = p.srcPitch;
  w.dstXInBytes = p.dstXInBytes, w.dstY = p.dstY, w.dstMemoryType = p.dstMemoryType, w.dstHost = p.dstHost;
  w.dstDevice = p.dstDevice, w.dstArray = p.dstArray, w.dstPitch = p.dstPitch;
  w.WidthInBytes = p.WidthInBytes, w.Height = p.Height, w.Depth = 1;
  return w;
}

CUresult transfer_now(Stream& stream, Transfer transfer) {
  if (transfer.copy.width == 0) return CUDA_SUCCESS;
  // Copies within the device do not wait for the host.
  if (!transfer.host_to && !transfer.host_from) {
    transfer_async(stream, std::move(transfer));
    return CUDA_SUCCESS;
  }
  stream.run(std::move(transfer.copy), true);
  stream.context().flush_printed();
  return stream.context().fault();
}

void transfer_async(Stream& stream, Transfer transfer) {
  Copy& copy = transfer.copy;
  if (copy.width == 0) return;
  if (stream.capture()) return stream.submit(std::move(copy));
  if (transfer.pageable_to || stream.idle()) return stream.run(std::move(copy), transfer.pageable_to);
  if (transfer.pageable_from) {
    // The program can change its memory as soon as this returns.
    const std::uint64_t bytes = extent(copy.from, copy.width, copy.rows, copy.slices);
    const auto* const first = reinterpret_cast<const std::byte*>(copy.from.address);
    copy.staged = std::make_shared<const std::vector<std::byte>>(first, first + bytes);
    copy.from.address = reinterpret_cast<std::uint64_t>(copy.staged->data());
  }
  stream.submit(std::move(copy));
}

} // namespace warplens::runtime
