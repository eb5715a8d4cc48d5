// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/decode/decoder.hpp"

#include "emulator/exec/texture/texture_handlers.hpp"
#include "emulator/ir/check_texture.hpp"

namespace warplens::exec {

namespace {

using isa::Word;
using Geometry = TextureSite::Geometry;
using Mode = TextureSite::Mode;

template <class T> struct WordChoice {
  Word word;
  T value;
};

// The value for the first of the words that a spelling contains.
template <class T, std::size_t N>
T chosen(const isa::Spelling& spelling, const WordChoice<T> (&choices)[N], T otherwise) {
  for (const WordChoice<T>& c : choices)
    if (spelling.has(c.word)) return c.value;
  return otherwise;
}

constexpr WordChoice<Geometry> kGeometries[] = {
    {Word::w_d1, Geometry::d1},       {Word::w_d2, Geometry::d2},     {Word::w_d3, Geometry::d3},
    {Word::w_a1d, Geometry::a1d},     {Word::w_a2d, Geometry::a2d},   {Word::w_cube, Geometry::cube},
    {Word::w_acube, Geometry::acube}, {Word::w_ms2d, Geometry::ms2d}, {Word::w_a2dms, Geometry::a2dms}};
constexpr WordChoice<Mode> kModes[] = {
    {Word::w_base, Mode::base}, {Word::w_level, Mode::level}, {Word::w_grad, Mode::gradient}};
constexpr WordChoice<TextureSite::Bounds> kBounds[] = {{Word::w_clamp, TextureSite::Bounds::clamp},
                                                       {Word::w_zero, TextureSite::Bounds::zero}};
constexpr WordChoice<TextureSite::Reduction> kReductions[] = {{Word::w_min, TextureSite::Reduction::minimum},
                                                              {Word::w_max, TextureSite::Reduction::maximum},
                                                              {Word::w_and_, TextureSite::Reduction::bit_and},
                                                              {Word::w_or_, TextureSite::Reduction::bit_or}};
constexpr WordChoice<std::uint8_t> kChannels[] = {{Word::w_g, 1}, {Word::w_b, 2}, {Word::w_a, 3}};

} // namespace

// A texture, sampler or surface parameter: its handle, in a separate row.
std::uint32_t Decoder::opaque_parameter(std::uint64_t offset) {
  const std::uint32_t row = file_.temporary(8);
  emit(level_.memory({MemoryHandlerKey::Kind::param, isa::Type::u64, 8, 1, false}), {row}).imm =
      static_cast<std::int64_t>(offset);
  return row;
}

void Decoder::coordinates(const ir::Operand& operand, std::size_t count, TextureSite& site) {
  const auto list = function_.each_of(operand);
  for (std::size_t i = 0; i < count && i < list.size(); ++i) {
    const bool number = site.is_array() && i == 0;
    site.coordinate[i] = source(list[i], site.float_coordinates && !number ? isa::Type::f32 : isa::Type::s32, false);
  }
}

// {a, b, c, d} or {a, b, c, d}|p.
void Decoder::texture_results(const ir::Operand& operand, TextureSite& site) {
  const bool pair = operand.kind == ir::OperandKind::pair;
  const ir::Operand& results = pair ? function_.elements(operand)[0] : operand;
  const auto list = function_.elements(results);
  site.elements = static_cast<std::uint8_t>(list.size());
  for (std::size_t i = 0; i < list.size(); ++i)
    if (list[i].kind != ir::OperandKind::sink) site.value[i] = destination(list[i], site.type, false);
  if (pair) site.resident = destination(function_.elements(operand)[1], isa::Type::pred, false);
}

Op& Decoder::emit_texture(Handler handler, TextureSite site, AccessKind kind, int lane_bytes) {
  site.memory = &this->site(isa::Space::texture, kind, lane_bytes, {});
  site.sample = level_.sample;
  Op& op = emit(handler);
  op.extra = static_cast<std::uint32_t>(program_->textures.size());
  program_->textures.push_back(site);
  return op;
}

void Decoder::texture(const isa::Spelling& spelling) {
  const ir::TextureOperands operands = ir::texture_operands(function_, *current_, spelling);
  TextureSite site;
  site.geometry = chosen(spelling, kGeometries, Geometry::d2);
  site.mode = spelling.entry->opcode == "tld4" ? Mode::gather : chosen(spelling, kModes, Mode::plain);
  site.channel = chosen(spelling, kChannels, std::uint8_t{0});
  site.type = spelling.form.type(0);
  site.float_coordinates = spelling.form.type(1) == isa::Type::f32;
  site.reference = source(*operands.reference, isa::Type::u64, false);
  if (operands.sampler != nullptr) site.sampler = source(*operands.sampler, isa::Type::u64, false);
  coordinates(*operands.coordinates, ir::coordinate_count(spelling).used, site);
  const isa::Type coordinate = spelling.form.type(1);
  if (operands.level != nullptr) site.level = source(function_.each_of(*operands.level)[0], coordinate, false);
  for (std::size_t g = 0; g < 2; ++g)
    for (std::size_t i = 0; operands.gradient[g] != nullptr && i < 3 && i < operands.gradient[g]->count; ++i)
      site.gradient[g][i] = source(function_.each_of(*operands.gradient[g])[i], isa::Type::f32, false);
  for (std::size_t i = 0; operands.offset != nullptr && i < static_cast<std::size_t>(site.dimensions()); ++i)
    site.offset[i] = source(function_.each_of(*operands.offset)[i], isa::Type::s32, false);
  if (operands.compare != nullptr) site.compare = source(*operands.compare, isa::Type::f32, false);
  texture_results(function_.operands(*current_)[0], site);
  emit_texture(sample_texture, site, AccessKind::load, site.elements * isa::bytes(site.type));
}

void Decoder::surface(const isa::Spelling& spelling) {
  const ir::TextureOperands operands = ir::texture_operands(function_, *current_, spelling);
  const bool loads = spelling.instruction_class == isa::InstructionClass::surface_load;
  const bool reduces = spelling.instruction_class == isa::InstructionClass::surface_reduction;
  TextureSite site;
  site.geometry = chosen(spelling, kGeometries, Geometry::d2);
  site.bounds = chosen(spelling, kBounds, TextureSite::Bounds::trap);
  site.reduction = chosen(spelling, kReductions, TextureSite::Reduction::add);
  site.formatted = spelling.has(Word::w_p);
  site.type = spelling.form.type();
  site.reference = source(*operands.reference, isa::Type::u64, false);
  coordinates(*operands.coordinates, ir::coordinate_count(spelling).used, site);
  const ir::Operand& data = function_.operands(*current_)[loads ? 0 : 1];
  const auto list = function_.each_of(data);
  site.elements = static_cast<std::uint8_t>(list.size());
  for (std::size_t i = 0; i < list.size(); ++i)
    site.value[i] = loads ? destination(list[i], site.type, true) : source(list[i], site.type, true);
  emit_texture(loads     ? load_surface
               : reduces ? reduce_surface
                         : store_surface,
               site,
               loads     ? AccessKind::load
               : reduces ? AccessKind::reduction
                         : AccessKind::store,
               site.elements * isa::bytes(site.type));
  if (loads) finish_destinations();
}

void Decoder::query_texture(const isa::Spelling& spelling) {
  const ir::TextureOperands operands = ir::texture_operands(function_, *current_, spelling);
  const auto given = function_.operands(*current_);
  const std::uint32_t reference = source(*operands.reference, isa::Type::u64, false);
  const std::uint32_t level = given.size() > 2 ? source(given[2], isa::Type::u32, false) : file_.constant(4, 0);
  const std::uint32_t result = destination(given[0], isa::Type::b32, true);
  Op& op = emit(read_attribute, {result}, {reference, level});
  op.imm = static_cast<std::int64_t>(spelling.form.words[spelling.has(Word::w_level) ? 1 : 0]);
  op.extra = static_cast<std::uint32_t>(ir::queried_type(module_, spelling));
  finish_destinations();
}

void Decoder::test_texture_type(const isa::Spelling& spelling) {
  const auto operands = function_.operands(*current_);
  const std::uint32_t reference = source(operands[1], isa::Type::u64, false);
  const std::uint32_t result = destination(operands[0], isa::Type::pred, false);
  emit(is_texture_type, {result}, {reference}).imm = static_cast<std::int64_t>(spelling.form.type());
}

} // namespace warplens::exec
