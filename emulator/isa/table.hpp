// SPDX-License-Identifier: Apache-2.0
// The instruction table at run time: its opcodes, and the entry of each spelling.
//
//   const Spelling* s = …lookup("add.rn.f32")…;  s->entry->opcode == "add", s->operands[0].type == Type::f32
#pragma once

#include "emulator/base/expected.hpp"
#include "emulator/isa/instruction_class.hpp"
#include "emulator/isa/operands.hpp"
#include "emulator/isa/target.hpp"

#include <string>
#include <vector>

namespace warplens::isa {

/// Who decodes an entry: `lane` entries have a functor that computes one lane; every other family has handlers
/// of its own in emulator/exec.
enum class Family : std::uint8_t {
  lane,
  set,
  load,
  store,
  atomic,
  reduction,
  address_conversion,
  vector_move,
  logic_predicate,
  branch,
  branch_indexed,
  call,
  stack, ///< alloca, stacksave, stackrestore
  exit,
  ret,
  trap,
  barrier,
  warp_barrier,
  sleep,
  policy,
  space_test,
  nothing, ///< fences, hints: memory is sequentially consistent here, and there are no caches
  warp,
  texture,
  surface,
  texture_query,
  texture_type,
  mbarrier,
  async_copy,
  bulk_copy,
  async_store, ///< st.async and red.async that complete at an mbarrier
  bulk_store,
  cluster_barrier,
  map_address,
  cta_rank,
  matrix_transfer,    ///< ldmatrix, stmatrix
  matrix_transpose,   ///< movmatrix
  fragment_transfer,  ///< wmma.load, wmma.store
  matrix_multiply,    ///< mma, mma.sp, wmma.mma
  group_multiply,     ///< wgmma.mma_async
  group_order,        ///< wgmma.fence, commit_group, wait_group
  tensor_copy,        ///< copies and reductions by tensor map
  tensor_map,         ///< tensormap.replace, tensormap.cp_fenceproxy
  launch_control,     ///< clusterlaunchcontrol
  tensor_allocation,  ///< tcgen05.alloc, dealloc, relinquish_alloc_permit
  tensor_transfer,    ///< tcgen05.ld, tcgen05.st
  tensor_order,       ///< tcgen05.wait, tcgen05.fence
  tensor_copy_shared, ///< tcgen05.cp
  tensor_shift,       ///< tcgen05.shift
  tensor_multiply,    ///< tcgen05.mma
  tensor_commit       ///< tcgen05.commit
};

struct Entry {
  std::string_view opcode;
  std::string_view pattern_text; ///< as in the table
  std::string_view semantics;    ///< name of the functor
  const Pattern& pattern;
  const OperandList& operands;
  Family family{};
  InstructionClass instruction_class{}; ///< `generic` ones of a state space: see Spelling
  int ptx = 10;                         ///< version times ten that introduced it
  Targets targets = 10;
  std::string_view file; ///< of the table: "integer"
  bool legacy = false;   ///< a spelling of targets before sm_20 only
  int last_ptx = 1000;   ///< version times ten that still has it …
  int last_from = 0;     ///< … for targets from this one on
};

/// All entries, in the order of instructions.def.
std::span<const Entry> table();

/// A spelling found in the table.
struct Spelling {
  const Entry* entry = nullptr;
  std::uint32_t entry_index = 0;
  int variant = 0; ///< which handler of the entry
  Form form;       ///< all words, the decoder's included, in the order of the pattern; .ftz where the target implies it
  std::array<Type, kMaxOperands> types{}; ///< of the entry's operands
  InstructionClass instruction_class{};   ///< the entry's; where that is `generic`, of the first space among the words

  [[nodiscard]] bool has(Word word) const { return form.has(word); }
  /// The elements of .v2, .v4 and .v8; otherwise 1.
  [[nodiscard]] int vector_width() const { return has(Word::w_v2) ? 2 : has(Word::w_v4) ? 4 : has(Word::w_v8) ? 8 : 1; }
};

/// "sm_90", the lowest target; "sm_100a, sm_103a" for a list.
std::string spelled(const Targets& targets);

constexpr int kAnyCount = -1;

/// Finds the entry for a whole spelling such as "ld.global.v2.f32". `ptx` and `target` are the module's: if an entry
/// requires a later version or target, the error says which. If several entries have the spelling, one that takes
/// `operands` operands is preferred. Other errors: an unknown opcode, words that do not fit (both with a
/// suggestion).
Expected<Spelling> lookup(std::string_view spelling, int ptx, Target target, int operands = kAnyCount);

/// All opcodes of the table, sorted, each once.
std::vector<std::string_view> opcodes();

} // namespace warplens::isa
