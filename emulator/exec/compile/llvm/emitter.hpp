// SPDX-License-Identifier: Apache-2.0
// Makes LLVM's form of a program's compiled code: one function with the code of all ops of a part. Where a warp
// leaves, the rows that were written and are still live go back to memory.
//
// The function of a pair does so for two warps, op by op, as long as both go the same way: while one waits for a
// result, the processor works on the other. Where they part, both leave.
#pragma once

#include "emulator/exec/compile/compiler.hpp"
#include "emulator/exec/compile/llvm/row_values.hpp"

namespace warplens::exec::compile {

class Emitter {
public:
  /// `warps`: 1, or 2 for a pair.
  /// `outcome` gets the tallies of its code.
  Emitter(const Program& program, const Region& region, const Shapes& shapes, const Part& part, Target& target,
          llvm::Module& module, CompileOutcome& outcome, unsigned warps = 1);
  /// Makes the part's function, and head_N, or pair_N, which enters it, for each head's op N.
  llvm::Function* run();

private:
  /// A warp for which there is code.
  struct Side {
    llvm::Value* warp = nullptr;
    llvm::Value* kept = nullptr;  ///< its Warp::left_for
    llvm::Value* ahead = nullptr; ///< what is left of its turn beyond that of the other; null: it is alone
    std::optional<RowValues> rows;
  };
  /// Calls it for each warp, which is then the one that code is made for.
  template <class F> void for_each_side(F&& f) {
    Side* const before = side_;
    for (Side& side : sides_) {
      turn_to(side);
      f(side);
    }
    turn_to(before != nullptr ? *before : sides_.front());
    side_ = before;
  }
  void turn_to(Side& side) {
    side_ = &side;
    warp_ = side.warp;
    rows_ = &*side.rows;
  }
  [[nodiscard]] bool is_pair() const { return sides_.size() > 1; }
  llvm::Value* real(std::uint32_t op);
  llvm::Value* guard(std::uint32_t op);
  llvm::Value* call_original(llvm::Value* op, llvm::Value* at);
  llvm::CallInst* call(llvm::StringRef name, llvm::ArrayRef<llvm::Value*> arguments);
  llvm::CallInst* call_far(llvm::StringRef name, llvm::ArrayRef<llvm::Value*> arguments);
  llvm::BasicBlock* block() { return llvm::BasicBlock::Create(b_.getContext(), "", body_); }

  // Entries and exits (entries.cpp)
  void enter();
  void enter_sides();
  void interpret_head();
  void forget_left_for();
  void enter_at(std::uint32_t head, llvm::BasicBlock* interpret);
  void check_shapes(std::uint32_t head, const Side& side, llvm::BasicBlock* right, llvm::BasicBlock* wrong);
  [[nodiscard]] bool keeps_rows(std::uint32_t op) const;
  void make_heads();
  /// Leaves for the interpreter, before `op`.
  llvm::BasicBlock* leave(std::uint32_t op);
  void keep_budget(const Side& side);
  void stop(llvm::Value* next);
  llvm::BasicBlock* stopped();
  /// Rows have the shapes that a leader expects.
  void arrive(std::uint32_t leader);

  // Rows in memory between blocks (in_memory.cpp)
  [[nodiscard]] bool in_memory() const { return part_.in_memory(); }
  void begin_block();
  void fetch_for_block(std::uint32_t op);
  void end_block(std::uint32_t op);
  void enter_in_memory(llvm::BasicBlock* interpret);
  void save_in_memory(std::uint32_t op);
  void store_sequences(const llvm::BitVector& rows);
  void arrive_in_memory(std::uint32_t leader);
  void fetch_from_memory(std::uint32_t row);
  void keep_in_memory(std::uint32_t row);
  llvm::Value* slot(std::uint32_t row, unsigned half);
  struct Fetch {
    std::optional<std::uint32_t> head; ///< where they are fetched; nothing: they are stored
    bool needs_all = false;            ///< SequenceTable::needs_all
  };
  llvm::Constant* sequences(const llvm::BitVector& rows, const RowShapes& shapes, Fetch fetch);
  llvm::Value* call_support(llvm::StringRef name, llvm::Type* result, llvm::ArrayRef<llvm::Value*> arguments);
  void finish_slots();

  // Ops
  void emit(std::uint32_t op);
  void emit_for_warp(std::uint32_t op, const Computed& computed);
  void lane(std::uint32_t op, const Computed& computed);
  llvm::SmallVector<llvm::Value*, 8> lane_firsts(std::uint32_t op, unsigned half);
  llvm::SmallVector<llvm::Value*, 8> lane_chunks(std::uint32_t op);
  void stays_in_range(std::uint32_t op, const Computed& computed);
  void parameter(std::uint32_t op, const Computed& computed);
  void predicate(std::uint32_t op, const Computed& computed);
  void copy(std::uint32_t op, const Computed& computed);
  void move_element(std::uint32_t op, const Computed& computed);
  void by_handler(std::uint32_t op, const Computed& computed);
  // … across the lanes of a warp (across.cpp)
  void across(std::uint32_t op, const Computed& computed);
  llvm::Value* acting_group(std::uint32_t op, bool has_membermask);
  llvm::SmallVector<llvm::Value*, 8> shuffled(std::uint32_t op, llvm::Value* acting);
  llvm::Value* permuted(llvm::ArrayRef<llvm::Value*> given, llvm::Value* from);
  llvm::Value* vote(std::uint32_t op, llvm::Value* acting);
  llvm::Value* reduced(std::uint32_t op, llvm::Value* acting);
  void jump(std::uint32_t op);
  void branch(std::uint32_t op);
  void rejoin(std::uint32_t op);
  // … of which one side runs under a mask (sides.cpp)
  struct MaskedSide {
    std::uint32_t branch = 0, meeting = 0;
    llvm::Value* lanes = nullptr; ///< those that run it
    RowValues::Lanes before;
    std::map<std::uint32_t, llvm::SmallVector<llvm::Value*, 8>> old; ///< the rows that it writes, for the other lanes
    llvm::BitVector at_home;            ///< rows in memory: those that are no sequences where other lanes go on
    std::uint32_t second = 0;           ///< where the other lanes run their side after this one; 0: they have none left
    llvm::BasicBlock* begins = nullptr; ///< of that side
    llvm::AllocaInst* looping = nullptr; ///< of a loop: the lanes that run it; `old` are variables
  };
  void branch_under_mask(std::uint32_t op);
  void count_way(std::uint32_t op, llvm::Value* taken);
  void count_partial_branch(std::uint32_t op, llvm::Value* taken);
  MaskedSide begin_side(std::uint32_t op, std::uint32_t begin, llvm::Value* lanes);
  void both_sides_under_masks(std::uint32_t op, llvm::Value* taken);
  void lead_in_side(std::uint32_t leader);
  void end_piece(std::uint32_t jump);
  void arrive_at_second(const MaskedSide& first);
  void end_first(const MaskedSide& side);
  [[nodiscard]] llvm::BitVector live_for_others(const MaskedSide& side) const;
  void keep_old_rows(std::uint32_t begin, MaskedSide& side);
  llvm::BitVector begin_side_in_memory(const MaskedSide& side);
  void arrive_and_meet(std::uint32_t op);
  void meet(std::uint32_t op);
  void merge(const MaskedSide& side);
  void set_active();
  void merge_all();
  void split_again();
  // … or of which some lanes leave a loop (loops.cpp)
  struct Loop {
    std::uint32_t head = 0, last = 0, meeting = 0, branch = 0;
  };
  [[nodiscard]] std::optional<Loop> loop_under_mask(std::uint32_t head) const;
  void lead_in_loop(std::uint32_t leader);
  void begin_loop(const Loop& loop);
  bool leaves_loop(std::uint32_t op) const;
  void branch_in_loop(std::uint32_t op);
  void end_loop();
  void meet_behind_loop(const MaskedSide& side);
  void leave_loop(llvm::Value* leaving, llvm::Value* staying);
  llvm::Value* left_after(std::uint32_t op);
  void spend(std::uint32_t op);
  void take(std::uint32_t op);
  /// The new values of the rows that an op defines: chunks of all, or first values (two of each row that is not whole).
  void define(std::uint32_t op, const Computed& computed, llvm::ArrayRef<llvm::Value*> values);

  struct Access;
  // What a watcher is told of (watched.cpp)
  void find_counters();
  void special(std::uint32_t op);
  void count_block(std::uint32_t block);
  std::uint32_t place_of_branch(std::uint32_t branch);
  void count_any_branch(std::uint32_t branch, llvm::Value* taken);
  void count_branch(std::uint32_t branch, llvm::Value* taken);
  void tell_reached(const Access& access, llvm::Value* base, llvm::Value* half);
  void tell_sequence(const Access& access, llvm::Value* base, llvm::Value* half);
  std::uint32_t place_of(Tally tally, std::uint32_t words);
  std::uint32_t place_of(const Access& access);
  llvm::Value* word(llvm::Value* place);
  llvm::Value* word(std::uint32_t place);
  void add_to(llvm::Value* place, llvm::Value* number);
  void rarely(llvm::Value* condition, llvm::BasicBlock* then, llvm::BasicBlock* otherwise);

  // Accesses (accesses.cpp)
  void memory(std::uint32_t op, bool loads, const Computed& computed);
  Access access(std::uint32_t op);
  void reach(Access& access);
  void access_warp(Access& access, bool loads, const Computed& computed);
  void access_rows(Access& access, bool loads, const Computed& computed);
  void load_sequence(const Access& access, const Computed& computed);
  llvm::Value* load_chunk(const Access& access, std::uint32_t chunk,
                          llvm::function_ref<llvm::Value*(std::uint32_t first, std::uint32_t count)> loaded);
  void store_chunk(const Access& access, std::uint32_t chunk, llvm::Value* values,
                   llvm::function_ref<void(llvm::Value* some, std::uint32_t first, std::uint32_t count)> stored);
  llvm::Value* elements_of(const Access& access, std::uint32_t chunk);
  void store_sequence(Access& access);
  /// For which accesses there is code.
  struct Ways {
    bool warp = false, any_lanes = false; ///< by all lanes; or by any of them, of one place
    bool one = false;                     ///< stores to one place
    bool masked = false;                  ///< by some of the lanes, at a sequence of addresses
    bool apart = false;                   ///< by lanes with an address each
  };
  [[nodiscard]] Ways ways_of(const Access& access, bool loads, const Computed& computed) const;
  void access_in(Ways ways, Access& access, bool loads, llvm::BasicBlock* rest, llvm::BasicBlock* done,
                 const Computed& computed);
  void deliver(const Access& access, const Computed& computed, llvm::ArrayRef<llvm::Value*> values, bool all);
  // … in a function that many accesses share (shared_accesses.cpp)
  [[nodiscard]] bool has_many_accesses() const;
  [[nodiscard]] bool is_counted(const Access& access, Ways ways) const;
  void call_access(Access& access, bool loads, Ways ways, const Computed& computed);
  llvm::Function* access_function(const Access& access, bool loads, Ways ways, const Computed& computed,
                                  llvm::ArrayRef<llvm::Value*> arguments);
  void handle(const Access& access, bool loads, const Computed& computed, llvm::Value* op, llvm::BasicBlock* stops);
  llvm::Value* row_of(const Access& access, std::size_t field);
  // … by some of the lanes, at a sequence of addresses (masked_accesses.cpp)
  [[nodiscard]] bool takes_masks(const Access& access) const;
  void access_masked(Access& access, bool loads, const Computed& computed);
  void load_masked(const Access& access, const Computed& computed);
  void store_masked(const Access& access);
  llvm::Value* mask_of(const Access& access, std::uint32_t lane, std::uint32_t count);
  [[nodiscard]] static bool stores_to_one(const Access& access, bool loads);
  void store_to_one(Access& access, llvm::BasicBlock* on);
  // … by lanes with an address each (lane_accesses.cpp)
  struct LaneAddresses {
    llvm::SmallVector<llvm::Value*, 4> chunks; ///< of addresses
    llvm::SmallVector<llvm::Value*, 4> places; ///< of the bytes, from …
    llvm::Value* origin = nullptr;             ///< … here
  };
  [[nodiscard]] bool takes_lanes_apart(const Access& access, bool loads, const Computed& computed) const;
  void access_lanes(Access& access, bool loads, const Computed& computed);
  LaneAddresses reach_lanes(Access& access);
  llvm::Value* address_chunk(const Access& access, std::uint32_t chunk);
  static llvm::Constant* lanes_from(std::uint32_t first, std::uint32_t count, llvm::Type* type);
  llvm::Value* places_of(const LaneAddresses& at, std::uint32_t lane, std::uint32_t count);
  void gather_lanes(const Access& access, const LaneAddresses& at, const Computed& computed);
  void make_variable(llvm::Value*& variable, llvm::Type* type, llvm::Align align);
  void make_room(llvm::Value*& variable);
  void tell_lanes(const Access& access, const LaneAddresses& at);
  void pass_lanes(const Access& access, const LaneAddresses& at, unsigned element);
  void pass_values(const Access& access, unsigned element);
  void store_lanes(const Access& access, const LaneAddresses& at);
  void atomic(std::uint32_t op, const Computed& computed);
  llvm::Constant* one_of(std::uint32_t lanes, unsigned distance);
  llvm::Value* place(const Access& access, std::uint32_t lane);
  llvm::Value* places(const Access& access, std::uint32_t lane, std::uint32_t count);

  const Program& program_;
  const Region& region_;
  const Shapes& shapes_;
  const Part& part_;
  const bool has_many_accesses_;
  Target& target_;
  llvm::Module& module_;
  CompileOutcome& outcome_;
  llvm::IRBuilder<> b_;
  llvm::Function* body_ = nullptr;
  llvm::Value *base_ = nullptr, *warp_ = nullptr, *entry_ = nullptr, *originals_ = nullptr, *budget_ = nullptr;
  llvm::Value *stored_places_ = nullptr, *stored_values_ = nullptr; ///< variables: host addresses, values
  llvm::Value *told_addresses_ = nullptr, *access_facts_ = nullptr; ///< likewise
  llvm::BasicBlock* stopped_ = nullptr;                             ///< a handler has ended the warp's turn
  /// Of a watched program: where it counts by itself, or null (Worker::tallies); the counters of blocks.
  llvm::Value *tallies_ = nullptr, *block_counters_ = nullptr;
  llvm::SmallVector<Side, 2> sides_;
  Side* side_ = nullptr;                      ///< the one that code is made for; null: all, or none
  RowValues* rows_ = nullptr;                 ///< its rows
  std::vector<llvm::BasicBlock*> blocks_;     ///< by op, of leaders
  llvm::AllocaInst* slots_ = nullptr;         ///< the first values of sequences, in memory
  std::map<std::uint32_t, unsigned> slot_of_; ///< by row
  llvm::BitVector here_, changed_;            ///< rows whose variables have their values; have newer ones than memory
  bool fetched_ = false;                      ///< the block has the rows that it reads
  std::vector<MaskedSide> masked_;            ///< in which code is being made, the outermost first
  /// Those whose code, or the rest of it, begins at a later op, and their lanes.
  std::map<std::uint32_t, std::pair<MaskedSide, RowValues::Lanes>> sides_at_;
  std::uint32_t loop_last_ = 0; ///< the last op of the loop that is the first of them
  std::map<std::uint32_t, llvm::BasicBlock*> leaving_;
};

} // namespace warplens::exec::compile
