// SPDX-License-Identifier: Apache-2.0
// Lowers barrier.cluster, mapa and getctarank.
#include "emulator/exec/decode/decoder.hpp"

#include "emulator/exec/block/cluster.hpp"
#include "emulator/exec/memory/memory.hpp"

namespace warplens::exec {

using isa::Space;
using isa::Type;
using isa::Word;

void Decoder::cluster_barrier(const isa::Spelling& spelling) {
  emit_main(spelling.has(Word::w_arrive) ? cluster_arrive : cluster_wait).extra = spelling.has(Word::w_aligned) ? 1 : 0;
}

// The upper 8 bits of an address in the shared space are the rank of the CTA whose memory it is. mapa (9.7.9.23)
// replaces them by the lower 8 bits of its operand, as on an H100 (tests/data/hardware/cluster_addresses.txt).
void Decoder::map_address(const isa::Spelling& spelling) {
  const auto operands = function_.operands(*current_);
  const Type type = spelling.form.type();
  const int bytes = isa::bytes(type);
  const bool narrow = bytes == 4, generic = spelling.form.space() == Space::generic;
  if (narrow && generic)
    return unsupported("'mapa.u32' is not supported for generic addresses: clusters need 64-bit addresses");
  const std::string width = narrow ? "32" : "64";
  std::uint32_t address = source(operands[1], type, false);
  if (operands[1].kind == ir::OperandKind::variable && generic) // use its generic address
    address = file_.constant(bytes, constant_value(operands[1], type) + kSharedWindow);
  std::uint32_t rank = source(operands[2], Type::u32, false);
  if (!narrow) rank = resized(rank, 4, 8, false);
  constexpr std::uint64_t kRanks = 0xff * kClusterStride;
  const std::uint32_t offset = file_.temporary(bytes);
  lane_as("and.b" + width, {offset}, {address, file_.constant(bytes, ~kRanks)});
  const std::uint32_t bits = file_.temporary(bytes);
  lane_as("and.b" + width, {bits}, {rank, file_.constant(bytes, 0xff)});
  lane_as("mad.lo.u" + width, {destination(operands[0], type, false)},
          {bits, file_.constant(bytes, kClusterStride), offset});
}

// getctarank (9.7.9.24): these bits.
void Decoder::cta_rank(const isa::Spelling& spelling) {
  const auto operands = function_.operands(*current_);
  const Type type = spelling.form.type();
  if (type == Type::u32 && spelling.form.space() == Space::generic)
    return unsupported("'getctarank.u32' is not supported for generic addresses: clusters need 64-bit addresses");
  std::uint32_t address = source(operands[1], type, false);
  address = resized(address, isa::bytes(type), 4, false); // the upper half of a generic address is the window
  lane_as("shr.u32", {destination(operands[0], Type::u32, false)}, {address, file_.constant(4, 24)});
}

} // namespace warplens::exec
