// SPDX-License-Identifier: Apache-2.0
// `warplens exec --tool racecheck` on the programs of tests/data/faults: all planted races are found, those between
// operations of the host with their kernels and lines.
#include "tests/tools/fault_programs.hpp"

namespace warplens::testing {
namespace race_programs_test {

bool is_race(const FaultJson& message) {
  const std::string kind = message["kind"];
  return kind == "raw" || kind == "war" || kind == "waw";
}

/// Whether one side of the race is in that line of a kernel; the compiler gives some volatile loads no line.
bool has_side(const FaultJson& message, const std::string& kernel, int line) {
  for (const char* side : {"at", "other"}) {
    if (!message.contains(side) || message[side].value("kernel", "") != kernel) continue;
    for (const FaultJson& frame : message[side]["frames"])
      if (frame["line"] == line || frame["line"] == 0) return true;
  }
  return false;
}

/// The host itself accesses single bytes, and copies their runs within a line of the shadow.
bool is_found(const FaultJson& one, const std::vector<FaultJson>& messages) {
  const FaultJson& expect = one["expect"];
  return std::any_of(messages.begin(), messages.end(), [&](const FaultJson& m) {
    if (!is_race(m)) return false;
    const bool at = !expect.contains("line") || has_side(m, expect["kernel"], expect["line"]);
    const bool other = !expect.contains("other_kernel") || has_side(m, expect["other_kernel"], expect["other_line"]);
    return at && other && (one["source"] != "host.cu" || m["kind"] == expect["kind"]);
  });
}

TEST(RacePrograms, RacecheckFindsAll) {
  std::size_t faulty = 0;
  for (const FaultJson& one : fault_cases("racecheck")) {
    if (!one.contains("expect")) continue;
    ++faulty;
    CheckedRun run = check_program(one, "racecheck");
    if (!is_found(one, run.messages)) run = check_program(one, "racecheck", {"--schedule-seed", "1"});
    EXPECT_TRUE(is_found(one, run.messages)) << one["id"] << ": " << one["what"] << "\n" << run.output.err;
    EXPECT_NE(run.output.status, 0) << one["id"];
  }
  EXPECT_EQ(faulty, 102u);
}

FaultJson the_race(const std::string& id) {
  for (const FaultJson& one : fault_cases("racecheck"))
    if (one["id"] == id) return one;
  ADD_FAILURE() << id;
  return {};
}

TEST(RacePrograms, StoresOfTheSameValueCanBeLeftOut) {
  const FaultJson one = the_race("global_blocks_same_value");
  EXPECT_EQ(check_program(one, "racecheck").messages.size(), 1u);
  EXPECT_TRUE(check_program(one, "racecheck", {"--ignore-same-values"}).messages.empty());
  EXPECT_EQ(check_program(the_race("global_blocks_two_writers"), "racecheck", {"--ignore-same-values"}).messages.size(),
            1u);
}

TEST(RacePrograms, AMessageNamesBothOperationsOfTheHost) {
  const CheckedRun fill = check_program(the_race("fill_in_another_stream"), "racecheck");
  EXPECT_NE(fill.output.err.find("the first access is that of cuMemsetD8Async"), fill.output.err.npos)
      << fill.output.err;
  const CheckedRun host = check_program(the_race("host_reuses_copy_buffer"), "racecheck");
  EXPECT_NE(host.output.err.find("the second access is that of the program itself"), host.output.err.npos)
      << host.output.err;
}

// Pages that the program registers belong to it alone if it registers them as a whole.
TEST(RacePrograms, AccessesOfTheProgramToRegisteredMemoryAreSeen) {
  FaultJson one = the_race("host_writes_input_of_running_kernel");
  const auto found = [&](const char* memory, std::vector<std::string> last) {
    one["steps"] = {"nonblocking s", memory, "iota h 32",
                    "alloc b 128",   "sync", "launch double_late 1 32 h b u32:2000 stream=s"};
    for (const std::string& step : last) one["steps"].push_back(step);
    return check_program(one, "racecheck").messages;
  };
  const std::vector<FaultJson> messages = found("register h 8192", {"poke h 3 99", "sync"});
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0]["kind"], "war");
  EXPECT_TRUE(found("register h 8192", {"sync", "poke h 3 99", "sync"}).empty());
  EXPECT_TRUE(found("register h 8192", {"poke h 1050 99", "sync"}).empty()) << "another page";
}

// The kernel stops at a store to nowhere. Calls that fail because of this tell the program that nothing runs any more.
TEST(RacePrograms, AProgramThatKnowsOfAFaultMayUseItsMemory) {
  FaultJson one = the_race("host_writes_input_of_running_kernel");
  const auto found = [&](std::vector<std::string> last) {
    one["steps"] = {"nonblocking s", "register h 8192", "iota h 32", "sync",
                    "launch double_late 1 32 h u64:4096 u32:2000 stream=s"};
    for (const std::string& step : last) one["steps"].push_back(step);
    return check_program(one, "racecheck").messages;
  };
  const auto is_of_race = [](const std::vector<FaultJson>& all) {
    return std::any_of(all.begin(), all.end(), is_race);
  };
  EXPECT_TRUE(is_of_race(found({"poke h 3 99", "sync"})));
  EXPECT_FALSE(is_of_race(found({"sync", "poke h 3 99", "sync"})));
}

/// The messages about a program of another tool's class, with these steps.
std::vector<FaultJson> races_of(const std::string& id, const std::vector<std::string>& steps) {
  for (FaultJson one : fault_cases(""))
    if (one["id"] == id) {
      one["steps"] = steps;
      return check_program(one, "racecheck").messages;
    }
  ADD_FAILURE() << id;
  return {};
}

// The kernels store their own number, or the texel of that number.
TEST(RacePrograms, TexturesAndSurfacesAreGlobalMemory) {
  const auto surface = [](const std::string& grid) {
    return races_of("forged_surface", {"surface t 32", "launch forged_surface " + grid + " 32 t", "sync"});
  };
  EXPECT_TRUE(surface("1").empty());
  const std::vector<FaultJson> stores = surface("2");
  ASSERT_EQ(stores.size(), 1u);
  EXPECT_EQ(stores[0]["kind"], "waw");
  const auto texture = [](const std::string& to) {
    return races_of("texture_not_written", {"alloc a 128", "iota a 32", "alloc b 128", "texture t a 32",
                                            "launch texture_not_written 2 16 t " + to, "sync"});
  };
  const std::vector<FaultJson> fetches = texture("a");
  EXPECT_TRUE(std::any_of(fetches.begin(), fetches.end(),
                          [](const FaultJson& m) { return m["kind"] == "raw" || m["kind"] == "war"; }));
  const std::vector<FaultJson> apart = texture("b"); // both blocks store the same to b
  EXPECT_TRUE(std::all_of(apart.begin(), apart.end(), [](const FaultJson& m) { return m["kind"] == "waw"; }));
}

TEST(RacePrograms, AMessageNamesTheThreadsOfAnEarlierLaunch) {
  const CheckedRun run = check_program(the_race("host_waits_for_wrong_stream"), "racecheck");
  ASSERT_EQ(run.messages.size(), 1u);
  EXPECT_EQ(run.messages[0]["other"]["thread"], "(3,0,0)"); // the program reads h[3]
  EXPECT_EQ(run.messages[0]["other"]["kernel"], "count_down");
}

TEST(RacePrograms, MessagesAreTheSameInEachRun) {
  for (const char* id : {"shared_reduction_no_barrier", "graph_launched_twice", "lock_no_acquire"}) {
    const std::vector<FaultJson> first = check_program(the_race(id), "racecheck").messages;
    EXPECT_EQ(check_program(the_race(id), "racecheck").messages, first) << id;
  }
}

} // namespace race_programs_test
} // namespace warplens::testing
