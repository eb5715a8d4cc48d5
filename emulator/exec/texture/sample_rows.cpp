// SPDX-License-Identifier: Apache-2.0
// Sampling of 32 lanes at once: sampler.cpp in rows. Compiled once per level.
#include "emulator/exec/texture/filter.hpp"
#include "emulator/exec/texture/filter_rows.hpp"
#include "emulator/exec/texture/sampler.hpp"
#include "emulator/exec/texture/texel_rows.hpp"

namespace warplens::exec::WARPLENS_LEVEL {

namespace {

using isa::Type;
using Mode = TextureSite::Mode;

constexpr std::int32_t kOne = kWholeWeight;

/// The nearest texel, or two along each axis; where they lie, from the first texel of the level.
struct Footprint {
  AxisRows axis[3];
  Row<std::uint32_t> offset[3][2]; ///< by axis
};

class RowSampling {
public:
  RowSampling(const SampleRowsRequest& r, SampledRows& answer)
      : r_(r), image_(*r.image), sampler_(*r.sampler), site_(*r.site), answer_(answer), reading_(image_, sampler_) {}

  Mask run() {
    if (!supported()) return 0;
    unpack();
    if (site_.mode == Mode::gather)
      gather();
    else if (!sample())
      return 0;
    if (drops_) drop_outside();
    Mask left = 0;
    for (int i = 0; sums_ && i < kWarpSize; ++i) left |= static_cast<Mask>(special_[i] & 1) << i;
    return r_.mask & ~left;
  }

private:
  // ---- what the lanes share ----------------------------------------------------------------------------------------

  [[nodiscard]] bool supported() {
    if (site_.is_multi_sample() || image_.samples > 1 || !reading_.known) return false;
    if (image_.memory && image_.dimensions == 1 && site_.float_coordinates) return false;
    if (site_.compare != 0 && image_.depths && image_.type != Type::f32) return false;
    // Coordinates that wrap need sizes as devices have them; offsets are kept in 32 bits.
    constexpr std::uint32_t kLargest = 1 << 20, kLargestMemory = 1 << 30;
    const std::uint32_t most = image_.memory ? kLargestMemory : kLargest;
    if (image_.width > most || image_.height > most || image_.depth > most) return false;
    constexpr std::uint64_t kWords = ~std::uint32_t{0};
    const ImageLevel& level = image_.level[0];
    if (level.row_bytes > kWords || level.slice_bytes > kWords || image_.bytes() > kWords) return false;
    normalized_ = site_.is_cube() || (sampler_.normalized && !sampler_.unnormalized_forced && site_.float_coordinates);
    linear_ = sampler_.linear && reading_.floats && site_.float_coordinates;
    wanted_ = wanted_channels();
    // Channels that the image lacks exist only in the border.
    present_ = reading_.has_border ? wanted_ : wanted_ & ((1u << image_.channels) - 1);
    return true;
  }

  [[nodiscard]] unsigned wanted_channels() const {
    unsigned wanted = 0;
    const bool pairs = site_.type == Type::f16x2;
    for (unsigned i = 0; i < site_.elements; ++i)
      if (site_.value[i] != 0) wanted |= pairs ? 3u << 2 * i : 1u << i;
    return wanted;
  }

  [[nodiscard]] Addressing addressing(std::size_t axis) const {
    const Addressing mode = sampler_.addressing[axis];
    return normalized_ || mode == Addressing::border ? mode : Addressing::clamp;
  }

  template <class T> [[nodiscard]] const T* operand(std::uint32_t offset) const { return row<T>(r_.warp, offset); }

  // ---- coordinates -------------------------------------------------------------------------------------------------

  void unpack() {
    std::size_t next = 0;
    drops_ = !site_.float_coordinates && site_.mode != Mode::gather;
    if (drops_) fill(outside_, 0u);
    if (site_.is_array()) {
      const auto* const index = operand<std::uint32_t>(site_.coordinate[next++]);
      const std::uint32_t layers = image_.layers;
      if (drops_ && site_.mode != Mode::level) each_lane([&](int i) { outside_[i] = index[i] >= layers ? ~0u : 0; });
      each_lane([&](int i) { slice_[i] = index[i] < layers ? index[i] : layers - 1; });
    }
    if (site_.is_cube()) {
      Row<std::uint32_t> face;
      const auto* const c = &site_.coordinate[next];
      project(operand<float>(c[0]), operand<float>(c[1]), operand<float>(c[2]), place_[0], place_[1], face);
      if (!site_.is_array())
        copy(face, slice_);
      else
        each_lane([&](int i) { slice_[i] = slice_[i] * 6 + face[i]; });
      return;
    }
    for (std::size_t axis = 0; axis < dimensions(); ++axis, ++next) {
      if (site_.float_coordinates) {
        const auto* const from = operand<float>(site_.coordinate[next]);
        each_lane([&](int i) { place_[axis][i] = static_cast<double>(from[i]); });
      } else {
        const auto* const from = operand<std::int32_t>(site_.coordinate[next]);
        each_lane([&](int i) { place_[axis][i] = from[i]; });
      }
    }
  }

  [[nodiscard]] std::size_t dimensions() const { return static_cast<std::size_t>(site_.dimensions()); }
  [[nodiscard]] bool has_slices() const { return site_.is_array() || site_.is_cube(); }

  static std::int32_t extent(const ImageLevel& level, std::size_t axis) {
    return static_cast<std::int32_t>(axis == 0 ? level.width : axis == 1 ? level.height : level.depth);
  }

  void along(std::size_t axis, const ImageLevel& level, bool linear, AxisRows& a) {
    const std::int32_t size = extent(level, axis);
    Places places;
    if (!site_.float_coordinates) {
      copy(place_[axis], places.first);
      fill(a.weight, 0);
    } else {
      if (normalized_)
        find_places<true>(place_[axis], size, linear, places);
      else
        find_places<false>(place_[axis], size, linear, places);
      if (linear)
        copy(places.weight, a.weight);
      else
        fill(a.weight, 0);
    }
    if (site_.offset[axis] != 0) {
      const auto* const offset = operand<std::int32_t>(site_.offset[axis]);
      each_lane([&](int i) { places.first[i] += ((offset[i] + 8) & 15) - 8; });
    }
    if (!site_.float_coordinates && site_.mode != Mode::level)
      each_lane([&](int i) { outside_[i] |= places.first[i] < 0 || places.first[i] >= size ? ~0u : 0; });
    address_texels(places.first, size, addressing(axis), a);
    if (linear && addressing(axis) == Addressing::clamp)
      each_lane([&](int i) { a.weight[i] = a.texel[0][i] == a.texel[1][i] ? 0 : a.weight[i]; });
  }

  // A texture of one dimension has one row, and lies between it and the border.
  [[nodiscard]] bool lies_between(bool linear) const {
    return linear && site_.geometry == TextureSite::Geometry::d1 && addressing(1) == Addressing::border;
  }

  void find(const ImageLevel& level, bool linear, Footprint& f) {
    const std::uint32_t step[] = {image_.texel_bytes(), static_cast<std::uint32_t>(level.row_bytes),
                                  static_cast<std::uint32_t>(level.slice_bytes)};
    for (std::size_t axis = 0; axis < dimensions(); ++axis) {
      AxisRows& a = f.axis[axis];
      along(axis, level, linear, a);
      for (int t = 0; t < (linear ? 2 : 1); ++t)
        each_lane([&](int i) { f.offset[axis][t][i] = static_cast<std::uint32_t>(a.texel[t][i]) * step[axis]; });
    }
    if (lies_between(linear)) {
      f.axis[1].border = true;
      fill(f.axis[1].beyond[0], ~0u);
      fill(f.axis[1].beyond[1], 0u);
      fill(f.axis[1].weight, kOne / 2);
      for (Row<std::uint32_t>& offset : f.offset[1]) fill(offset, 0u);
    }
    // The first texel of an axis has the slice of an array and the level.
    const auto start = static_cast<std::uint32_t>(level.offset);
    for (int t = 0; t < (linear ? 2 : 1); ++t) {
      Row<std::uint32_t>& offset = f.offset[0][t];
      if (has_slices())
        each_lane([&](int i) { offset[i] += start + slice_[i] * step[2]; });
      else if (start != 0)
        each_lane([&](int i) { offset[i] += start; });
    }
  }

  // ---- texels ------------------------------------------------------------------------------------------------------

  /// A texel of the footprint: its channels, `wanted` of them, as they are read.
  void read(const Footprint& f, std::size_t axes, unsigned which, unsigned wanted, TexelWords& channels) const {
    TexelWords words;
    read_words(f, axes, which, wanted, words);
    for (unsigned c = 0; c < 4; ++c)
      if ((wanted >> c & 1) != 0) take_channel(f, axes, which, words, c, false, channels[c]);
  }

  void read_words(const Footprint& f, std::size_t axes, unsigned which, unsigned wanted, TexelWords& words) const {
    Row<std::uint32_t> offset;
    copy(f.offset[0][which & 1], offset);
    for (std::size_t axis = 1; axis < axes; ++axis) {
      const Row<std::uint32_t>& more = f.offset[axis][which >> axis & 1];
      each_lane([&](int i) { offset[i] += more[i]; });
    }
    const auto size = static_cast<unsigned>(isa::bytes(image_.type));
    WARPLENS_LEVEL::read_words(reinterpret_cast<const std::byte*>(image_.address), offset, size, image_.channels,
                               wanted, words);
  }

  /// A channel of it, from its words, as it is read or as filters take it.
  void take_channel(const Footprint& f, std::size_t axes, unsigned which, const TexelWords& words, unsigned c,
                    bool filtered, Row<std::uint32_t>& channel) const {
    if (c < image_.channels)
      read_one(words, c, filtered, channel);
    else
      fill(channel, 0u);
    const std::uint32_t color = filtered && adds_fractions(c) ? reading_.wide_border[c] : reading_.border[c];
    for (std::size_t axis = 0; axis < axes; ++axis) {
      if (!f.axis[axis].border) continue;
      const Row<std::uint32_t>& beyond = f.axis[axis].beyond[which >> axis & 1];
      each_lane([&](int i) { channel[i] = beyond[i] != 0 ? color : channel[i]; });
    }
  }

  void read_one(const TexelWords& words, unsigned c, bool filtered, Row<std::uint32_t>& channel) const {
    extract(words, image_.type, c, channel);
    if (filtered && adds_fractions(c)) return widen_fraction(image_.type, channel);
    read_channel(meaning(c), image_.type, reading_.colors, channel);
    if (c != 0 || site_.compare == 0 || !image_.depths) return;
    const auto* const depth = operand<float>(site_.compare);
    each_lane([&](int i) {
      channel[i] = depth[i] <= std::bit_cast<float>(channel[i]) ? std::bit_cast<std::uint32_t>(1.0f) : 0;
    });
  }

  [[nodiscard]] Meaning meaning(unsigned c) const {
    if (image_.type == Type::f16) return Meaning::half;
    if (image_.type == Type::f32 || !reading_.floats) return Meaning::plain;
    return sampler_.srgb && image_.type == Type::u8 && c < 3 ? Meaning::color : Meaning::fraction;
  }
  [[nodiscard]] bool adds_fractions(unsigned c) const { return meaning(c) == Meaning::fraction; }

  // ---- levels ------------------------------------------------------------------------------------------------------

  // The level that each lane reads, and the weight of the next one; returns a bit for each level.
  std::uint32_t choose_levels() {
    if (site_.mode == Mode::plain || site_.mode == Mode::base) {
      const LevelChoice same = level_at(image_, sampler_, 0);
      fill(level_, static_cast<std::int32_t>(same.first));
      fill(next_, same.weight);
      blended_ = same.weight != 0;
      return (blended_ ? 3u : 1u) << same.first;
    }
    if (drops_) {
      const auto* const level = operand<std::int32_t>(site_.level);
      const auto count = static_cast<std::int32_t>(image_.levels);
      each_lane([&](int i) { outside_[i] |= level[i] < 0 || level[i] >= count ? ~0u : 0; });
    }
    std::uint32_t levels = 0;
    int before = -1;
    LevelChoice own;
    for (const int i : EachLane(r_.mask)) {
      if (before < 0 || !same_level(before, i)) own = level_of(i);
      before = i;
      level_[i] = static_cast<std::int32_t>(own.first);
      next_[i] = own.weight;
      blended_ = blended_ || own.weight != 0;
      levels |= (own.weight != 0 ? 3u : 1u) << own.first;
    }
    return levels;
  }

  [[nodiscard]] bool same_level(int lane, int other) const {
    if (site_.mode != Mode::level) return false;
    const auto* const level = operand<std::uint32_t>(site_.level);
    return level[lane] == level[other];
  }

  LevelChoice level_of(int lane) {
    if (site_.mode == Mode::level && site_.float_coordinates)
      return level_at(image_, sampler_, fixed_level(operand<float>(site_.level)[lane]));
    if (site_.mode == Mode::level) {
      const std::int32_t level = operand<std::int32_t>(site_.level)[lane],
                         last = static_cast<std::int32_t>(image_.levels) - 1;
      return {static_cast<std::uint32_t>(level < 0 ? 0 : level > last ? last : level), 0};
    }
    Gradients gradients{};
    for (std::size_t g = 0; g < 2; ++g)
      for (std::size_t axis = 0; axis < 3; ++axis)
        if (site_.gradient[g][axis] != 0) gradients[g][axis] = operand<float>(site_.gradient[g][axis])[lane];
    return level_at(image_, sampler_, level_of_gradients(image_, site_, normalized_, gradients));
  }

  bool sample() {
    std::uint32_t levels = choose_levels();
    if (blended_ && !site_.float_coordinates) return false;
    sums_ = linear_ || blended_;
    const bool one_level = (levels & (levels - 1)) == 0;
    if (sums_) clear_sums();
    for (; levels != 0; levels &= levels - 1) {
      const auto number = static_cast<std::int32_t>(__builtin_ctz(levels));
      const ImageLevel& level = image_.level[static_cast<std::size_t>(number)];
      if (sums_) add_level(level, number, one_level);
      if (!linear_ || r_.addresses) read_nearest(level, number, one_level);
    }
    // If all reads are of one level and unfiltered, the result is already complete.
    for (unsigned c = 0; c < 4; ++c) {
      if ((wanted_ >> c & 1) == 0) continue;
      if ((present_ >> c & 1) == 0) {
        fill(answer_.value[c], 0u);
      } else if (sums_) {
        Row<std::uint32_t> rounded;
        round_sum(c, rounded);
        Row<std::uint32_t>& value = answer_.value[c];
        if (linear_)
          copy(rounded, value);
        else
          each_lane([&](int i) { value[i] = next_[i] != 0 ? rounded[i] : value[i]; });
      }
    }
    return true;
  }

  // Of the lanes whose first level this is: the nearest texel, its address, or both.
  void read_nearest(const ImageLevel& level, std::int32_t number, bool one_level) {
    Footprint f;
    find(level, false, f);
    if (r_.addresses) {
      each_lane([&](int i) {
        std::uint64_t address = image_.address + f.offset[0][0][i];
        if (one_level || level_[i] == number) answer_.address[i] = address;
      });
      for (std::size_t axis = 1; axis < dimensions(); ++axis)
        each_lane([&](int i) {
          if (one_level || level_[i] == number) answer_.address[i] += f.offset[axis][0][i];
        });
    }
    if (linear_) return;
    if (one_level) return read(f, dimensions(), 0, present_, answer_.value);
    TexelWords texel;
    read(f, dimensions(), 0, present_, texel);
    for (unsigned c = 0; c < 4; ++c)
      if ((present_ >> c & 1) != 0)
        each_lane([&](int i) { answer_.value[c][i] = level_[i] == number ? texel[c][i] : answer_.value[c][i]; });
  }

  void clear_sums() {
    fill(special_, 0u);
    for (unsigned c = 0; c < 4; ++c) {
      if ((present_ >> c & 1) == 0) continue;
      if (adds_fractions(c))
        fill(fractions_[c], 0);
      else
        fill(sum_[c], 0.0);
    }
  }

  // Adds the texels of a level with their share of the weight.
  void add_level(const ImageLevel& level, std::int32_t number, bool one_level) {
    Footprint f;
    find(level, linear_, f);
    Row<std::int32_t> total;
    if (one_level)
      fill(total, kOne);
    else
      each_lane([&](int i) {
        total[i] = level_[i] == number ? kOne - next_[i] : level_[i] + 1 == number ? next_[i] : 0;
      });
    if (!linear_) return add_slice<1>(f, 1, 0, &total);
    const std::size_t axes = lies_between(true) ? 2 : dimensions();
    if (axes == 1) {
      Row<std::int32_t> weights[2];
      split(f.axis[0].weight, total, weights[0], weights[1]);
      return add_slice<2>(f, 1, 0, weights);
    }
    SliceWeights weights;
    if (axes == 2) {
      slice_weights(f.axis[0].weight, f.axis[1].weight, total, weights);
      return add_slice<4>(f, 2, 0, weights);
    }
    Row<std::int32_t> share[2];
    split(f.axis[2].weight, total, share[0], share[1]);
    for (unsigned z = 0; z < 2; ++z) {
      slice_weights(f.axis[0].weight, f.axis[1].weight, share[z], weights);
      add_slice<4>(f, 3, 4 * z, weights);
    }
  }

  template <int corners>
  void add_slice(const Footprint& f, std::size_t axes, unsigned first, const Row<std::int32_t>* weights) {
    // Gathers all words before the first is used: vector loads would stall on the narrow stores.
    TexelWords words[corners];
    const std::size_t all = linear_ ? axes : dimensions(); // unfiltered, all axes count for the address
    for (unsigned k = 0; k < corners; ++k) read_words(f, all, first + k, present_, words[k]);
    for (unsigned c = 0; c < 4; ++c) {
      if ((present_ >> c & 1) == 0) continue;
      Row<std::uint32_t> x[corners];
      for (unsigned k = 0; k < corners; ++k) take_channel(f, all, first + k, words[k], c, true, x[k]);
      if (adds_fractions(c))
        add_fractions<corners>(x, weights, fractions_[c]);
      else if (image_.type == Type::f32)
        add_floats<24, corners>(x, weights, sum_[c], special_);
      else
        add_floats<11, corners>(x, weights, sum_[c], special_);
    }
  }

  void round_sum(unsigned c, Row<std::uint32_t>& to) const {
    if (adds_fractions(c))
      round_fractions(fractions_[c], isa::is_signed(image_.type), to);
    else if (image_.type == Type::f32)
      round_floats<24, -149>(sum_[c], to);
    else
      round_floats<11, -24>(sum_[c], to);
  }

  // ---- tld4 --------------------------------------------------------------------------------------------------------

  void gather() {
    Footprint f;
    find(image_.level[0], true, f);
    constexpr unsigned kCorners[] = {2, 3, 1, 0};
    for (unsigned k = 0; k < 4; ++k) {
      TexelWords texel;
      read(f, 2, kCorners[k], 1u << site_.channel, texel);
      copy(texel[site_.channel], answer_.value[k]);
    }
    if (!r_.addresses) return;
    each_lane([&](int i) { answer_.address[i] = image_.address + f.offset[0][0][i] + f.offset[1][0][i]; });
  }

  // Integers outside the texture read 0.
  void drop_outside() {
    for (unsigned c = 0; c < 4; ++c)
      if ((wanted_ >> c & 1) != 0) each_lane([&](int i) { answer_.value[c][i] &= ~outside_[i]; });
  }

  const SampleRowsRequest& r_;
  const Image& image_;
  const Sampler& sampler_;
  const TextureSite& site_;
  SampledRows& answer_;
  TexelReading reading_;
  bool normalized_ = false, linear_ = false;
  bool drops_ = false;   ///< outside_ counts
  bool blended_ = false; ///< some lane reads two levels
  bool sums_ = false;    ///< sum_, fractions_ and special_ count
  unsigned wanted_ = 0;  ///< channels, a bit for each
  unsigned present_ = 0; ///< those that are not 0 everywhere
  Row<double> place_[3];
  Row<std::uint32_t> slice_, outside_, special_;
  Row<std::int32_t> level_, next_;
  Row<double> sum_[4];
  Row<std::int32_t> fractions_[4];
};

} // namespace

Mask sample_rows(const SampleRowsRequest& request, SampledRows& answer) { return RowSampling(request, answer).run(); }

} // namespace warplens::exec::WARPLENS_LEVEL
