// A small machine that runs straight-line PTX statements through the lane handlers, without parser, decoder or grid:
//
//   LaneMachine machine(exec::levels()[0]);
//   machine.set("%r1", lanes);  machine.run("add.u32 %r0, %r1, 5");  machine.get("%r0")
//
// Registers are named as in tests/data/hardware: %h 16 bits, %r and %f 32, %l and %d 64, %p a predicate.
#pragma once

#include "emulator/exec/levels.hpp"
#include "emulator/exec/warp.hpp"

#include <array>
#include <map>
#include <string>
#include <string_view>

namespace warplens::exec {

using LaneValues = std::array<std::uint64_t, kWarpSize>;

class LaneMachine {
public:
  explicit LaneMachine(const Level& level);
  ~LaneMachine();
  LaneMachine(const LaneMachine&) = delete;
  LaneMachine& operator=(const LaneMachine&) = delete;

  void set(const std::string& name, const LaneValues& values);
  [[nodiscard]] LaneValues get(const std::string& name);
  void activate(Mask mask);

  /// Runs one statement without its semicolon. An empty string, or why it cannot be run here.
  std::string run(std::string_view statement);

private:
  std::uint32_t offset_of(const std::string& name);
  std::uint32_t fresh_row();
  std::uint32_t constant(const std::string& text, isa::Type type);
  std::uint32_t narrowed_source(std::uint32_t row, int from, int to);
  void widen_destination(std::uint32_t exact, isa::Type type, std::uint32_t destination, int bytes);

  const Level& level_;
  Warp* warp_;
  std::uint32_t next_row_;
  std::uint32_t always_;
  std::uint32_t carry_;
  std::map<std::string, std::uint32_t> registers_;
};

} // namespace warplens::exec
