// SPDX-License-Identifier: Apache-2.0
// Turns the instructions of a kernel into ops. decode.cpp walks the blocks; lower_*.cpp hold one family each.
#pragma once

#include "emulator/base/limits.hpp"
#include "emulator/exec/decode/decode.hpp"
#include "emulator/exec/decode/register_file.hpp"
#include "emulator/ir/callees.hpp"
#include "emulator/ir/control_flow.hpp"

#include <optional>
#include <span>
#include <string>

namespace warplens::exec {

class Decoder {
public:
  Decoder(const ir::Module& module, const ir::Function& function, const VariableAddresses& variables,
          const DecodeOptions& options);
  Expected<std::shared_ptr<Program>> run();

private:
  // The rows of an instruction's operands.
  struct Rows {
    std::uint32_t dst[4]{};
    std::uint32_t src[5]{};
    int destinations = 0, sources = 0;
  };

  // decode.cpp
  tl::unexpected<Diagnostics> failed();
  void list_constants();
  /// Reports an error if the kernel exceeds the limit.
  void admit(const Limit& limit, Checked number);
  void check_registers();
  void lay_out_variables();
  void find_joined_accesses();
  void begin_block(std::uint32_t block);
  void count_instructions(std::uint32_t first, std::uint32_t end);
  void instruction(std::uint32_t index);
  void read_guard();
  void patch_branches();
  std::uint32_t distance(std::size_t op, std::uint32_t block) const;
  Op& emit(Handler handler, std::initializer_list<std::uint32_t> destinations = {},
           std::initializer_list<std::uint32_t> sources = {});
  /// The op that does what the instruction is for; others compute its operands.
  Op& emit_main(Handler handler, std::initializer_list<std::uint32_t> destinations = {},
                std::initializer_list<std::uint32_t> sources = {});
  void lower(const isa::Spelling& spelling);
  void tell_steps(std::size_t before);
  void tell_async_step(const isa::Spelling& spelling);
  // lower_special_operands.cpp
  void tell_special_operands(const isa::Spelling& spelling);

  void unsupported();
  void unsupported(std::string why);

  // operands.cpp
  std::uint32_t source(const ir::Operand& operand, isa::Type type, bool relaxed);
  std::uint32_t source_predicate(const ir::Operand& operand);
  std::uint32_t destination(const ir::Operand& operand, isa::Type type, bool relaxed);
  void finish_destinations();
  std::uint32_t register_row(const ir::Operand& operand, int* lane_bytes) const;
  struct Resizing {
    std::uint32_t row, target;
    int from_bytes, to_bytes;
    bool is_signed;
  };
  void convert(const Resizing& resizing);
  std::uint32_t resized(std::uint32_t row, int from_bytes, int to_bytes, bool is_signed);
  std::uint64_t constant_value(const ir::Operand& operand, isa::Type type) const;
  /// Whether it is the address of a variable in shared memory, which depends on the CTA's rank in its cluster.
  [[nodiscard]] bool is_shared_address(const ir::Operand& operand) const;
  std::uint64_t address_of(std::uint32_t variable) const;
  std::uint32_t special_row(const ir::Operand& operand, int lane_bytes);

  // lower_lane.cpp: instructions that functors compute, and those built from them
  void lane(const isa::Spelling& spelling);
  bool bit_field_of_immediates(const isa::Spelling& spelling);
  void lane_as(std::string_view spelling, std::initializer_list<std::uint32_t> destinations,
               std::initializer_list<std::uint32_t> sources);
  void combine(const isa::Spelling& spelling, std::uint32_t truth, bool flip, const ir::Operand* other,
               std::uint32_t destination);
  void set(const isa::Spelling& spelling);
  void set_pair(const isa::Spelling& spelling);
  void take_sources(Op& op, const Rows& rows);
  bool move_vector(const isa::Spelling& spelling);
  void move_elements(const isa::Spelling& spelling);
  void logic_predicate(const isa::Spelling& spelling);

  // lower_memory.cpp
  void load(const isa::Spelling& spelling);
  void store(const isa::Spelling& spelling);
  /// The rows of the elements of a vector, or of one operand, that is loaded or stored; all have as many bytes.
  struct VectorRows {
    std::array<std::uint32_t, 8> of{};
    int bytes = 0;
  };
  VectorRows vector_rows(std::span<const ir::Operand> elements, isa::Type type);
  void load_parameter(const isa::Spelling& spelling, std::span<const ir::Operand> elements, std::uint64_t offset);
  void atomic(const isa::Spelling& spelling);
  void convert_address(const isa::Spelling& spelling);
  void test_space(const isa::Spelling& spelling);
  void either_in(std::uint32_t result, std::uint32_t address, int bytes, std::uint64_t begin, std::uint64_t size);
  void own_shared(std::uint32_t result, std::uint32_t address, int bytes, std::uint64_t window);
  struct Address {
    std::uint32_t row = 0;
    std::int64_t offset = 0;
    bool is_32_bit = false;
  };
  Address address(const ir::Operand& operand);
  Address indexed_address(const ir::Operand& indexed, std::int64_t offset);
  const ir::Operand* named_variable(const ir::Operand& address) const;
  isa::Space space_of_access(const isa::Spelling& spelling, const ir::Operand& operand) const;
  static MemorySite& hidden_param(MemorySite& site, const isa::Spelling& spelling);
  MemorySite& site(isa::Space space, AccessKind kind, int lane_bytes, const Address& address);
  Op& access(Handler handler, MemorySite& site, const Address& address,
             std::initializer_list<std::uint32_t> destinations = {},
             std::initializer_list<std::uint32_t> values = {}); ///< from the second source on

  // lower_texture.cpp
  void texture(const isa::Spelling& spelling);
  void surface(const isa::Spelling& spelling);
  void query_texture(const isa::Spelling& spelling);
  void test_texture_type(const isa::Spelling& spelling);
  std::uint32_t opaque_parameter(std::uint64_t offset);
  void coordinates(const ir::Operand& operand, std::size_t count, TextureSite& site);
  void texture_results(const ir::Operand& operand, TextureSite& site);
  Op& emit_texture(Handler handler, TextureSite site, AccessKind kind, int lane_bytes);
  // lower_async.cpp
  struct Place {
    isa::Space space{};
    Address address;
  };
  Place place(isa::Space space, const ir::Operand& where);
  Op& access(Handler handler, AccessKind kind, int lane_bytes, const Place& place);
  Op& access_object(Handler handler, AccessKind kind, const Place& place);
  void mbarrier(const isa::Spelling& spelling);
  void async_copy(const isa::Spelling& spelling);
  void bulk_copy(const isa::Spelling& spelling);
  void async_store(const isa::Spelling& spelling);
  void bulk_store(const isa::Spelling& spelling);
  // lower_tensor.cpp
  void copy_by_tensor_map(const isa::Spelling& spelling);
  void control_launch(const isa::Spelling& spelling);
  void change_tensor_map(const isa::Spelling& spelling);
  // lower_cluster.cpp
  void cluster_barrier(const isa::Spelling& spelling);
  void map_address(const isa::Spelling& spelling);
  void cta_rank(const isa::Spelling& spelling);

  // lower_warp.cpp
  void warp_level(const isa::Spelling& spelling);

  // lower_matrix.cpp
  void transfer_matrices(const isa::Spelling& spelling);
  void transpose_matrix(const isa::Spelling& spelling);
  void transfer_fragment(const isa::Spelling& spelling);
  void multiply_matrices(const isa::Spelling& spelling);
  void multiply_by_group(const isa::Spelling& spelling);
  MatrixScales scales_of(const ir::Operand& data, const ir::Operand& selectors);
  void take_registers(const ir::Operand& operand, isa::Type type, bool written, std::array<std::uint32_t, 8>& rows);

  // lower_tensor_memory.cpp
  Op& emit_at(Handler handler, const ir::Operand& address);
  void allocate_tensor_memory(const isa::Spelling& spelling);
  void transfer_tensor(const isa::Spelling& spelling);
  void order_tensor(const isa::Spelling& spelling);
  void copy_to_tensor_memory(const isa::Spelling& spelling);
  void shift_tensor(const isa::Spelling& spelling);
  // lower_tensor_multiply.cpp
  void multiply_tensors(const isa::Spelling& spelling);
  void commit_tensors(const isa::Spelling& spelling);

  // lower_control.cpp
  void branch();
  void count_branch(Op& op);
  std::uint32_t block_at(std::uint32_t label) const;
  void leave();
  std::int64_t uncharged_instructions();
  void count_rest_of_block();
  void barrier(const isa::Spelling& spelling);
  void warp_barrier();

  // lower_calls.cpp
  void lay_out_frames();
  void enter_part(std::uint32_t first_instruction);
  bool in_moving_frame(std::uint32_t variable) const;
  std::uint32_t frame_address(std::uint64_t offset, int bytes);
  std::optional<Transfer> transfer(const ir::Operand& operand, const ir::Variable& formal, std::uint32_t offset);
  void transfer_elements(const ir::Operand& vector, const ir::Variable& formal, std::uint32_t offset,
                         std::vector<Transfer>& transfers);
  CallTarget call_target(const ir::CallOperands& operands, std::uint32_t part_index);
  ir::CallGraph& callees() const;
  std::vector<FrameRow> saved_rows();
  void call();
  void library_call(CallSite& site, std::uint32_t number);
  void branch_indexed();
  void stack(const isa::Spelling& spelling);
  void patch_jump_tables();
  void finish_frames();
  std::uint64_t deepest_stack() const;

  const ir::Module& module_;
  const ir::Function& function_;
  const VariableAddresses& variables_;
  const Level& level_;
  bool watched_, checked_;

  std::shared_ptr<Program> program_;
  RegisterFile file_;
  ir::ControlFlow flow_;
  std::vector<std::uint64_t> local_offsets_;  ///< of function variables, in their space
  std::vector<std::uint64_t> shared_offsets_; ///< of module variables
  std::vector<bool> meeting_;                 ///< blocks where the paths of a divergent branch reconverge
  std::vector<std::uint32_t> block_op_;       ///< first op of each block; the last entry is the end
  std::vector<std::uint32_t> block_counter_;  ///< of each block's first instruction (watched programs)
  struct Patch {
    std::size_t op;
    std::uint32_t target_block, meeting_block;
  };
  std::vector<Patch> patches_;
  struct JumpPatch {
    std::size_t op;
    std::vector<std::uint32_t> target_blocks;
    std::uint32_t meeting_block;
  };
  std::vector<JumpPatch> jump_patches_; ///< by jump table

  std::uint32_t part_ = 0;                            ///< of a linked kernel: the current one
  bool grows_ = false;                                ///< the depth of its stack is unknown
  std::vector<std::uint32_t> part_of_;                ///< by function of the module; kNone: not linked here
  std::vector<std::uint32_t> saved_begin_;            ///< by part: offset of the saved registers in its frame
  std::vector<std::vector<std::uint32_t>> called_by_; ///< the parts that each part calls
  std::map<std::uint32_t, std::vector<std::uint32_t>> live_after_calls_; ///< registers, by instruction
  mutable std::optional<ir::CallGraph> callees_;                         ///< created when the first function is named

  /// Shared accesses that the assembler would join: the access to report for each (0 bytes: none).
  struct Observed {
    std::uint16_t bytes;
    std::int64_t offset;
  };
  std::map<std::uint32_t, Observed> joined_;
  std::vector<bool> swap_updates_; ///< by instruction

  const ir::Instruction* current_ = nullptr;
  std::uint32_t current_index_ = 0;
  std::uint32_t guard_ = 0;     ///< row of its guard
  std::size_t main_op_ = kNoOp; ///< of the current instruction
  static constexpr std::size_t kNoOp = ~std::size_t{0};
  std::uint32_t charged_ = 0;     ///< instructions before this one are charged by a branch
  std::vector<Resizing> pending_; ///< destinations that must be widened into their registers
  Diagnostics diagnostics_;
};

} // namespace warplens::exec
