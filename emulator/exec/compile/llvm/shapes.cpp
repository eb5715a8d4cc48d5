// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/compile/llvm/shapes.hpp"

#include <algorithm>

namespace warplens::exec::compile {

using Kind = OpMeaning::Kind;
using Linear = OpMeaning::Linear;

namespace {

// A number of so many bytes, extended by its sign; a predicate has none.
std::int64_t narrowed(std::uint64_t value, std::uint32_t bytes) {
  if (bytes == 0 || bytes >= 8) return static_cast<std::int64_t>(value);
  const unsigned unused = 64 - 8 * bytes;
  return static_cast<std::int64_t>(value << unused) >> unused;
}

// The shapes of %tid.x (component 0), .y and .z in the warps of a block.
Shape thread_index(int component, BlockLayout layout) {
  if (component > 2) return Shape::uniform();
  if (layout == BlockLayout::other) return Shape::varying();
  return Shape::sequence(layout == BlockLayout::rows, component == 0 ? 1 : 0);
}

Shape special(const SpecialRow& s, BlockLayout layout) {
  using isa::Special;
  switch (s.special) {
  case Special::tid: return thread_index(s.component, layout);
  case Special::laneid: return Shape::sequence(true, 1);
  case Special::lanemask_eq:
  case Special::lanemask_le:
  case Special::lanemask_lt:
  case Special::lanemask_ge:
  case Special::lanemask_gt: return Shape::varying();
  default: return Shape::uniform();
  }
}

} // namespace

Shape meet(Shape a, Shape b) {
  if (a.kind == Shape::Kind::unset) return b;
  if (b.kind == Shape::Kind::unset || a == b) return a;
  if (!a.is_sequence() || !b.is_sequence() || a.stride != b.stride) return Shape::varying();
  return Shape::sequence(false, a.stride);
}

Shapes::Shapes(const Program& program, const Region& region, std::array<std::uint32_t, 3> block,
               const std::vector<std::uint32_t>& entries)
    : program_(program), region_(region) {
  find_leaders(entries);
  begin(block);
  follow();
  find_given();
}

std::optional<std::uint64_t> Shapes::constant(std::uint32_t offset) const {
  const std::int64_t c = region_.rows()[region_.row(offset)].constant;
  if (c < 0 || program_.constants[static_cast<std::size_t>(c)].shared_address) return std::nullopt;
  return program_.constants[static_cast<std::size_t>(c)].value;
}

// Where the warp, or a path of it, goes on; an op that is not known goes on at the next one.
llvm::SmallVector<std::uint32_t, 2> Shapes::continues_at(std::uint32_t op) const {
  const OpFacts& f = region_.facts(op);
  const bool ends = (f.meaning.kind == Kind::exit || f.meaning.kind == Kind::trap) && !f.guarded;
  if (ends || op + 1 >= region_.size()) return {};
  if (f.leaves) return {op + 1};
  return region_.successors(op);
}

void Shapes::find_leaders(const std::vector<std::uint32_t>& entries) {
  leaders_.resize(region_.size() + 1);
  leaders_.set(0);
  for (const std::uint32_t entry : entries) leaders_.set(entry);
  for (std::uint32_t i = 0; i < region_.size(); ++i) {
    const OpFacts& f = region_.facts(i);
    if (region_.goes(i)) leaders_.set(region_.target(i));
    if (f.leaves || region_.goes(i) || f.meaning.kind == Kind::rejoin) leaders_.set(i + 1);
    if (f.meaning.kind == Kind::rejoin) leaders_.set(i);
  }
  index_.assign(region_.size() + 1, 0);
  std::uint32_t next = 0;
  for (const unsigned leader : leaders_.set_bits()) index_[leader] = next++;
}

void Shapes::begin(std::array<std::uint32_t, 3> block) {
  at_.assign(leaders_.count(), RowShapes(region_.rows().size()));
  fixed_.resize(static_cast<unsigned>(region_.rows().size()));
  given_.resize(static_cast<unsigned>(region_.rows().size()));
  const BlockLayout layout = layout_of(block.data());
  RowShapes first(region_.rows().size(), Shape::varying());
  const auto set = [&](std::uint32_t offset, Shape shape) {
    const std::optional<std::uint32_t> row = region_.find_row(offset);
    if (!row) return;
    first[*row] = shape;
    if (shape.is_uniform()) fixed_.set(*row);
    if (shape.is_sequence()) given_.set(*row);
  };
  for (const ConstantRow& c : program_.constants)
    set(c.offset, c.lane_bytes != 0 || c.value == kFullMask || c.value == 0 ? Shape::uniform() : Shape::varying());
  for (const SpecialRow& s : program_.specials) set(s.offset, special(s, layout));
  for (const SpecialRow& s : program_.specials)
    if (s.special == isa::Special::tid && region_.find_row(s.offset)) layout_ = static_cast<std::uint8_t>(layout);
  at_[index_[0]] = std::move(first);
}

void Shapes::follow() {
  splits_.resize(region_.size());
  reached_.resize(region_.size() + 1);
  follow_from(0);
  // Code that no known way leads to, such as the targets of brx.idx.
  for (std::uint32_t op = 0; op < region_.size(); ++op) {
    if (!leaders_.test(op) || reached_.test(op)) continue;
    RowShapes rows = at(0);
    for (unsigned r = 0; r < rows.size(); ++r)
      if (!fixed_.test(r)) rows[r] = Shape::varying();
    flow_into(op, rows);
    follow_from(op);
  }
}

void Shapes::follow_from(std::uint32_t start) {
  std::vector<std::uint32_t> waiting{start};
  llvm::BitVector queued(region_.size() + 1);
  const auto queue = [&](std::uint32_t leader) {
    if (queued.test(leader)) return;
    queued.set(leader);
    waiting.push_back(leader);
  };
  while (!waiting.empty()) {
    std::uint32_t op = waiting.back();
    waiting.pop_back();
    queued.reset(op);
    reached_.set(op);
    RowShapes rows = at(op);
    for (; op < region_.size(); ++op) {
      const bool diverges = region_.facts(op).meaning.kind == Kind::branch && !splits_.test(op) &&
                            !of(rows, program_.ops[op].guard).is_uniform();
      step(op, rows);
      const llvm::SmallVector<std::uint32_t, 2> next = continues_at(op);
      if (diverges && split_at(op)) {
        const std::uint32_t meeting = op + program_.ops[op].src[0];
        if (flow_into(meeting, RowShapes(rows.size()))) queue(meeting);
        if (split_.contains(op + 1) && flow_into(op + 1, RowShapes(rows.size()))) queue(op + 1);
      }
      const bool ends = next.size() != 1 || next[0] != op + 1 || leaders_.test(op + 1);
      if (!ends) continue;
      for (const std::uint32_t leader : next)
        if (flow_into(leader, rows)) queue(leader);
      break;
    }
  }
}

// Whether this changed something there.
bool Shapes::flow_into(std::uint32_t leader, const RowShapes& rows) {
  RowShapes& there = at_[index_[leader]];
  const auto split = split_.find(leader);
  bool changed = false;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const bool varies = split != split_.end() && split->second.test(static_cast<unsigned>(r));
    const Shape now = varies ? Shape::varying() : meet(there[r], rows[r]);
    changed |= !(now == there[r]);
    there[r] = now;
  }
  return changed;
}

// The lanes of a warp go both ways: what they write before they meet differs between them. Whether they meet.
bool Shapes::split_at(std::uint32_t branch) {
  splits_.set(branch);
  const std::uint32_t distance = program_.ops[branch].src[0];
  if (distance == 0 || branch + distance >= region_.size()) return false;
  const std::uint32_t meeting = branch + distance;
  if (!leaders_.test(meeting)) return false;
  llvm::BitVector& rows = split_.try_emplace(meeting, static_cast<unsigned>(region_.rows().size())).first->second;
  llvm::BitVector seen(region_.size());
  seen.set(meeting);
  llvm::SmallVector<std::uint32_t, 16> work;
  for (const std::uint32_t next : region_.successors(branch)) work.push_back(next);
  while (!work.empty()) {
    const std::uint32_t op = work.pop_back_val();
    if (op >= region_.size() || seen.test(op)) continue;
    seen.set(op);
    for (const RowUse& def : region_.facts(op).defs) rows.set(region_.row(def.offset));
    if (region_.facts(op).meaning.kind == Kind::unknown)
      for (const std::uint32_t d : program_.ops[op].dst)
        if (const auto row = region_.find_row(d)) rows.set(*row);
    for (const std::uint32_t next : continues_at(op)) work.push_back(next);
  }
  // Where both sides run under masks, the one that begins behind the branch is the second.
  if (region_.masked_until(branch) != 0 && region_.has_two_sides(branch)) {
    llvm::BitVector& first = split_.try_emplace(branch + 1, static_cast<unsigned>(region_.rows().size())).first->second;
    for (std::uint32_t op = region_.target(branch); op < region_.goes_on_at(branch); ++op)
      for (const RowUse& def : region_.facts(op).defs) first.set(region_.row(def.offset));
  }
  return true;
}

// Whether the op computes a sequence of such rows in any lanes, at any time.
bool Shapes::follows(std::uint32_t op, const RowShapes& rows) const {
  const OpFacts& f = region_.facts(op);
  switch (f.meaning.kind) {
  case Kind::lane:
  case Kind::parameter:
  case Kind::copy:
  case Kind::predicate_and:
  case Kind::predicate_or:
  case Kind::predicate_xor: break;
  default: return false;
  }
  const Computed c = computed(op, rows);
  const bool in_range = c.widened < 0 || of(rows, f.uses[static_cast<std::size_t>(c.widened)].offset).stride == 0;
  return !f.guarded && c.kept.is_sequence() && in_range;
}

void Shapes::find_given() {
  constexpr std::int64_t kNone = -1, kSeveral = -2;
  std::vector<std::int64_t> writer(region_.rows().size(), kNone);
  bool known = true; // what all ops write
  for (std::uint32_t i = 0; i < region_.size(); ++i) {
    const OpFacts& f = region_.facts(i);
    known = known && f.meaning.kind != Kind::unknown;
    for (const RowUse& def : f.defs) {
      std::int64_t& op = writer[region_.row(def.offset)];
      op = op == kNone ? std::int64_t{i} : kSeveral;
    }
    if (f.meaning.kind != Kind::barrier) continue;
    for (const std::uint32_t result : program_.ops[i].dst)
      if (const auto row = region_.find_row(result)) writer[*row] = kSeveral;
  }
  if (!known) std::fill(writer.begin(), writer.end(), kSeveral);
  once_.assign(writer.size(), Shape::varying());
  for (const unsigned row : given_.set_bits()) once_[row] = at(0)[row];
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint32_t r = 0; r < writer.size(); ++r) {
      if (writer[r] < 0 || once_[r].is_sequence()) continue;
      const auto op = static_cast<std::uint32_t>(writer[r]);
      if (!follows(op, once_)) continue;
      once_[r] = computed(op, once_).kept;
      changed = true;
    }
  }
  find_computed_once(writer);
}

// Where lanes begin, and in code that no known way leads to, there are none.
void Shapes::find_computed_once(const std::vector<std::int64_t>& writer) {
  const auto rows = static_cast<unsigned>(region_.rows().size());
  computed_once_.assign(leaders_.count(), llvm::BitVector(rows, true));
  llvm::BitVector begins(region_.size() + 1, true);
  for (std::uint32_t i = 0; i < region_.size(); ++i)
    for (const std::uint32_t next : continues_at(i)) begins.reset(next);
  begins.set(0);
  for (const unsigned leader : leaders_.set_bits())
    if (begins.test(leader)) computed_once_[index_[leader]].reset();
  for (bool changed = true; changed;) {
    changed = false;
    llvm::BitVector have(rows);
    for (std::uint32_t i = 0; i < region_.size(); ++i) {
      if (leaders_.test(i)) have = computed_once_[index_[i]];
      for (const RowUse& def : region_.facts(i).defs)
        if (const std::uint32_t row = region_.row(def.offset);
            writer[row] == std::int64_t{i} && once_[row].is_sequence())
          have.set(row);
      for (const std::uint32_t next : continues_at(i)) {
        if (!leaders_.test(next)) continue;
        llvm::BitVector& there = computed_once_[index_[next]];
        if (!there.test(have)) continue; // it has no more than these
        there &= have;
        changed = true;
      }
    }
  }
}

void Shapes::step(std::uint32_t op, RowShapes& rows) const {
  const OpFacts& f = region_.facts(op);
  if (f.meaning.kind == Kind::unknown) {
    for (const std::uint32_t d : program_.ops[op].dst)
      if (const auto row = region_.find_row(d)) rows[*row] = Shape::varying();
    return;
  }
  if (f.defs.empty()) return;
  const Shape kept = computed(op, rows).kept;
  for (const RowUse& def : f.defs) rows[region_.row(def.offset)] = kept;
}

Computed Shapes::computed(std::uint32_t op, const RowShapes& rows) const {
  const OpFacts& f = region_.facts(op);
  Computed c;
  c.shape = Shape::varying();
  const auto all_uniform = [&] {
    for (const RowUse& use : f.uses)
      if (!of(rows, use.offset).is_uniform()) return false;
    return true;
  };
  switch (f.meaning.kind) {
  case Kind::lane: c = computed_lane(op, rows); break;
  case Kind::load: c = computed_load(op, rows); break;
  case Kind::across:
    // All other operations give each lane of a group the same.
    if (!shuffles(f.meaning.warp.operation)) c = {Computed::How::scalars, Shape::uniform(), {}, -1};
    break;
  case Kind::parameter: c = {Computed::How::scalars, Shape::uniform(), {}, -1}; break;
  case Kind::copy: c = {Computed::How::scalars, of(rows, f.uses[0].offset), {}, -1}; break;
  case Kind::predicate_and:
  case Kind::predicate_or:
  case Kind::predicate_xor:
  case Kind::pack:
  case Kind::unpack:
    if (all_uniform()) c = {Computed::How::scalars, Shape::uniform(), {}, -1};
    break;
  default: break;
  }
  if (!c.shape.is_sequence()) c.how = Computed::How::lanes;
  c.kept = c.shape;
  if (!f.guarded || !c.shape.is_sequence()) return c;
  // Both values are sequences: where the guard is the same in all lanes, so is the result.
  const bool selects = of(rows, program_.ops[op].guard).is_uniform();
  for (const RowUse& def : f.defs)
    if (!selects || !(of(rows, def.offset) == c.shape)) c.kept = Shape::varying();
  return c;
}

Computed Shapes::computed_lane(std::uint32_t op, const RowShapes& rows) const {
  const OpFacts& f = region_.facts(op);
  Computed c;
  c.shape = Shape::varying();
  bool whole = true, equal = true;
  for (std::uint32_t i = 0; i < f.sources; ++i) {
    const Shape s = of(rows, f.uses[i].offset);
    if (!s.is_sequence()) return c;
    whole &= s.whole;
    equal &= s.stride == 0;
  }
  const bool truth = f.defs[0].bytes == 0 || f.defs.size() > 1;
  if (!f.has_scalar || (truth && !(whole && equal))) return c;
  const auto stride = [&](int i) { return static_cast<std::uint64_t>(of(rows, f.uses[i].offset).stride); };
  const auto found = [&](std::uint64_t by_lane) {
    c.how = Computed::How::scalars;
    c.shape = Shape::sequence(whole, narrowed(by_lane, f.defs[0].bytes));
    return c;
  };
  if (equal) return found(0);
  const bool widens = f.defs[0].bytes > f.uses[0].bytes;
  // A product with a number that is known.
  const auto product = [&](int x, int y) -> std::optional<std::uint64_t> {
    const std::optional<std::uint64_t> factor = constant(f.uses[y].offset);
    if (!factor || stride(y) != 0) return std::nullopt;
    const auto value =
        widens && f.meaning.sign_extends ? narrowed(*factor, f.uses[0].bytes) : static_cast<std::int64_t>(*factor);
    if (widens) c.widened = x;
    return stride(x) * static_cast<std::uint64_t>(value);
  };
  const auto either = [&] {
    const std::optional<std::uint64_t> p = product(0, 1);
    return p ? p : product(1, 0);
  };
  switch (f.meaning.linear) {
  case Linear::none: return c;
  case Linear::same:
    if (widens) c.widened = 0;
    return found(stride(0));
  case Linear::sum: return found(stride(0) + stride(1));
  case Linear::difference: return found(stride(0) - stride(1));
  case Linear::product:
    if (const auto p = either()) return found(*p);
    return c;
  case Linear::product_sum:
    if (stride(0) == 0 && stride(1) == 0) return found(stride(2));
    if (const auto p = either()) return found(*p + stride(2));
    return c;
  case Linear::shift:
    if (const auto by = constant(f.uses[1].offset); by && *by < 8 * f.defs[0].bytes) return found(stride(0) << *by);
    return c;
  }
  return c;
}

// All lanes that load from one address get one value.
Computed Shapes::computed_load(std::uint32_t op, const RowShapes& rows) const {
  const Shape address = of(rows, program_.ops[op].src[0]);
  Computed c;
  c.shape = Shape::varying();
  if (!region_.facts(op).guarded && is_quick(program_.ops[op].site->space) && address.is_sequence() &&
      address.stride == 0)
    c = {Computed::How::scalars, address, {}, -1};
  return c;
}

} // namespace warplens::exec::compile
