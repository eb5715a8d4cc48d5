// SPDX-License-Identifier: Apache-2.0
// The interface between the emulator and libwarplens_compiler.so, which has LLVM and is opened when a kernel is
// compiled for the first time.
#pragma once

#include "emulator/exec/block/cta.hpp"
#include "emulator/exec/compile/meaning.hpp"

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace warplens::exec {

struct CompileRequest {
  const Program* program = nullptr;
  std::vector<OpMeaning> meanings; ///< by op
  std::string_view level;          ///< "x86-64-v4"
  /// Threads of the blocks for which the code is made; in others, warps stay in the interpreter.
  std::array<std::uint32_t, 3> block{};
  /// Functions of the emulator that compiled code calls, by name.
  std::vector<std::pair<const char*, void*>> functions;
  /// The machine code that an earlier compilation of the same content kept, in any process; `content` is all that the
  /// code depends on but the compiler itself.
  std::function<std::optional<std::string>(const std::string& content)> kept;
  std::function<void(const std::string& content, std::string_view code)> keep;
  std::string worker;          ///< the file of the program that makes machine code
  bool pairs_anyhow = false;   ///< code for two warps also where it is not faster
  bool divided_anyhow = false; ///< several parts also of small programs
};

struct CompileOutcome {
  struct Entry {
    std::uint32_t op = 0;
    Handler run = nullptr; ///< replaces its handler; valid until the process ends
  };
  std::vector<Entry> entries;
  struct PairEntry {
    std::uint32_t op = 0;
    PairHandler run = nullptr; ///< likewise
  };
  std::vector<PairEntry> pairs; ///< where two warps may begin their turns together
  /// How each op runs where warps are in compiled code.
  enum class How : std::uint8_t { never, compiled, handler, interpreter };
  std::vector<How> how;
  std::vector<Tally> tallies;
  std::uint32_t tally_words = 0;
  std::size_t bytes = 0; ///< of machine code
  bool was_kept = false;
  std::string problem; ///< why there is no code, if there should be
};

/// The function that the library exports as "warplens_compile". Thread-safe.
using CompileFunction = void (*)(const CompileRequest&, CompileOutcome&);
/// "warplens_stop_compiling": what is being compiled is not finished, and nothing is compiled after it.
using StopFunction = void (*)();

/// What the library exports as "warplens_compiler_layout": it must be of the same build as the emulator, whose data
/// compiled code reads.
constexpr std::uint64_t compiler_layout() {
  std::uint64_t mixed = 0;
  for (const std::size_t size : {sizeof(CompileRequest), sizeof(CompileOutcome), sizeof(OpMeaning), sizeof(Program),
                                 sizeof(MemorySite), sizeof(Warp), sizeof(Cta), sizeof(Worker), sizeof(LaunchShape)})
    mixed = (mixed ^ size) * 0x9e3779b97f4a7c15u;
  return mixed;
}

} // namespace warplens::exec
