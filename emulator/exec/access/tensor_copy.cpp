// SPDX-License-Identifier: Apache-2.0
// What the manual leaves open is as on an H200 (tests/data/hardware/tensor_copies.jsonl): which copies are illegal
// instructions, what lies beyond the tensor, how stores end, what the mbarrier is told.
#include "emulator/exec/access/tensor_copy.hpp"

#include "emulator/exec/access/async_copy.hpp"
#include "emulator/exec/access/atomics.hpp"
#include "emulator/exec/access/copied_bytes.hpp"
#include "emulator/exec/access/mbarrier.hpp"
#include "emulator/exec/access/tensor_rows.hpp"
#include "emulator/exec/block/cluster.hpp"
#include "emulator/exec/block/control.hpp"
#include "emulator/exec/state/tensor_box.hpp"
#include "emulator/exec/state/tensor_pixels.hpp"

#include <fmt/format.h>

#include <cstring>

namespace warplens::exec {

namespace {

using Action = TensorSite::Action;
using Operation = TensorSite::Operation;
using Element = TensorMap::Type;
using WARPLENS_LEVEL::lane_address, WARPLENS_LEVEL::reach_known;

constexpr std::int64_t kUnit = 16;
constexpr int kAtomOfHalves = 2; ///< the halves of units change places: TensorMap::atom
constexpr unsigned kMapAlignment = 64, kSharedAlignment = 128;
constexpr std::size_t kMostRow = std::size_t{256} * 32; ///< bytes of a row: of an interleave of 32 bytes

isa::Spelling reduction(Operation operation, Element type) {
  using isa::Word;
  constexpr Word kOperations[] = {Word::none,  Word::w_add,  Word::w_min, Word::w_max, Word::w_inc,
                                  Word::w_dec, Word::w_and_, Word::w_or_, Word::w_xor_};
  using T = isa::Type;
  constexpr T kTypes[] = {T::none, T::none, T::u32,  T::s32, T::u64, T::s64, T::f16,
                          T::f32,  T::f64,  T::bf16, T::f32, T::f32, T::f32};
  isa::Spelling s;
  s.form.add(kOperations[static_cast<int>(operation)]);
  s.form.add(isa::word_of(kTypes[static_cast<int>(type)]));
  return s;
}

// The reductions that an H200 has.
bool has_reduction(Operation operation, Element type) {
  const auto any = [&](std::initializer_list<Element> types) {
    return std::find(types.begin(), types.end(), type) != types.end();
  };
  switch (operation) {
  case Operation::add:
    return !any({Element::u8, Element::u16, Element::s64, Element::b4x16, Element::b4x16_p64, Element::b6x16_p32});
  case Operation::min:
  case Operation::max:
    return any({Element::u32, Element::s32, Element::u64, Element::s64, Element::f16, Element::bf16});
  case Operation::inc:
  case Operation::dec: return any({Element::u32});
  default: return any({Element::u32, Element::s32, Element::u64});
  }
}

// Singles become tf32: to the nearest, to the even one of two.
void round_to_tf32(std::byte* at, std::int64_t bytes) {
  for (std::int64_t i = 0; i < bytes; i += 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, at + i, sizeof word);
    word = (word & 0x7fffffff) > 0x7f800000 ? 0x7fffe000 : (word + 0xfff + (word >> 13 & 1)) & ~0x1fffu;
    std::memcpy(at + i, &word, sizeof word);
  }
}

// Of sixteen bytes the lower 6 bits each, without gaps.
void pack_six_bits(std::byte* to, const std::byte* from) {
  unsigned __int128 packed = 0;
  for (int i = 0; i < 16; ++i) packed |= static_cast<unsigned __int128>(from[i] & std::byte{0x3f}) << (6 * i);
  std::memcpy(to, &packed, 12);
}

// A copy by one lane.
class TensorCopy {
public:
  TensorCopy(const Op* op, Warp* warp, int lane)
      : op_(op), warp_(warp), lane_(lane), site_(warp->cta->program.tensors[op->extra]) {
    for (std::size_t d = 0; d < coordinates(); ++d) start_[d] = row<std::int32_t>(warp, site_.coordinate[d])[lane];
    info_ = info_of(site_, warp, lane);
  }

  static TensorPixels::Info info_of(const TensorSite& site, Warp* warp, int lane) {
    TensorPixels::Info info{};
    const bool reads = site.action == Action::load || site.action == Action::prefetch;
    const std::size_t count = site.wide == TensorSite::Wide::no ? site.dimensions - 2u : 2;
    for (std::size_t d = 0; site.pixels && reads && d < count; ++d)
      info[d] = row<std::uint16_t>(warp, site.offset[d])[lane];
    return info;
  }

  bool run() {
    if (!read_map() || !is_legal()) return false;
    if (site_.action == Action::prefetch) return true;
    Reached to;
    if (!reach_op(op_ + 2, static_cast<std::uint64_t>(box().rows * box().pitch), kSharedAlignment, to)) return false;
    if (to.bytes == nullptr) return true; // dropped
    const Cta* const owner = warp_->cta->cluster->owner(to.bytes);
    if (owner == nullptr) return stop(Trap::Kind::invalid_copy, "its place must be in shared memory");
    find_tensor();
    counts_ = static_cast<bool>(warp_->worker->shard);
    const bool done = site_.multicast ? to_each_cta(*owner, to) : copy(*owner, to) && complete(*owner);
    if (done && warp_->worker->shard) count_copy();
    return done;
  }

private:
  [[nodiscard]] const TensorMap& map() const { return decoded_->map; }
  [[nodiscard]] const TensorBox& box() const { return box_; }
  [[nodiscard]] bool loads() const { return site_.action == Action::load; }
  [[nodiscard]] std::size_t coordinates() const { return site_.four_rows ? start_.size() : site_.dimensions; }
  bool stop(Trap::Kind kind, std::string why) {
    stop_with(op_, warp_, kind, Mask{1} << lane_, std::move(why));
    return false;
  }
  bool reach_op(const Op* op, std::uint64_t bytes, unsigned alignment, Reached& at) {
    return reach_known(op, warp_, lane_, lane_address(op, warp_, lane_), bytes, alignment, at);
  }
  bool illegal(std::string why) { return stop(Trap::Kind::invalid_tensor_copy, std::move(why)); }

  bool read_map() {
    Reached at;
    if (!reach_op(op_, TensorMap::kBytes, kMapAlignment, at)) return false;
    TensorMap::Words words{};
    if (at.bytes != nullptr) std::memcpy(words.data(), at.bytes, sizeof words);
    decoded_ = &warp_->worker->maps.find(words);
    if (!decoded_->made) return illegal("there is no tensor map at its address");
    const TensorMap& map = decoded_->map;
    if (map.rank != site_.dimensions)
      return illegal(
          fmt::format("the tensor map has {} dimensions, but the instruction {}", map.rank, site_.dimensions));
    if (map.pixels != site_.pixels)
      return illegal(map.pixels ? "the tensor map is one of im2col" : "the tensor map is not one of im2col");
    if (site_.four_rows && (map.box[1] != 1 || map.interleave != 0))
      return illegal(
          fmt::format("four rows need a tensor map with a box of one row and without interleave, but its box "
                      "has {} rows and its interleave is {} bytes",
                      map.box[1], 16 * map.interleave));
    box_ = decoded_->boxes[site_.four_rows ? 1 : 0];
    if (site_.pixels) box_.rows = TensorPixels::count(map, site_, info_);
    return true;
  }

  // Restrictions on elements of 4 and 6 bits (9.7.9.27.1.1, and the swizzles of cuda.h).
  bool has_narrow_copy() {
    constexpr int kAtom64 = 3, kNoLoads = 12;
    if (loads() && warp_->cta->program.module->sm / 10 == kNoLoads)
      return illegal("there are no loads of elements of 4 and 6 bits on this device");
    if (!map().is_padded()) return true;
    if (map().box[0] != TensorMap::kPaddedBox || map().interleave != 0)
      return illegal("elements with padding need boxes with rows of 128 elements, without interleave");
    if (start_[0] % std::int64_t{TensorMap::kPaddedBox} != 0)
      return illegal(fmt::format("its innermost coordinate, {}, is not a multiple of 128", start_[0]));
    if (site_.action == Action::store && map().type == Element::b4x16_p64)
      return illegal("there are no stores of elements of 4 bits with padding");
    if (loads() && map().atom == kAtom64) return illegal("only stores have this swizzle of elements with padding");
    return true;
  }

  // A driver makes no such maps, but tensormap.replace does.
  bool row_fits() {
    if (map().interleave != 0) return true;
    if (box().row % kUnit != 0)
      return illegal(fmt::format("a row of its box has {} bytes: expected a multiple of 16", box().row));
    if (box().span != 0 && box().row > box().span)
      return illegal(
          fmt::format("a row of its box has {} bytes, more than the {} bytes of the swizzle", box().row, box().span));
    return true;
  }

  bool is_legal() {
    if (map().has_narrow_elements() && !has_narrow_copy()) return false;
    if (!map().is_padded() && !row_fits()) return false;
    if (map().interleave == 0 && start_[0] * box().bits % (8 * kUnit) != 0)
      return illegal(fmt::format("its innermost coordinate, {}, is not at a multiple of 16 bytes", start_[0]));
    const bool writes = site_.action == Action::store || site_.action == Action::reduce;
    for (std::size_t d = 0; writes && d < coordinates(); ++d)
      if (start_[d] < 0) return illegal(fmt::format("it writes from a negative coordinate, {}, on", start_[d]));
    if (map().pixels)
      if (std::string why = TensorPixels::why_illegal(map(), site_, start_, info_); !why.empty())
        return illegal(std::move(why));
    if (site_.action != Action::reduce || has_reduction(site_.operation, map().type)) return true;
    return illegal("there is no such reduction of the type of the tensor");
  }

  // Whether the whole tensor is in one allocation, so that its rows need not be looked up.
  void find_tensor() {
    if (site_.action == Action::reduce) reducer_ = reducer(reduction(site_.operation, map().type));
    const Worker::Region& known = warp_->worker->regions[op_[1].site->index];
    const std::uint64_t end = map().address + decoded_->bytes;
    whole_ = end >= map().address && !warp_->worker->launch.tools.memcheck &&
             ((map().address >= known.begin && end <= known.end) ||
              warp_->worker->find_region(op_[1].site->index, map().address, end));
  }

  bool to_each_cta(const Cta& owner, const Reached& to) {
    const std::vector<Cta*>& ctas = warp_->cta->cluster->ctas;
    const unsigned mask = row<std::uint16_t>(warp_, site_.mask)[lane_];
    if (mask >> ctas.size() != 0)
      return stop(Trap::Kind::invalid_copy,
                  fmt::format("its mask {:#06x} names blocks outside the cluster of {} blocks", mask, ctas.size()));
    for (std::size_t rank = 0; rank < ctas.size(); ++rank) {
      if ((mask >> rank & 1) == 0) continue;
      Reached there = to;
      there.bytes = ctas[rank]->shared + (to.bytes - owner.shared);
      there.offset = place_in_block(warp_, *ctas[rank], static_cast<std::uint64_t>(to.bytes - owner.shared));
      if (!copy(*ctas[rank], there) || !complete(*ctas[rank])) return false;
    }
    return true;
  }

  void count_copy() const {
    BulkCopy event{op_->instruction, loads()                          ? AccessKind::load
                                     : site_.action == Action::reduce ? AccessKind::reduction
                                                                      : AccessKind::store};
    if (site_.multicast)
      event.blocks = static_cast<std::uint32_t>(__builtin_popcount(row<std::uint16_t>(warp_, site_.mask)[lane_]));
    event.bytes = counted_bytes_;
    event.sectors = counted_sectors_;
    event.received = loads() ? received_ : 0;
    if (loads())
      event.shared_written = std::uint64_t{box().bytes()} * event.blocks;
    else
      event.shared_read = counted_bytes_;
    warp_->worker->shard->bulk_copy(event);
  }

  // A row in global memory, and its place from the begin of the box in shared memory. A multicast reads it once.
  void observe_row(const Reached& at, std::uint64_t bytes, std::int64_t offset) {
    observe_run(op_ + 1, warp_, at, bytes, counts_ || !warp_->worker->shard);
    if (!counts_) return;
    counted_bytes_ += bytes;
    counted_sectors_ += copied_sectors(at.offset, static_cast<std::uint64_t>(in_shared_ + offset), bytes);
  }

  // What lies beyond the tensor arrives as if it were read, too.
  void count_received(std::uint64_t address, std::int64_t offset) {
    if (counts_)
      received_ += copied_sectors(address, static_cast<std::uint64_t>(in_shared_ + offset),
                                  static_cast<std::uint64_t>(box().row));
  }

  bool complete(const Cta& cta) {
    counts_ = false; // the next destination of a multicast
    if (!loads()) return true;
    return complete_bytes(op_ + 3, warp_, lane_, site_.in_pair ? &partner(cta) : &cta, site_.multicast, box().bytes());
  }

  // Of the pair with a destination: the block whose rank is odd or even as that of the mbarrier's block (9.7.9.27.1).
  [[nodiscard]] const Cta& partner(const Cta& cta) const {
    const Cluster& cluster = *warp_->cta->cluster;
    const std::byte* const object = exec::reach(warp_, *op_[3].site, address_in(op_ + 3, warp_, lane_), 8, lane_);
    const Cta* const owner = object == nullptr ? nullptr : cluster.owner(object);
    const std::uint32_t rank = owner == nullptr ? cta.rank : (cta.rank & ~1u) | (owner->rank & 1u);
    return rank < cluster.ctas.size() ? *cluster.ctas[rank] : cta;
  }

  bool copy(const Cta& cta, const Reached& to) {
    shared_ = cta.shared;
    in_shared_ = to.bytes - cta.shared;
    if (warp_->worker->watch) observe_run(op_ + 2, warp_, to, static_cast<std::uint64_t>(box().rows * box().pitch));
    find_extent();
    return map().pixels ? copy_pixels() : site_.four_rows ? copy_four_rows() : copy_box();
  }

  // Which bytes of a row are in the tensor if the row is: the same of all rows.
  void find_extent() {
    const std::int64_t begin = box().bytes_of(start_[0]), bytes = box().row;
    auto end = box().bytes_of(static_cast<std::int64_t>(map().sizes[0]));
    if (!loads()) end = (end + kUnit - 1) / kUnit * kUnit; // whole units are written
    first_ = std::clamp<std::int64_t>(-begin, 0, bytes);
    last_ = std::clamp<std::int64_t>(end - begin, first_, bytes);
    const bool changes = map().is_padded() || map().atom == kAtomOfHalves || reducer_ != nullptr ||
                         (loads() && (map().type == Element::tf32 || map().type == Element::tf32_ftz));
    moves_ =
        !changes && first_ == 0 && last_ == bytes && (box().span == 0 || (bytes <= box().span && bytes % kUnit == 0));
  }

  // A row from `at` on.
  struct Row {
    std::uint64_t address;
    bool others_inside; ///< in the dimensions after the second
  };

  // The rows of a box follow each other; those of its first two dimensions are at a constant distance in memory.
  bool copy_box() {
    std::array<std::int64_t, 5> i{};
    const std::int64_t count = box().counts[1];
    for (std::int64_t row = 0; row < box().rows; row += count) {
      std::array<std::int64_t, 5> at = start_;
      for (std::size_t d = 2; d < site_.dimensions; ++d) at[d] += i[d] * map().steps[d];
      if (!copy_line(find(at), row * box().pitch)) return false;
      for (std::size_t d = 2; d < i.size() && ++i[d] == box().counts[d]; ++d) i[d] = 0;
    }
    return true;
  }

  // The rows of the second dimension, from the first on. Those from `begin` to `end` are in the tensor.
  bool copy_line(Row first, std::int64_t offset) {
    const std::int64_t count = box().counts[1], step = map().steps[1], pitch = box().pitch;
    const std::uint64_t stride = map().strides[0] * map().steps[1];
    std::int64_t begin = 0, end = first.others_inside ? count : 0;
    if (site_.dimensions > 1) {
      const auto rows_before = [&](std::int64_t place) {
        return std::clamp<std::int64_t>((place - start_[1] + step - 1) / step, 0, end);
      };
      begin = rows_before(0);
      end = rows_before(static_cast<std::int64_t>(map().sizes[1]));
    }
    const auto copy_some = [&](std::int64_t from, std::int64_t to, bool inside) {
      for (std::int64_t j = from; j < to; ++j)
        if (!copy_row(first.address + static_cast<std::uint64_t>(j) * stride, inside, offset + j * pitch)) return false;
      return true;
    };
    if (!moves_ || !whole_ || begin == end)
      return copy_some(0, begin, false) && copy_some(begin, end, true) && copy_some(end, count, false);
    const std::uint64_t address = first.address + static_cast<std::uint64_t>(begin) * stride;
    for (std::int64_t j = 0; j < end - begin && warp_->worker->watch; ++j) {
      const std::uint64_t there = address + static_cast<std::uint64_t>(j) * stride;
      count_received(there, offset + (begin + j) * box().pitch);
      observe_row({reinterpret_cast<std::byte*>(there), isa::Space::global, there},
                  static_cast<std::uint64_t>(box().row), offset + (begin + j) * box().pitch);
    }
    move_rows(reinterpret_cast<std::byte*>(address), stride, offset + begin * pitch, end - begin);
    return copy_some(0, begin, false) && copy_some(end, count, false);
  }

  bool copy_four_rows() {
    std::array<std::int64_t, 5> at{start_[0]};
    for (std::int64_t row = 0; row < box().rows; ++row) {
      at[1] = start_[1 + static_cast<std::size_t>(row)];
      const Row there = find(at);
      if (!copy_row(there.address, is_inside(at, 1), row * box().pitch)) return false;
    }
    return true;
  }

  // Channels of pixels.
  bool copy_pixels() {
    for (TensorPixels pixels(map(), site_, start_, info_); pixels.more(); pixels.next()) {
      const std::array<std::int64_t, 5> from = pixels.place();
      const Row there = find(from);
      const bool inside = there.others_inside && is_inside(from, 1);
      for (const std::int64_t row : pixels.rows())
        if (row >= 0 && !copy_row(there.address, inside, row * box().pitch)) return false;
    }
    return true;
  }

  [[nodiscard]] bool is_inside(const std::array<std::int64_t, 5>& at, std::size_t d) const {
    return d >= site_.dimensions || (at[d] >= 0 && at[d] < static_cast<std::int64_t>(map().sizes[d]));
  }
  [[nodiscard]] Row find(const std::array<std::int64_t, 5>& at) const {
    Row r{map().address + static_cast<std::uint64_t>(box().bytes_of(at[0])), true};
    for (std::size_t d = 1; d < site_.dimensions; ++d) {
      r.address += static_cast<std::uint64_t>(at[d]) * map().strides[d - 1];
      r.others_inside = r.others_inside && (d == 1 || is_inside(at, d));
    }
    return r;
  }

  // Between the row's place in shared memory and the tensor.
  bool copy_row(std::uint64_t address, bool inside, std::int64_t offset) {
    count_received(address, offset);
    const std::int64_t last = inside ? last_ : first_;
    std::byte* memory = nullptr;
    if (last > first_ &&
        !find_row(address + static_cast<std::uint64_t>(first_), last - first_, offset + first_, memory))
      return false;
    if (moves_ && memory != nullptr)
      move_rows(memory, 0, offset, 1);
    else if (loads())
      load_row(memory, offset, first_, last);
    else if (memory != nullptr)
      store_row(memory, offset, first_, last);
    return true;
  }

  bool find_row(std::uint64_t address, std::int64_t bytes, std::int64_t offset, std::byte*& memory) {
    Reached at{reinterpret_cast<std::byte*>(address), isa::Space::global, address};
    if (!whole_ && !reach(op_ + 1, warp_, lane_, address, static_cast<std::uint64_t>(bytes), 1, at)) return false;
    memory = at.bytes;
    if (memory != nullptr && warp_->worker->watch) observe_row(at, static_cast<std::uint64_t>(bytes), offset);
    return true;
  }

  // The swizzle permutes units of 16 bytes by bits of their address in shared memory.
  [[nodiscard]] std::byte* unit(std::int64_t offset) const { return shared_ + map().swizzled(in_shared_ + offset); }

  /// Between a row and a unit, which is at `offset`.
  void copy_unit(std::byte* to, const std::byte* from, std::int64_t offset) const {
    constexpr std::size_t kHalf = kUnit / 2;
    if (!map().halves_change(in_shared_ + offset)) return void(std::memcpy(to, from, kUnit));
    std::memcpy(to, from + kHalf, kHalf);
    std::memcpy(to + kHalf, from, kHalf);
  }

  // Rows that are in the tensor and that a copy does not change.
  void move_rows(std::byte* memory, std::uint64_t stride, std::int64_t offset, std::int64_t count) const {
    const TensorRows rows{memory, stride, shared_, in_shared_ + offset, box().pitch, box().row, count};
    loads() ? rows.load(map()) : rows.store(map());
  }

  void load_row(const std::byte* memory, std::int64_t offset, std::int64_t first, std::int64_t last) {
    alignas(64) std::byte row[kMostRow];
    const std::int64_t bytes = box().row, packed = map().packed_unit();
    fill(row, 0, memory == nullptr ? bytes : first);
    if (memory != nullptr) {
      std::memcpy(row + first, memory, static_cast<std::size_t>(last - first));
      if (map().type == Element::tf32 || map().type == Element::tf32_ftz) round_to_tf32(row + first, last - first);
      fill(row, last, bytes);
    }
    if (map().is_padded()) { // what is between the elements stays as it was
      for (std::int64_t i = 0; i < bytes; i += packed)
        std::memcpy(unit(offset + i / packed * kUnit), row + i, static_cast<std::size_t>(packed));
      return;
    }
    if (box().span == 0) return void(std::memcpy(unit(offset), row, static_cast<std::size_t>(bytes)));
    for (std::int64_t i = 0; i < bytes; i += kUnit) copy_unit(unit(offset + i), row + i, offset + i);
  }

  // The NaN is the same for all types: halfwords 7ff7.
  void fill(std::byte* row, std::int64_t first, std::int64_t last) const {
    for (std::int64_t i = first; i < last; ++i)
      row[i] = !map().fill_nan ? std::byte{0} : i % 2 == 0 ? std::byte{0xf7} : std::byte{0x7f};
  }

  void store_row(std::byte* memory, std::int64_t offset, std::int64_t first, std::int64_t last) {
    alignas(64) std::byte row[kMostRow];
    const std::int64_t packed = map().packed_unit();
    for (std::int64_t i = 0; map().is_padded() && i < box().row; i += packed)
      pack_six_bits(row + i, unit(offset + i / packed * kUnit));
    for (std::int64_t i = first / kUnit * kUnit; !map().is_padded() && i < last; i += kUnit)
      copy_unit(row + i, unit(offset + i), offset + i);
    if (reducer_ == nullptr) return void(std::memcpy(memory, row + first, static_cast<std::size_t>(last - first)));
    const int element = map().element_bits() / 8;
    for (std::int64_t i = first; i < last; i += element) reducer_(memory + (i - first), row + i, !warp_->worker->alone);
  }

  const Op* op_;
  Warp* warp_;
  int lane_;
  const TensorSite& site_;
  const DecodedMap* decoded_ = nullptr;
  std::array<std::int64_t, 5> start_{};
  TensorPixels::Info info_{};
  TensorBox box_;
  Reducer reducer_ = nullptr;
  bool whole_ = false;
  bool counts_ = false; ///< of the first destination: its accesses to global memory count
  std::uint64_t counted_bytes_ = 0, counted_sectors_ = 0, received_ = 0;
  std::byte* shared_ = nullptr;       ///< of the block
  std::int64_t in_shared_ = 0;        ///< where the copy begins
  std::int64_t first_ = 0, last_ = 0; ///< bytes of a row that are in the tensor
  bool moves_ = false;                ///< rows that are in the tensor are copied whole and unchanged
};

} // namespace

const Op* tensor_copy(const Op* op, Warp* warp) {
  for (const int lane : EachLane(acting(op, warp)))
    if (!TensorCopy(op, warp, lane).run()) return nullptr;
  const Action action = warp->cta->program.tensors[op->extra].action;
  return op + (action == Action::load ? 4 : action == Action::prefetch ? 2 : 3);
}

std::uint32_t bytes_of_tensor_copy(const Op* op, Warp* warp, int lane) {
  const std::byte* const at = reach(warp, *op->site, address_in(op, warp, lane), TensorMap::kBytes, lane);
  if (at == nullptr) return 0;
  TensorMap::Words words{};
  std::memcpy(words.data(), at, sizeof words);
  if (!TensorMap::is_valid(words)) return 0;
  const TensorSite& site = warp->cta->program.tensors[op->extra];
  const TensorMap map = TensorMap::decoded(words);
  TensorBox box(map, site.four_rows);
  if (site.pixels) box.rows = TensorPixels::count(map, site, TensorCopy::info_of(site, warp, lane));
  return box.bytes();
}

bool is_same_copy(const Op* op, Warp* warp, int lane, int other) {
  const TensorSite& site = warp->cta->program.tensors[op->extra];
  const auto same = [&](std::uint32_t of) {
    return row<std::uint32_t>(warp, of)[lane] == row<std::uint32_t>(warp, of)[other];
  };
  const auto* const first = site.coordinate.data();
  if (!std::all_of(first, first + (site.four_rows ? site.coordinate.size() : site.dimensions), same)) return false;
  if (TensorCopy::info_of(site, warp, lane) != TensorCopy::info_of(site, warp, other)) return false;
  for (const Op* const part : {op, op + 2})
    if (address_in(part, warp, lane) != address_in(part, warp, other)) return false;
  return true;
}

} // namespace warplens::exec
