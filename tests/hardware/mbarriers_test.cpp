// SPDX-License-Identifier: Apache-2.0
// How mbarriers count arrivals and bytes, compared with tests/data/hardware/mbarriers.txt, which ask/mbarriers.cpp
// recorded on an H200.
#include "emulator/exec/access/mbarrier.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

namespace warplens::tests {
namespace mbarriers_test {

using exec::Mbarrier;

// Here Warplens is stricter, as the manual is: more than 2^20 - 1 pending bytes, and an object that is invalid.
const std::set<std::string> kStricter = {
    "init 1 = 01; expect 1048575 = 01; expect 1 = 01; arrive = 01; complete 1048575 = 01; complete 1 = 10",
    "init 1 = 01; inval; arrive = 10"};

Mbarrier::Fault apply(std::uint64_t& bits, const std::string& operation, std::uint32_t n) {
  if (operation == "init") return Mbarrier::create(n, bits);
  Mbarrier object(bits);
  if (!object.exists()) return "none";
  Mbarrier::Fault fault = nullptr;
  if (operation == "arrive_expect" || operation == "expect") fault = object.expect(n);
  if (operation == "complete" || operation == "copy") fault = object.complete(n);
  if (operation == "drop") fault = object.drop(1);
  if (fault == nullptr && operation == "arrive_count") fault = object.arrive(n);
  if (fault == nullptr && (operation == "arrive" || operation == "arrive_expect" || operation == "drop"))
    fault = object.arrive(1);
  bits = operation == "inval" ? 0 : object.bits();
  return fault;
}

// "init 1 = 01; arrive = 10", or the same without the states, and a fault.
void replay(const std::string& line, bool fails) {
  std::istringstream text(line);
  std::uint64_t bits = 0;
  bool failed = false;
  for (std::string part; !failed && std::getline(text >> std::ws, part, ';');) {
    std::istringstream words(part);
    std::string operation, word, state;
    std::uint32_t n = 0;
    for (words >> operation; words >> word;) {
      if (word == "=")
        words >> state;
      else
        n = static_cast<std::uint32_t>(std::stoul(word));
    }
    failed = apply(bits, operation, n) != nullptr;
    if (!failed && !state.empty()) {
      EXPECT_EQ(Mbarrier(bits).odd_phase() ? "10" : "01", state) << part;
    }
  }
  EXPECT_EQ(failed, fails || kStricter.count(line) != 0);
}

TEST(Mbarriers, CountAsOnHardware) {
  std::ifstream file(WARPLENS_SOURCE_DIR "/tests/data/hardware/mbarriers.txt");
  int lines = 0;
  for (std::string line; std::getline(file, line);) {
    const std::size_t end = line.find(": ");
    if (line.starts_with("setmaxnreg") || line.ends_with("no end in 20 seconds")) continue;
    SCOPED_TRACE(line);
    replay(line.substr(0, end), end != std::string::npos);
    ++lines;
  }
  EXPECT_EQ(lines, 31);
}

} // namespace mbarriers_test
} // namespace warplens::tests
