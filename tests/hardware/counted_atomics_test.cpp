// SPDX-License-Identifier: Apache-2.0
// Requests, sectors and passes of atomics, as an H200 counts them: tests/data/hardware/counted_atomics.jsonl.
#include "analyzers/analyzers.hpp"
#include "tests/hardware/emulated.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>

namespace warplens {
namespace counted_atomics_test {

using nlohmann::json;

analyzers::Profile emulate(const json& asked) {
  tests::Emulated emulated(asked["ptx"], "atomics.ptx");
  tests::Emulated::Request request;
  request.kernel = "k";
  request.shape.block[0] = 32;
  for (const std::size_t words : {1024, 2048})
    request.arguments.push_back({emulated.buffer(std::vector<std::uint32_t>(words)), 8});
  analyzers::Analysis analysis(emulated.module(), *emulated.module().find("k"), request.shape);
  request.watcher = &analysis;
  EXPECT_EQ(emulated.run(request), "");
  emulated.free_buffers();
  return analysis.profile();
}

/// Some that the hardware has no instruction for: the compiler writes a loop around a compare-and-swap.
bool is_loop(const std::string& op) {
  return op.find("shared") != std::string::npos &&
         (op.find("u64") != std::string::npos || op.find("f32") != std::string::npos);
}

TEST(CountedAtomics, AreThoseOfTheHardware) {
  std::istringstream lines(tests::data_file("hardware/counted_atomics.jsonl"));
  std::string line;
  std::getline(lines, line); // the device
  int compared = 0;
  while (std::getline(lines, line)) {
    const json asked = json::parse(line);
    const std::string op = asked["op"];
    if (is_loop(op)) continue;
    SCOPED_TRACE(op + (asked["used"] ? ", used, " : ", ") + asked["where"].get<std::string>() + ", " +
                 asked["value"].get<std::string>());
    const analyzers::Profile profile = emulate(asked);
    const auto equal = [&](const std::string& name, std::uint64_t times = 1) {
      EXPECT_EQ(times * profile.integer(name), asked["counters"][name].get<std::uint64_t>()) << name;
      ++compared;
    };
    for (const char* kind : {"atom", "red"})
      for (const char* what : {"requests", "sectors"})
        equal(std::string("l1tex__t_") + what + "_pipe_lsu_mem_global_op_" + kind + ".sum");
    // The profiler counts the two phases of a compare-and-swap as two passes.
    if (op.find("shared") != std::string::npos)
      equal("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum", op.find("cas") != std::string::npos ? 2 : 1);
  }
  EXPECT_GE(compared, 1000);
}

} // namespace counted_atomics_test
} // namespace warplens
