// SPDX-License-Identifier: Apache-2.0
// suld, sust, sured: texels by number, without a sampler.
#include "emulator/exec/access/collisions.hpp"
#include "emulator/exec/block/control.hpp"
#include "emulator/exec/block/cta.hpp"
#include "emulator/exec/texture/texel.hpp"
#include "emulator/exec/texture/texture_handlers.hpp"
#include "emulator/exec/texture/texture_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

namespace warplens::exec {

namespace {

using isa::Type;
using Bounds = TextureSite::Bounds;
using Reduction = TextureSite::Reduction;

/// The target of a lane's access.
struct TexelPlace {
  enum class Outcome : std::uint8_t { inside, outside, dropped, trapped } outcome = Outcome::outside;
  std::byte* bytes = nullptr;
  const Image* image = nullptr;
};

std::uint32_t access_bytes(const TextureSite& site, const Image& image) {
  return site.formatted ? image.texel_bytes() : site.elements * static_cast<std::uint32_t>(isa::bytes(site.type));
}

TexelPlace refused(const Warp* warp) {
  return {warp->state == WarpState::trapped ? TexelPlace::Outcome::trapped : TexelPlace::Outcome::dropped, nullptr,
          nullptr};
}

TexelPlace stop(const Op* op, Warp* warp, int lane, ToolFinding::Kind finding, std::string why) {
  refuse_texture(op, warp, lane, finding, std::move(why));
  return refused(warp);
}

bool is_surface_of(const TextureSite& site, const Image& image) {
  return site.is_array() == (image.layered || image.cube) && site.dimensions() == image.dimensions;
}

// A coordinate of `count` possible ones, of which `.clamp` takes the nearest; false where it is none of them.
bool bounded(std::int64_t& at, std::int64_t count, Bounds bounds) {
  if (at >= 0 && at < count) return true;
  at = std::clamp<std::int64_t>(at, 0, count - 1);
  return bounds == Bounds::clamp;
}

TexelPlace place_of(const Op* op, Warp* warp, const TextureSite& site, int lane) {
  const std::uint64_t reference = row<std::uint64_t>(warp, site.reference)[lane];
  const BoundTexture* const surface = bound_texture(op, warp, lane, reference, Type::surfref);
  if (surface == nullptr) return refused(warp);
  const Image& image = surface->image;
  if (!is_surface_of(site, image))
    return stop(op, warp, lane, ToolFinding::Kind::forged_handle,
                fmt::format("surface '{}' has a different geometry than the instruction", surface->name));
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
    return stop(op, warp, lane, ToolFinding::Kind::misaligned,
                fmt::format("byte {} of a row of surface '{}' is not a multiple of the access size {}", x,
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
        op, warp, lane, ToolFinding::Kind::out_of_bounds,
        fmt::format("byte {}, row {}, slice {} is outside surface '{}', which has rows of {} bytes, {} rows and "
                    "{} slices",
                    wanted[0], wanted[1], wanted[2], surface->name, row_bytes, level.height, slices));
  const std::uint64_t address = image.address + static_cast<std::uint64_t>(z) * level.slice_bytes +
                                static_cast<std::uint64_t>(y) * level.row_bytes +
                                static_cast<std::uint64_t>(column * bytes);
  return {inside ? TexelPlace::Outcome::inside : TexelPlace::Outcome::outside, reinterpret_cast<std::byte*>(address),
          &image};
}

/// The targets of the lanes of an access, if all of them use one surface and none traps.
struct ElementPlaces {
  const Image* image = nullptr;
  Mask inside = 0;
  Row<std::uint64_t> address;
};

// A coordinate of `count` possible ones, as bounded() has it; true where it is one of them.
bool bring_inside(std::int32_t& at, std::uint32_t count, bool as_unsigned) {
  if (static_cast<std::uint32_t>(at) < count) return true;
  at = at < 0 && !as_unsigned ? 0 : static_cast<std::int32_t>(count - 1);
  return false;
}

// place_of() for all lanes of `mask`; false if they must be handled one by one.
bool find_places(Warp* warp, const TextureSite& site, Mask mask, ElementPlaces& places) {
  if (mask == 0) return false;
  const auto* const references = row<std::uint64_t>(warp, site.reference);
  const int first = __builtin_ctz(mask);
  if (same_as(references, first, mask) != mask) return false;
  const BoundTexture* const surface = warp->worker->launch.textures.find(references[first]);
  if (surface == nullptr || surface->kind != BoundTexture::Kind::surface) return false;
  const Image& image = surface->image;
  const ImageLevel& level = image.level[0];
  const std::uint32_t bytes = access_bytes(site, image);
  const std::uint64_t columns = std::uint64_t{level.width} * image.texel_bytes() / bytes;
  const std::uint32_t slices = site.dimensions() == 3 ? level.depth : image.slices();
  constexpr std::uint64_t kMost = std::uint64_t{1} << 31;
  if (!is_surface_of(site, image) || !std::has_single_bit(bytes)) return false;
  if (columns == 0 || columns > kMost || level.height > kMost || slices > kMost) return false;
  const std::uint32_t low_bits = site.formatted ? 0 : bytes - 1;
  const int shift = site.formatted ? 0 : std::countr_zero(bytes);
  const bool array = site.is_array();
  const std::uint32_t* const at = site.coordinate.data() + (array ? 1 : 0);
  const auto* const xs = row<std::int32_t>(warp, at[0]);
  const auto* const ys = site.dimensions() > 1 ? row<std::int32_t>(warp, at[1]) : nullptr;
  const auto* const zs = array                    ? row<std::int32_t>(warp, site.coordinate[0])
                         : site.dimensions() == 3 ? row<std::int32_t>(warp, at[2])
                                                  : nullptr;
  places.image = &image;
  for (const int lane : EachLane(mask)) {
    std::int32_t x = xs[lane], y = ys != nullptr ? ys[lane] : 0, z = zs != nullptr ? zs[lane] : 0;
    if ((static_cast<std::uint32_t>(x) & low_bits) != 0) return false;
    x >>= shift;
    bool inside = bring_inside(x, static_cast<std::uint32_t>(columns), false);
    inside = bring_inside(y, level.height, false) && inside;
    inside = bring_inside(z, slices, array) && inside;
    if (!inside && site.bounds == Bounds::trap) return false;
    places.inside |= Mask{inside || site.bounds == Bounds::clamp} << lane;
    places.address[lane] = image.address + static_cast<std::uint64_t>(z) * level.slice_bytes +
                           static_cast<std::uint64_t>(y) * level.row_bytes + static_cast<std::uint64_t>(x) * bytes;
  }
  return true;
}

unsigned bytes_of_lane(const TextureSite& site) {
  return static_cast<unsigned>(isa::bytes(site.type)) * static_cast<unsigned>(site.elements);
}

// Calls `each(lane, place)` for the lanes whose access has a target, in the order of stores; false after a trap.
template <class Each> bool for_each_lane(const Op* op, Warp* warp, Each&& each) {
  const TextureSite& site = texture_site(op, warp);
  Row<std::uint64_t> addresses;
  std::array<TexelPlace, kWarpSize> places;
  Mask touched = 0;
  std::uint32_t bytes = ~std::uint32_t{0}; // of the smallest access
  const Mask mask = acting(op, warp);
  for (const int lane : EachLane(mask)) {
    TexelPlace& place = places[static_cast<std::size_t>(lane)];
    place = place_of(op, warp, site, lane);
    if (place.outcome == TexelPlace::Outcome::trapped) return false;
    if (place.outcome == TexelPlace::Outcome::inside) {
      addresses[lane] = reinterpret_cast<std::uint64_t>(place.bytes);
      bytes = std::min(bytes, access_bytes(site, *place.image));
      touched |= Mask{1} << lane;
    }
  }
  for_each_storing_lane(mask, bytes_of_lane(site),
                        [&](int lane) { each(lane, places[static_cast<std::size_t>(lane)]); });
  observe_texels(op, warp, touched, addresses.of, bytes);
  return true;
}

// The type for elements of this size.
template <class F> void with_element(std::size_t bytes, F&& f) {
  switch (bytes) {
  case 1: return f(std::uint8_t{});
  case 2: return f(std::uint16_t{});
  case 4: return f(std::uint32_t{});
  default: return f(std::uint64_t{});
  }
}

template <class T> void load_element(const ElementPlaces& places, Mask mask, std::size_t element, T* to) {
  for (const int lane : EachLane(mask)) {
    T value{};
    if ((places.inside >> lane & 1) != 0)
      std::memcpy(&value, reinterpret_cast<const std::byte*>(places.address[lane]) + element * sizeof(T), sizeof value);
    to[lane] = value;
  }
}

// Null `from` stores 0.
template <class T>
void store_element(const ElementPlaces& places, unsigned lane_bytes, std::size_t element, const T* from) {
  for_each_storing_lane(places.inside, lane_bytes, [&](int lane) {
    const T value = from != nullptr ? from[lane] : T{};
    std::memcpy(reinterpret_cast<std::byte*>(places.address[lane]) + element * sizeof(T), &value, sizeof value);
  });
}

// Whether a formatted store keeps its words unchanged.
bool keeps_words(const Image& image) { return isa::bits(image.type) == 32 && !image.normalized; }

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
  const Mask mask = acting(op, warp);
  if (ElementPlaces places; find_places(warp, site, mask, places)) {
    with_element(size, [&]<class T>(T) {
      for (std::size_t e = 0; e < site.elements; ++e) load_element(places, mask, e, row<T>(warp, site.value[e]));
    });
    observe_texels(op, warp, places.inside, places.address.of, access_bytes(site, *places.image));
    return op + 1;
  }
  const bool done = for_each_lane(op, warp, [&](int lane, const TexelPlace& place) {
    for (std::size_t e = 0; e < site.elements; ++e) {
      std::byte* const to = row<std::byte>(warp, site.value[e]) + static_cast<std::size_t>(lane) * size;
      if (place.outcome == TexelPlace::Outcome::inside)
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
  if (ElementPlaces places; find_places(warp, site, acting(op, warp), places) &&
                            (!site.formatted || (keeps_words(*places.image) && size == 4))) {
    const std::size_t elements = site.formatted ? places.image->channels : site.elements;
    with_element(size, [&]<class T>(T) {
      for (std::size_t e = 0; e < elements; ++e)
        store_element<T>(places, bytes_of_lane(site), e, e < site.elements ? row<T>(warp, site.value[e]) : nullptr);
    });
    observe_texels(op, warp, places.inside, places.address.of, access_bytes(site, *places.image));
    return op + 1;
  }
  const bool done = for_each_lane(op, warp, [&](int lane, const TexelPlace& place) {
    if (place.outcome != TexelPlace::Outcome::inside) return;
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
  const bool done = for_each_lane(op, warp, [&](int lane, const TexelPlace& place) {
    if (place.outcome != TexelPlace::Outcome::inside) return;
    const bool is_signed = isa::is_signed(site.formatted ? place.image->type : site.type);
    const auto apply = [&]<class T>(T) { reduce(place.bytes, site.reduction, row<T>(warp, site.value[0])[lane]); };
    if (isa::bits(site.type) == 64)
      is_signed ? apply(std::int64_t{}) : apply(std::uint64_t{});
    else
      is_signed ? apply(std::int32_t{}) : apply(std::uint32_t{});
  });
  return done ? op + 1 : nullptr;
}

} // namespace warplens::exec
