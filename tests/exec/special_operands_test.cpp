// SPDX-License-Identifier: Apache-2.0
// Which operands of divisions, roots and reciprocals are reported as special: those for which an H200 takes longer
// (tests/data/hardware/special_operands_h200.csv).
#include "tests/exec/kernel_test.hpp"

#include <fstream>
#include <map>
#include <sstream>

namespace warplens::tests {
namespace special_operands_test {

/// The lanes with special operands, by instruction; `warps` counts the events.
class Listener final : public exec::Watcher {
public:
  struct Shard final : exec::Shard {
    explicit Shard(Listener& of) : listener(of) {}
    void special_operands(const exec::SpecialOperands& special) override {
      listener.lanes |= special.lanes;
      ++listener.warps;
    }
    Listener& listener;
  };
  std::unique_ptr<exec::Shard> make_shard() override { return std::make_unique<Shard>(*this); }
  void finish(std::vector<std::unique_ptr<exec::Shard>>, const std::vector<exec::InstructionCount>&) override {}
  exec::Mask lanes = 0;
  int warps = 0;
};

struct Case {
  std::uint64_t a, b;
  bool special;
};

/// By operation, as "div_f64"; the cycles of special operands are at least `kLonger` times those of others.
std::map<std::string, std::vector<Case>> measured() {
  constexpr double kLonger = 1.8;
  const std::map<std::string, double> usual = {{"div_f32", 69.6},  {"sqrt_f32", 75.4},  {"rcp_f32", 96.5},
                                               {"div_f64", 139.4}, {"sqrt_f64", 110.6}, {"rcp_f64", 90.6}};
  std::ifstream in(WARPLENS_SOURCE_DIR "/tests/data/hardware/special_operands_h200.csv");
  std::map<std::string, std::vector<Case>> result;
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::istringstream text(line);
    std::vector<std::string> cells;
    for (std::string cell; std::getline(text, cell, ',');) cells.push_back(cell);
    if (cells[3] != "1" || cells[4] != "32") continue;
    result[cells[0]].push_back({std::stoull(cells[1], nullptr, 16), std::stoull(cells[2], nullptr, 16),
                                std::stod(cells[5]) > kLonger * usual.at(cells[0])});
  }
  return result;
}

/// `operation` of operands in %a and %b, of 32 or 64 bits.
std::string kernel(const std::string& operation, const std::string& guard = "") {
  const bool wide = operation.ends_with("f64");
  const std::string type = wide ? "f64" : "f32", head = operation.substr(0, operation.find('_'));
  return ".version 8.3\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in)\n{\n"
         ".reg .b64 %l<6>; .reg ." +
         type +
         " %a, %b, %c; .reg .b32 %r<4>; .reg .pred %p;\n"
         "ld.param.u64 %l0, [in]; mov.u32 %r0, %tid.x; mul.wide.u32 %l1, %r0, 16; add.u64 %l0, %l0, %l1;\n"
         "setp.lt.u32 %p, %r0, 4;\n"
         "ld.global." +
         type + " %a, [%l0]; ld.global." + type + " %b, [%l0+8];\n" + guard + head + ".rn." + type + " %c, %a" +
         (head == "div" ? ", %b" : "") + ";\nst.global." + type + " [%l0], %c; ret;\n}\n";
}

Listener seen(const std::string& ptx, const std::vector<Case>& cases) {
  Emulated machine(ptx, "special.ptx");
  Emulated::Request request;
  Listener listener;
  request.kernel = "k";
  request.shape.block[0] = static_cast<std::uint32_t>(cases.size());
  request.watcher = &listener;
  std::vector<std::uint32_t> words;
  for (const Case& one : cases)
    for (const std::uint64_t operand : {one.a, one.b}) {
      words.push_back(static_cast<std::uint32_t>(operand));
      words.push_back(static_cast<std::uint32_t>(operand >> 32));
    }
  request.arguments = {{machine.buffer(words), 8}};
  EXPECT_EQ(machine.run(request), "");
  return listener;
}

TEST(SpecialOperands, AreThoseForWhichAGpuTakesLonger) {
  const auto all = measured();
  ASSERT_EQ(all.size(), 6u);
  for (const auto& [operation, cases] : all) {
    const std::string ptx = kernel(operation);
    for (std::size_t first = 0; first < cases.size(); first += exec::kWarpSize) {
      const std::vector<Case> some(cases.begin() + static_cast<std::ptrdiff_t>(first),
                                   cases.begin() +
                                       static_cast<std::ptrdiff_t>(std::min(first + exec::kWarpSize, cases.size())));
      const Listener listener = seen(ptx, some);
      for (std::size_t lane = 0; lane < some.size(); ++lane)
        EXPECT_EQ((listener.lanes >> lane & 1) != 0, some[lane].special)
            << operation << " of " << std::hex << some[lane].a << ", " << some[lane].b;
    }
  }
}

TEST(SpecialOperands, OfLanesThatTakePart) {
  const std::vector<Case> zeros(exec::kWarpSize, {0, 0x3ff0000000000000u, true});
  Listener listener = seen(kernel("div_f64", "@%p "), zeros);
  EXPECT_EQ(listener.lanes, 0xfu);
  EXPECT_EQ(listener.warps, 1);
  listener = seen(kernel("div_f64", "@!%p "), zeros);
  EXPECT_EQ(listener.lanes, ~0xfu);
  const std::vector<Case> usual(exec::kWarpSize, {0x3ff0000000000000u, 0x3ff0000000000000u, false});
  EXPECT_EQ(seen(kernel("div_f64"), usual).warps, 0);
}

} // namespace special_operands_test
} // namespace warplens::tests
