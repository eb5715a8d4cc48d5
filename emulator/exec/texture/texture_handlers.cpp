// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/texture/texture_handlers.hpp"

#include "emulator/exec/block/control.hpp"
#include "emulator/exec/block/cta.hpp"
#include "emulator/exec/block/faults.hpp"
#include "emulator/exec/texture/texel.hpp"
#include "emulator/exec/texture/texture_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace warplens::exec {

namespace {

using isa::Type;
using isa::Word;
using Kind = BoundTexture::Kind;

Mask only(int lane) { return Mask{1} << lane; }

// The name of the variable with this address, or the handle.
std::string named(const Launch& launch, std::uint64_t reference) {
  for (const Allocation& a : launch.allocations)
    if (a.begin == reference) return fmt::format("'{}'", a.name);
  return fmt::format("handle {:#x}", reference);
}

Kind kind_of(Type type) {
  return type == Type::texref ? Kind::texture : type == Type::surfref ? Kind::surface : Kind::sampler;
}

std::string_view geometry_name(TextureSite::Geometry geometry) {
  constexpr std::string_view kNames[] = {"1d", "2d", "3d", "a1d", "a2d", "cube", "acube", "2dms", "a2dms"};
  return kNames[static_cast<int>(geometry)];
}

std::string described(const Image& image) {
  if (image.cube) return image.layered ? "a layered cube" : "a cube";
  return fmt::format("{}{}-dimensional{}{}", image.layered ? "a layered " : "", image.dimensions,
                     image.samples > 1 ? ", multi-sample" : "", image.layered ? " texture" : "");
}

bool is_texture_of(const TextureSite& site, const Image& image) {
  return site.is_cube() == image.cube && site.is_array() == image.layered && site.dimensions() == image.dimensions &&
         site.is_multi_sample() == (image.samples > 1);
}

struct Bound {
  const BoundTexture* texture = nullptr;
  const Sampler* sampler = nullptr;
};

// Texture and sampler of a lane; false: refused.
bool look_up(const Op* op, Warp* warp, const TextureSite& site, int lane, Bound& bound) {
  bound.texture = bound_texture(op, warp, lane, row<std::uint64_t>(warp, site.reference)[lane], Type::texref);
  if (bound.texture == nullptr) return false;
  if (!is_texture_of(site, bound.texture->image)) {
    refuse_texture(op, warp, lane, ToolFinding::Kind::forged_handle,
                   fmt::format("'{}' is {}, but the instruction expects .{}", bound.texture->name,
                               described(bound.texture->image), geometry_name(site.geometry)));
    return false;
  }
  bound.sampler = &bound.texture->sampler;
  if (site.sampler == 0) return true;
  const BoundTexture* const found =
      bound_texture(op, warp, lane, row<std::uint64_t>(warp, site.sampler)[lane], Type::samplerref);
  if (found == nullptr) return false;
  bound.sampler = &found->sampler;
  return true;
}

// Of a warp's results the one in register i, as f16 or a pair of them.
void write_halves(Warp* warp, const TextureSite& site, std::size_t i, Mask mask, const SampledRows& rows) {
  for (const int lane : EachLane(mask)) {
    const auto half = [&](std::size_t c) { return half_of(rows.value[c][lane]); }; // whatever the words are
    if (site.type == Type::f16)
      row<std::uint16_t>(warp, site.value[i])[lane] = static_cast<std::uint16_t>(half(i));
    else
      row<std::uint32_t>(warp, site.value[i])[lane] = half(2 * i) | half(2 * i + 1) << 16;
  }
}

// Result rows are written after all have been computed: one of them may hold a coordinate.
void write_results(Warp* warp, const TextureSite& site, Mask mask, const SampledRows& rows) {
  for (std::size_t i = 0; i < site.elements; ++i) {
    if (site.value[i] == 0) continue;
    if (site.type == Type::f16 || site.type == Type::f16x2) {
      write_halves(warp, site, i, mask, rows);
      continue;
    }
    auto* const to = row<std::uint32_t>(warp, site.value[i]);
    const Row<std::uint32_t>& from = rows.value[i];
    if (mask == kFullMask)
      std::memcpy(to, from.of, sizeof from.of);
    else
      for (int lane = 0; lane < kWarpSize; ++lane) to[lane] = (mask >> lane & 1) != 0 ? from[lane] : to[lane];
  }
}

// The lanes that take part in another group's rows, too, must not be touched.
void copy_lanes(const SampledRows& from, Mask mask, SampledRows& to) {
  for (const int lane : EachLane(mask)) {
    for (std::size_t c = 0; c < 4; ++c) to.value[c][lane] = from.value[c][lane];
    to.address[lane] = from.address[lane];
  }
}

// Numbers of the manual and of OpenCL, whose names the attributes have (5.3, "Texture Sampler and Surface Types").
std::uint32_t channel_data_type(const Image& image) {
  constexpr std::uint32_t kSignedNormalized8 = 0x10d0, kUnsignedNormalized8 = 0x10d2, kSigned8 = 0x10d7,
                          kUnsigned8 = 0x10da, kHalf = 0x10dd, kFloat = 0x10de;
  if (image.type == Type::f16) return kHalf;
  if (image.type == Type::f32) return kFloat;
  const bool is_signed = isa::is_signed(image.type);
  const auto wide = static_cast<std::uint32_t>(std::bit_width(static_cast<unsigned>(isa::bits(image.type)) / 8) - 1);
  if (image.normalized) return (is_signed ? kSignedNormalized8 : kUnsignedNormalized8) + wide;
  return (is_signed ? kSigned8 : kUnsigned8) + wide;
}

std::uint32_t channel_order(const Image& image) {
  constexpr std::uint32_t kR = 0x10b0, kRg = 0x10b2, kRgba = 0x10b5;
  return image.channels == 1 ? kR : image.channels == 2 ? kRg : kRgba;
}

// Layers are the next dimension; other values are those of an H200.
std::uint32_t asked_height(const BoundTexture& texture, const ImageLevel& size) {
  const Image& image = texture.image;
  if (image.dimensions > 1) return size.height;
  if (image.layered) return image.layers;
  return image.memory || texture.kind == Kind::surface ? 0 : 1;
}

std::uint32_t asked_depth(const BoundTexture& texture, const ImageLevel& size) {
  const Image& image = texture.image;
  if (image.dimensions == 3) return size.depth;
  if (image.dimensions == 2 && texture.kind == Kind::surface && (image.layered || image.cube)) return image.slices();
  return image.dimensions == 2 && image.layered ? image.layers : 0;
}

std::uint32_t attribute(const BoundTexture& texture, Word word, std::int32_t level) {
  const Image& image = texture.image;
  const Sampler& sampler = texture.sampler;
  const bool inside = level >= 0 && static_cast<std::uint32_t>(level) < image.levels;
  const ImageLevel size = inside ? image.level[static_cast<std::size_t>(level)] : ImageLevel{0, 0, 0, 0, 0, 0};
  switch (word) {
  case Word::w_width: return size.width;
  case Word::w_height: return asked_height(texture, size);
  case Word::w_depth: return asked_depth(texture, size);
  case Word::w_channel_data_type: return channel_data_type(image);
  case Word::w_channel_order: return channel_order(image);
  case Word::w_normalized_coords: return sampler.normalized ? 1 : 0;
  case Word::w_array_size: return image.layered ? image.layers : 0;
  case Word::w_num_mipmap_levels: return image.levels;
  case Word::w_num_samples: return image.samples;
  case Word::w_filter_mode: return sampler.linear ? 1 : 0;
  case Word::w_addr_mode_0: return static_cast<std::uint32_t>(sampler.addressing[0]);
  case Word::w_addr_mode_1: return static_cast<std::uint32_t>(sampler.addressing[1]);
  case Word::w_addr_mode_2: return static_cast<std::uint32_t>(sampler.addressing[2]);
  case Word::w_force_unnormalized_coords: return sampler.unnormalized_forced ? 1 : 0;
  default: return 0; // memory_layout: always pitched here
  }
}

} // namespace

const TextureSite& texture_site(const Op* op, const Warp* warp) { return warp->cta->program.textures[op->extra]; }

Mask same_as(const std::uint64_t* values, int lane, Mask mask) {
  std::uint64_t differing = 0;
  for (int i = 0; i < kWarpSize; ++i) differing |= values[i] ^ values[lane];
  if (differing == 0) return mask;
  Mask same = 0;
  for (int i = 0; i < kWarpSize; ++i) same |= Mask{values[i] == values[lane]} << i;
  return same & mask;
}

bool refuse_texture(const Op* op, Warp* warp, int lane, ToolFinding::Kind finding, std::string why) {
  const TextureSite* const site = handler_of(op, warp) == read_attribute ? nullptr : &texture_site(op, warp);
  Trap trap = trap_at(warp, Trap::Kind::invalid_texture, op->instruction, lane);
  trap.space = isa::Space::texture;
  trap.access = site != nullptr ? site->memory->kind : AccessKind::load;
  trap.lane_bytes = site != nullptr ? site->memory->lane_bytes : 0;
  trap.finding = finding;
  trap.detail = std::move(why);
  if (drops(warp, trap)) return true;
  stop_with(warp, std::move(trap), only(lane));
  return false;
}

const BoundTexture* bound_texture(const Op* op, Warp* warp, int lane, std::uint64_t reference, Type wanted) {
  const Launch& launch = warp->worker->launch;
  const BoundTexture* const found = launch.textures.find(reference);
  if (found != nullptr && found->kind == kind_of(wanted)) return found;
  constexpr std::string_view kNames[] = {"texture", "surface", "sampler"};
  const std::string_view name = kNames[static_cast<int>(kind_of(wanted))];
  const std::string why = found == nullptr ? fmt::format("{} is not bound to a {}", named(launch, reference), name)
                                           : fmt::format("'{}' is a {}, not a {}", found->name,
                                                         kNames[static_cast<int>(found->kind)], name);
  refuse_texture(op, warp, lane, ToolFinding::Kind::forged_handle, why);
  return nullptr;
}

void observe_texels(const Op* op, Warp* warp, Mask mask, const std::uint64_t* addresses, std::uint32_t bytes) {
  if (!warp->worker->watch || mask == 0) return;
  warp->worker->texel_bytes = bytes;
  const std::uint64_t first = addresses[__builtin_ctz(mask)];
  std::int64_t offsets[kWarpSize];
  for (int i = 0; i < kWarpSize; ++i)
    offsets[i] = (mask >> i & 1) != 0 ? static_cast<std::int64_t>(addresses[i] - first) : 0;
  warp->worker->watch->irregular(*warp, *texture_site(op, warp).memory, isa::Space::texture, mask, first, offsets);
}

const Op* sample_texture(const Op* op, Warp* warp) {
  const TextureSite& site = texture_site(op, warp);
  const Mask mask = acting(op, warp);
  SampledRows rows;
  Mask dropped = 0;
  std::uint32_t texel_bytes = ~std::uint32_t{0}; // of the smallest one
  // Lanes with the same texture and sampler together. The first of those that trap is the first one of its group.
  for (Mask rest = mask; rest != 0;) {
    const int first = __builtin_ctz(rest);
    Bound bound;
    if (!look_up(op, warp, site, first, bound)) {
      if (warp->state == WarpState::trapped) return nullptr;
      dropped |= only(first);
      rest &= ~only(first);
      continue;
    }
    Mask same = same_as(row<std::uint64_t>(warp, site.reference), first, rest);
    if (site.sampler != 0) same = same_as(row<std::uint64_t>(warp, site.sampler), first, same);
    texel_bytes = std::min(texel_bytes, bound.texture->image.texel_bytes());
    SampledRows own;
    SampledRows& answer = same == mask ? rows : own;
    const SampleRowsRequest request{&bound.texture->image,          bound.sampler, &site, warp, same,
                                    warp->worker->watch.has_value()};
    const Mask answered = site.sample(request, answer);
    sample_lanes(request, same & ~answered, answer);
    if (&answer == &own) copy_lanes(own, same, rows);
    rest &= ~same;
  }
  for (const int lane : EachLane(dropped))
    for (auto& value : rows.value) value[lane] = 0;
  write_results(warp, site, mask, rows);
  if (site.resident != 0) predicate(warp, site.resident) |= mask; // all memory is resident
  observe_texels(op, warp, mask & ~dropped, rows.address.of, texel_bytes);
  return op + 1;
}

const Op* read_attribute(const Op* op, Warp* warp) {
  const auto word = static_cast<Word>(op->imm);
  const auto wanted = static_cast<Type>(op->extra);
  for (const int lane : EachLane(acting(op, warp))) {
    const std::uint64_t reference = row<std::uint64_t>(warp, op->src[0])[lane];
    const BoundTexture* const texture = bound_texture(op, warp, lane, reference, wanted);
    if (texture == nullptr && warp->state == WarpState::trapped) return nullptr;
    if (texture == nullptr) {
      row<std::uint32_t>(warp, op->dst[0])[lane] = 0;
      continue;
    }
    row<std::uint32_t>(warp, op->dst[0])[lane] = attribute(*texture, word, row<std::int32_t>(warp, op->src[1])[lane]);
  }
  return op + 1;
}

const Op* is_texture_type(const Op* op, Warp* warp) {
  const Kind kind = kind_of(static_cast<Type>(op->imm));
  Mask truth = 0;
  const Mask mask = acting(op, warp);
  for (const int lane : EachLane(mask)) {
    const BoundTexture* const found = warp->worker->launch.textures.find(row<std::uint64_t>(warp, op->src[0])[lane]);
    if (found != nullptr && found->is_variable && found->kind == kind) truth |= only(lane);
  }
  Mask& result = predicate(warp, op->dst[0]);
  result = (result & ~mask) | truth;
  return op + 1;
}

} // namespace warplens::exec
