// suld, sust, sured: texels by number, without a sampler.
#include "emulator/exec/control.hpp"
#include "emulator/exec/cta.hpp"
#include "emulator/exec/texel.hpp"
#include "emulator/exec/texture_handlers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>

namespace warplens::exec {

namespace {

using isa::Type;
using Bounds = TextureSite::Bounds;
using Reduction = TextureSite::Reduction;

/// Where a lane's access goes.
struct Place {
  enum class Outcome : std::uint8_t { inside, outside, trapped } outcome = Outcome::outside;
  std::byte* bytes = nullptr;
  const Image* image = nullptr;
};

std::uint32_t access_bytes(const TextureSite& site, const Image& image) {
  return site.formatted ? image.texel_bytes() : site.elements * static_cast<std::uint32_t>(isa::bytes(site.type));
}

Place stop(const Op* op, Warp* warp, int lane, std::string why) {
  stop_with(op, warp, Trap::Kind::invalid_texture, Mask{1} << lane, std::move(why));
  return {Place::Outcome::trapped, nullptr, nullptr};
}

bool has_geometry(const TextureSite& site, const Image& image) {
  return site.is_array() == (image.layered || image.cube) && site.dimensions() == image.dimensions;
}

// A coordinate of `count` possible ones, of which `.clamp` takes the nearest; false where it is none of them.
bool bounded(std::int64_t& at, std::int64_t count, Bounds bounds) {
  if (at >= 0 && at < count) return true;
  at = std::clamp<std::int64_t>(at, 0, count - 1);
  return bounds == Bounds::clamp;
}

Place place_of(const Op* op, Warp* warp, const TextureSite& site, int lane) {
  const std::uint64_t reference = row<std::uint64_t>(warp, site.reference)[lane];
  const BoundTexture* const surface = bound_texture(op, warp, lane, reference, Type::surfref);
  if (surface == nullptr) return {Place::Outcome::trapped, nullptr, nullptr};
  const Image& image = surface->image;
  if (!has_geometry(site, image))
    return stop(op, warp, lane, fmt::format("surface '{}' has another geometry than the instruction", surface->name));
  std::int64_t at[4]{};
  for (std::size_t i = 0; i < 4; ++i)
    if (site.coordinate[i] != 0) at[i] = row<std::int32_t>(warp, site.coordinate[i])[lane];
  const std::int64_t slice_index = site.is_array() ? static_cast<std::uint32_t>(at[0]) : 0;
  const std::int64_t* const xyz = at + (site.is_array() ? 1 : 0);
  std::int64_t x = xyz[0], y = site.dimensions() > 1 ? xyz[1] : 0, z = site.dimensions() > 2 ? xyz[2] : slice_index;
  const ImageLevel& level = image.level[0];
  const std::int64_t bytes = access_bytes(site, image);
  if (site.formatted) x *= bytes;
  if (x % bytes != 0)
    return stop(op, warp, lane,
                fmt::format("byte {} of a row of surface '{}' is no multiple of the {} that are accessed", x,
                            surface->name, bytes));
  const std::int64_t row_bytes = std::int64_t{level.width} * image.texel_bytes();
  std::int64_t column = x / bytes;
  const std::int64_t slices = site.dimensions() == 3 ? level.depth : image.slices();
  const std::int64_t wanted[] = {x, y, z};
  bool inside = bounded(column, row_bytes / bytes, site.bounds);
  inside = bounded(y, level.height, site.bounds) && inside;
  inside = bounded(z, slices, site.bounds) && inside;
  if (!inside && site.bounds == Bounds::trap)
    return stop(
        op, warp, lane,
        fmt::format("byte {}, row {}, slice {} is outside surface '{}', which has rows of {} bytes, {} rows and "
                    "{} slices",
                    wanted[0], wanted[1], wanted[2], surface->name, row_bytes, level.height, slices));
  const std::uint64_t address = image.address + static_cast<std::uint64_t>(z) * level.slice_bytes +
                                static_cast<std::uint64_t>(y) * level.row_bytes +
                                static_cast<std::uint64_t>(column * bytes);
  return {inside ? Place::Outcome::inside : Place::Outcome::outside, reinterpret_cast<std::byte*>(address), &image};
}

// Calls `each(lane, place)` for the lanes whose access goes somewhere, in order; false after a trap.
template <class Each> bool for_each_lane(const Op* op, Warp* warp, Each&& each) {
  const TextureSite& site = texture_site(op, warp);
  std::array<std::uint64_t, kWarpSize> addresses{};
  Mask touched = 0;
  for (Mask m = acting(op, warp); m != 0; m &= m - 1) {
    const int lane = __builtin_ctz(m);
    const Place place = place_of(op, warp, site, lane);
    if (place.outcome == Place::Outcome::trapped) return false;
    if (place.outcome == Place::Outcome::inside) {
      addresses[static_cast<std::size_t>(lane)] = reinterpret_cast<std::uint64_t>(place.bytes);
      touched |= Mask{1} << lane;
    }
    each(lane, place);
  }
  observe_texels(op, warp, touched, addresses);
  return true;
}

template <class T> T reduced(Reduction reduction, T old, T b) {
  switch (reduction) {
  case Reduction::add: return static_cast<T>(static_cast<std::uint64_t>(old) + static_cast<std::uint64_t>(b));
  case Reduction::minimum: return std::min(old, b);
  case Reduction::maximum: return std::max(old, b);
  case Reduction::bit_and: return old & b;
  case Reduction::bit_or: return old | b;
  }
  return old;
}

template <class T> void reduce(std::byte* bytes, Reduction reduction, T b) {
  std::atomic_ref<T> cell(*reinterpret_cast<T*>(bytes));
  T old = cell.load(std::memory_order_relaxed);
  while (!cell.compare_exchange_weak(old, reduced(reduction, old, b), std::memory_order_acq_rel)) {
  }
}

} // namespace

const Op* load_surface(const Op* op, Warp* warp) {
  const TextureSite& site = texture_site(op, warp);
  const auto size = static_cast<std::size_t>(isa::bytes(site.type));
  const bool done = for_each_lane(op, warp, [&](int lane, const Place& place) {
    for (std::size_t e = 0; e < site.elements; ++e) {
      std::byte* const to = row<std::byte>(warp, site.value[e]) + static_cast<std::size_t>(lane) * size;
      if (place.outcome == Place::Outcome::inside)
        std::memcpy(to, place.bytes + e * size, size);
      else
        std::memset(to, 0, size);
    }
  });
  return done ? op + 1 : nullptr;
}

const Op* store_surface(const Op* op, Warp* warp) {
  const TextureSite& site = texture_site(op, warp);
  const auto size = static_cast<std::size_t>(isa::bytes(site.type));
  const bool done = for_each_lane(op, warp, [&](int lane, const Place& place) {
    if (place.outcome == Place::Outcome::outside) return;
    Texel texel{};
    for (std::size_t e = 0; e < site.elements; ++e) {
      const std::byte* const from = row<std::byte>(warp, site.value[e]) + static_cast<std::size_t>(lane) * size;
      if (site.formatted)
        std::memcpy(&texel[e], from, size);
      else
        std::memcpy(place.bytes + e * size, from, size);
    }
    if (site.formatted) write_texel(*place.image, place.bytes, texel, site.elements);
  });
  return done ? op + 1 : nullptr;
}

// sured.p (9.7.11.3) takes the sign of its numbers from the format of the surface.
const Op* reduce_surface(const Op* op, Warp* warp) {
  const TextureSite& site = texture_site(op, warp);
  const bool done = for_each_lane(op, warp, [&](int lane, const Place& place) {
    if (place.outcome == Place::Outcome::outside) return;
    const bool is_signed = isa::is_signed(site.formatted ? place.image->type : site.type);
    if (isa::bits(site.type) == 64) {
      const std::uint64_t b = row<std::uint64_t>(warp, site.value[0])[lane];
      if (is_signed)
        reduce(place.bytes, site.reduction, static_cast<std::int64_t>(b));
      else
        reduce(place.bytes, site.reduction, b);
    } else {
      const std::uint32_t b = row<std::uint32_t>(warp, site.value[0])[lane];
      if (is_signed)
        reduce(place.bytes, site.reduction, static_cast<std::int32_t>(b));
      else
        reduce(place.bytes, site.reduction, b);
    }
  });
  return done ? op + 1 : nullptr;
}

} // namespace warplens::exec
