// SPDX-License-Identifier: Apache-2.0
// What a new user sees: the screen without arguments, the demo, explanations and the check of the installation.
#include "tests/tools/terminal.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <regex>
#include <set>

namespace warplens::testing {
namespace first_contact_test {

namespace fs = std::filesystem;
using Json = nlohmann::json;

void expect_parts(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts)
    EXPECT_NE(text.find(part), text.npos) << "'" << part << "' is not in:\n" << text;
}

void expect_refused(const std::vector<std::string>& words, const std::vector<std::string>& parts) {
  const Output o = run_program(words);
  EXPECT_EQ(o.status, 2) << o.err;
  expect_parts(o.err, parts);
}

TEST(FirstContact, ATerminalShowsWhatToTry) {
  const Output o = run_on_a_terminal({});
  EXPECT_EQ(o.status, 2);
  expect_parts(o.out, {"warplens demo", "warplens run FILE.cu", "warplens exec PROGRAM", "warplens --help"});
  EXPECT_LE(std::count(o.out.begin(), o.out.end(), '\n'), 10);
  const Output other = run_program({});
  EXPECT_EQ(other.status, 2);
  EXPECT_EQ(other.out, "");
  expect_parts(other.err, {"no command", "warplens --help lists the commands"});
}

TEST(FirstContact, HelpOfTheNewCommands) {
  const std::string all = run_program({"--help"}).out;
  for (const char* command : {"explain", "demo", "doctor"}) {
    const Output o = run_program({command, "--help"});
    EXPECT_EQ(o.status, 0) << o.err;
    expect_parts(o.out, {std::string("usage: warplens ") + command, "Examples:"});
    expect_parts(all, {std::string("\n  ") + command + " "});
  }
}

TEST(Demo, ShowsTheReportOfTheSample) {
  const Output o = run_program({"demo"});
  EXPECT_EQ(o.status, 0) << o.err;
  const std::string sample = run_program({"run", WARPLENS_SOURCE_DIR "/samples/vector_add"}).out;
  const std::string report = sample.substr(0, sample.rfind("c: as expected"));
  EXPECT_GT(report.size(), 500u);
  EXPECT_EQ(o.out.substr(0, report.size()), report);
  expect_parts(o.out,
               {"c: as expected", "Next steps:", "warplens demo --save", "warplens explain", "warplens run FILE.cu"});
  expect_parts(run_program({"demo", "--device", "h200"}).out, {"vector_add on NVIDIA H200"});
}

TEST(Demo, SavesFilesThatRun) {
  const Folder folder;
  const std::string saved = (folder.path() / "new/sample").string();
  const Output o = run_program({"demo", "--save", saved});
  EXPECT_EQ(o.status, 0) << o.err;
  expect_parts(o.out, {"warplens run " + saved});
  const Output run = run_program({"run", saved});
  EXPECT_EQ(run.status, 0) << run.err;
  expect_parts(run.out, {"c: as expected"});
  EXPECT_EQ(read_text(fs::path(saved) / "c.npy"), read_text(WARPLENS_SOURCE_DIR "/samples/vector_add/c.npy"));
  expect_refused({"demo", "--save", saved}, {"launch.toml' exists"});
}

TEST(Demo, BadUsage) {
  expect_refused({"demo", "--device", "c1061"}, {"c1061", "did you mean"});
  expect_refused({"demo", "k.ptx"}, {"unexpected argument 'k.ptx'"});
  expect_refused({"demo", "--what"}, {"--what"});
  expect_refused({"demo", "--save", "/dev/null/folder"}, {"--save: cannot create '/dev/null/folder'"});
}

TEST(Explain, EachKindOfName) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> table{
      {"gld_64b",
       {"gld_64b: a metric", "unit: ", "counted by: global_transactions", "CUDA Visual Profiler",
        "From docs/rules.md#global-memory-transactions", "half-warp is served separately"}},
      {"branch_with_7_active_lanes", {"branch_with_7_active_lanes: a metric", "family: branch_with_{}_active_lanes"}},
      {"smsp__thread_inst_executed_per_inst_executed.ratio",
       {"formula: smsp__thread_inst_executed.sum / smsp__inst_executed.sum", "ideal: 32", "Nsight Compute"}},
      {"smsp__inst_executed.sum", {"in nvprof: inst_executed"}},
      {"UncoalescedGlobalAccess", {"a finding", "at least 10 % of the sectors", "50 %", "remedies:", "* "}},
      {"SharedMemoryConflicts",
       {"at least 10 % of the passes", "pad the rows", "Paddings of rows of 64 to 1024 bytes are tried"}},
      {"ThreadDivergence", {"at least 10 % of the warps", "fewer than 24 of"}},
      {"1.2", {"1.2: a rule (transactions)", "source: CUDA Programming Guide 2.0", "devices: 9400m, c1060, gtx280"}},
      {"5.x+", {"5.x+: a rule (banks)", "From docs/rules.md#shared-memory-passes-over-the-banks"}},
      {"hong-kim",
       {"a model of the run time", "predicts: a time", "ISCA 2009", "resident_blocks", "c1060",
        "From docs/models.md#hong-kim", "Mem_cycles + Comp_cycles"}},
      {"karan-kumar", {"From docs/models.md#amaris-and-karan-kumar", "devices with its parameters: all"}},
      {"c1060",
       {"Tesla C1060: a device", "compute capability 1.3", "multiprocessors", "30",
        "CUDA C Programming Guide 2.0, appendix A", "dasgupta.delay_128", "table 10"}},
      {"Tesla C1060", {"Tesla C1060: a device"}},
      {"caches", {"caches: an analyzer", "in every analysis", "From docs/analyzers.md#caches-caches"}},
      {"reuse_distance", {"reuse_distance: an analyzer", "only with --analyzers reuse_distance"}},
      {"fma", {"fma: an instruction of PTX", "since PTX", "fma"}},
      {"ld.global.f32", {"ld: an instruction of PTX"}}};
  for (const auto& [name, parts] : table) {
    const Output o = run_program({"explain", name});
    EXPECT_EQ(o.status, 0) << o.err;
    expect_parts(o.out, parts);
    EXPECT_EQ(o.out.find("**"), o.out.npos) << o.out;
    EXPECT_EQ(o.out.find("]("), o.out.npos) << o.out;
  }
  EXPECT_EQ(run_program({"explain", "Tesla", "C1060"}).out, run_program({"explain", "c1060"}).out);
}

// The first word of each row of a list.
std::vector<std::string> listed(const std::string& topic) {
  std::vector<std::string> names;
  const std::string text = run_program({"list", topic}).out;
  static const std::regex row(R"(\n  (\S+)  )");
  for (std::sregex_iterator at(text.begin(), text.end(), row), end; at != end; ++at) names.push_back((*at)[1]);
  return names;
}

TEST(Explain, WhatTheListsName) {
  for (const char* topic : {"devices", "rules"}) {
    const std::vector<std::string> names = listed(topic);
    EXPECT_GT(names.size(), 5u) << topic;
    for (const std::string& name : names) EXPECT_EQ(run_program({"explain", name}).status, 0) << name;
  }
}

// All metrics of an analyzer have the same section.
TEST(Explain, TheFirstMetricOfEachAnalyzer) {
  const std::string declared = read_text(WARPLENS_SOURCE_DIR "/analyzers/metrics.def");
  static const std::regex metric(R"re(\n(?:METRIC|FAMILY)\((\w+), \w+, "([^"]+)")re");
  std::set<std::string> analyzers;
  for (std::sregex_iterator at(declared.begin(), declared.end(), metric), end; at != end; ++at) {
    if (!analyzers.insert((*at)[1]).second) continue;
    const Output o = run_program({"explain", (*at)[2]});
    EXPECT_EQ(o.status, 0) << o.err;
    expect_parts(o.out, {": a metric", "counted by: ", "From docs/"});
  }
  EXPECT_GT(analyzers.size(), 15u);
}

TEST(Explain, WithoutANameListsTheKinds) {
  const Output o = run_program({"explain"});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_EQ(o.out, run_program({"explain", "--help"}).out);
  expect_parts(o.out, {"a metric", "a finding", "a rule", "a model", "a device", "an analyzer", "an instruction"});
}

TEST(Explain, UnknownNames) {
  expect_refused({"explain", "gld_46b"}, {"nothing is named 'gld_46b'", "did you mean 'gld_"});
  expect_refused({"explain", "UncoalescedGlobalAcces"}, {"did you mean 'UncoalescedGlobalAccess'?"});
  expect_refused({"explain", "hong_kim"}, {"did you mean 'hong-kim'?"});
  expect_refused({"explain", "qqqqqqqqqqqq"}, {"nothing is named", "warplens explain lists"});
  expect_refused({"explain", ""}, {"nothing is named ''"});
  expect_refused({"explain", "."}, {"nothing is named '.'"});
}

/// The state of a check; empty: there is no such check.
std::string state_of(const Json& report, const std::string& name) {
  for (const Json& check : report["checks"])
    if (check["name"] == name) return check["state"];
  return "";
}

TEST(Doctor, TellsWhatIsThere) {
  const Output o = run_program({"doctor"});
  EXPECT_EQ(o.status, 0) << o.out << o.err;
  expect_parts(o.out, {"version", "processor level", "x86-64-v", "usable", "memory limit", "nvcc", "ptxas", "gnuplot",
                       "compiler of kernels", "compile cache", "libraries of exec", "libcuda.so.1",
                       "Everything that is needed works."});
  const Output json = run_program({"doctor", "--json"});
  EXPECT_EQ(json.status, 0);
  const Json report = Json::parse(json.out);
  EXPECT_EQ(report["works"], true);
  for (const char* name : {"version", "emulation", "libcuda.so.1", "libcudart.so.12", "libwarplens_static.so"})
    EXPECT_EQ(state_of(report, name), "ok") << name;
}

TEST(Doctor, KnowsTheEnvironmentVariables) {
  const std::string header = read_text(WARPLENS_SOURCE_DIR "/api/session/environment.def");
  static const std::regex constant("\"(WARPLENS_[A-Z0-9_]+)\"");
  std::vector<std::string> names;
  for (std::sregex_iterator at(header.begin(), header.end(), constant), end; at != end; ++at) names.push_back((*at)[1]);
  ASSERT_GT(names.size(), 10u);
  for (const std::string& name : names) {
    const std::string value = name == "WARPLENS_DEVICE" ? "t4" : name == "WARPLENS_LIMITS" ? "call-targets=7" : "1";
    ASSERT_EQ(setenv(name.c_str(), value.c_str(), 1), 0);
  }
  const Json told = Json::parse(run_program({"doctor", "--json"}).out);
  for (const std::string& name : names) {
    unsetenv(name.c_str());
    EXPECT_EQ(state_of(told, name), "ok") << name;
  }
  setenv("WARPLENS_DEVISE", "t4", 1);
  const Output o = run_program({"doctor"});
  unsetenv("WARPLENS_DEVISE");
  EXPECT_EQ(o.status, 0);
  expect_parts(o.out, {"WARPLENS_DEVISE", "does not know this variable"});
}

TEST(Doctor, FailsIfSomethingIsBroken) {
  setenv("WARPLENS_DEVICE", "c1061", 1);
  const Output o = run_program({"doctor"});
  unsetenv("WARPLENS_DEVICE");
  EXPECT_EQ(o.status, 1);
  expect_parts(o.out, {"broken", "WARPLENS_DEVICE", "Something is broken"});
  const Folder folder;
  setenv("WARPLENS_CACHE", folder.write("file", "").c_str(), 1);
  const Output cache = run_program({"doctor", "--json"}); // less works, but nothing is wrong
  unsetenv("WARPLENS_CACHE");
  EXPECT_EQ(cache.status, 0);
  EXPECT_EQ(state_of(Json::parse(cache.out), "compile cache"), "missing");
}

TEST(Doctor, LibrariesThatDoNotLoad) {
  const Folder folder; // an installation of its own
  fs::create_directories(folder.path() / "bin");
  fs::create_directories(folder.path() / "lib/cuda");
  fs::copy_file(WARPLENS_PROGRAM, folder.path() / "bin/warplens");
  const auto doctor = [&] {
    const std::string out = (folder.path() / "out").string();
    const int status =
        std::system(("'" + (folder.path() / "bin/warplens").string() + "' doctor >'" + out + "'").c_str());
    return Output{WEXITSTATUS(status), read_text(out), ""};
  };
  const Output none = doctor();
  EXPECT_EQ(none.status, 1);
  expect_parts(none.out, {"neither in", "warplens/cuda"});
  std::ofstream(folder.path() / "lib/cuda/libcuda.so.1") << std::string(1000, 'x');
  const Output bad = doctor();
  EXPECT_EQ(bad.status, 1);
  expect_parts(bad.out, {"libcuda.so.1", "invalid ELF header"});
}

TEST(Doctor, BadUsage) {
  expect_refused({"doctor", "--what"}, {"--what"});
  expect_refused({"doctor", "more"}, {"unexpected argument 'more'"});
}

} // namespace first_contact_test
} // namespace warplens::testing
