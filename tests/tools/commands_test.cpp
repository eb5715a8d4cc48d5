// SPDX-License-Identifier: Apache-2.0
#include "tests/tools/program.hpp"

#include <nlohmann/json.hpp>

#include <regex>
#include <set>

namespace warplens::testing {
namespace commands_test {

using Json = nlohmann::json;

const std::string kSamples = WARPLENS_SOURCE_DIR "/samples/";

void expect_parts(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts)
    EXPECT_NE(text.find(part), text.npos) << "'" << part << "' is not in:\n" << text;
}

std::set<std::string> keys(const Json& object) {
  std::set<std::string> result;
  for (const auto& [key, value] : object.items()) result.insert(key);
  return result;
}

TEST(Commands, HelpAndVersion) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{{"--help"},
                                                                                     {"run", "--help"},
                                                                                     {"exec", "--help"},
                                                                                     {"check", "--help"},
                                                                                     {"occupancy", "--help"},
                                                                                     {"list", "--help"}}) {
    const Output o = run_program(words);
    EXPECT_EQ(o.status, 0);
    expect_parts(o.out, {"usage: warplens", "Examples:"});
    EXPECT_EQ(o.err, "");
  }
  EXPECT_TRUE(std::regex_match(run_program({"--version"}).out, std::regex("warplens \\d+\\.\\d+\\.\\d+\n")));
}

// README.md shows what ./dev demo prints; the last line names the file relative to where the demo runs.
TEST(Commands, ReadmeShowsTheReportOfTheDemo) {
  const std::string readme = read_text(WARPLENS_SOURCE_DIR "/README.md");
  const Output o = run_program({"run", WARPLENS_SOURCE_DIR "/samples/vector_add/launch.toml"});
  EXPECT_EQ(o.status, 0) << o.err;
  const std::string report = o.out.substr(0, o.out.rfind("c: as expected"));
  EXPECT_GT(report.size(), 500u);
  EXPECT_NE(readme.find(report), std::string::npos) << "put this into README.md:\n" << o.out;
}

TEST(Commands, SampleReportNamesNumbersUnitsAndAdvice) {
  const Output o = run_program({"run", kSamples + "transpose/launch.toml", "--details", "all"});
  EXPECT_EQ(o.status, 0) << o.err;
  expect_parts(o.out, {"transpose_1d on NVIDIA H200 (compute capability 9.0)", "80 blocks of 256 threads, 640 warps",
                       "stores       640    20480           2560               32",
                       "UncoalescedGlobalAccess, transpose.cu:9", "neighbouring threads are 512 bytes apart",
                       "SharedMemoryConflicts", "advice: pad the rows", "out_padded: as expected"});
  EXPECT_EQ(o.out.find('\033'), o.out.npos) << "colour where there is no terminal";
  EXPECT_EQ(o.err, "") << "progress where there is no terminal";
}

TEST(Commands, SamplesOfAsynchronousCopiesAndClusters) {
  const Output copies = run_program({"run", kSamples + "async_copy", "--details", "memory"});
  EXPECT_EQ(copies.status, 0) << copies.err;
  // 21 rows, 8 warps, twice.
  const std::string loads = "loads        168     2688           2688               16     16  100.0%";
  EXPECT_NE(copies.out.find(loads), copies.out.rfind(loads));
  expect_parts(copies.out, {loads, "stores       168", "by_threads: as expected", "in_bulk: as expected"});
  const std::string histogram = kSamples + "cluster_histogram/launch.toml";
  const Output o = run_program({"run", histogram, "--details", "memory"});
  EXPECT_EQ(o.status, 0) << o.err;
  expect_parts(o.out, {"8 blocks in clusters of 4 of 128 threads", "atomics       625", "histogram: as expected"});
  const Output eight = run_program({"run", histogram, "--cluster", "8", "--set", "shared=512"});
  EXPECT_EQ(eight.status, 0) << eight.err;
  expect_parts(eight.out, {"in clusters of 8", "histogram: as expected"});
}

TEST(Commands, PredictionsOnTheDeviceOfThePaper) {
  const Output o = run_program(
      {"run", kSamples + "vector_add/launch.toml", "--device", "Tesla C1060", "--details", "memory,speed-of-light"});
  EXPECT_EQ(o.status, 0) << o.err;
  expect_parts(o.out, {"Tesla C1060 (compute capability 1.3)", "loads       1252          2502        0     2502",
                       "dasgupta: ", "hong-kim: ", "MWP ", "CWP ", "c: as expected"});
}

TEST(Commands, FindingsInTheTermsOfTheDevice) {
  const auto findings = [](const char* device) {
    const std::string out =
        run_program({"run", kSamples + "transpose/launch.toml", "--device", device, "--details", "findings"}).out;
    return out.substr(std::min(out.find("Findings: by kind"), out.size()));
  };
  const std::string gt200 = findings("c1060");
  expect_parts(gt200, {"bytes per request in", "the 16 banks, half-warp by half-warp", "PTX lines "});
  EXPECT_EQ(gt200.find("sectors"), gt200.npos);
  expect_parts(findings("8800gt"), {"uncoalesced: one transaction for each thread"});
  expect_parts(findings("h200"), {"sectors per request", "passes over the banks"});
}

TEST(Commands, ToolsSayThatNoKernelMatches) {
  Output o = run_program({"run", kSamples + "vector_add", "--tool", "memcheck", "--kernel-name", "nosuch"});
  EXPECT_EQ(o.status, 0);
  expect_parts(o.err, {"--kernel-name: no kernel matches 'nosuch'; the launches are of 'vector_add'"});
  o = run_program({"run", kSamples + "vector_add", "--tool", "memcheck", "--kernel-name", "^vector"});
  EXPECT_EQ(o.err.find("--kernel-name"), o.err.npos);
  o = run_program({"run", kSamples + "vector_add", "--kernel-name", "^vector"}); // selects nothing
  EXPECT_EQ(o.status, 2);
  expect_parts(o.err, {"--kernel-name needs --tool"});
}

/// Whatever a report says of a launch: the first screen and all sections.
TEST(Commands, ReportsOfOldDevicesHaveNoSectors) {
  for (const char* device : {"c1060", "8800gt"}) {
    const std::string out = run_program({"run", kSamples + "transpose/launch.toml", "--device", device, "--show", "all",
                                         "--details", "all"})
                                .out;
    expect_parts(out, {"transactions"});
    EXPECT_EQ(out.find("sector"), out.npos) << device << "\n" << out;
  }
}

TEST(Commands, JsonHasTheKeysOfTheSchema) {
  const Output o = run_program({"run", kSamples + "vector_add/launch.toml", "--json", "-"});
  ASSERT_EQ(o.status, 0) << o.err;
  const Json report = Json::parse(o.out);
  EXPECT_EQ(keys(report), (std::set<std::string>{"warplens", "schema", "device", "launches", "summary"}));
  const Json& launch = report["launches"].at(0);
  EXPECT_EQ(keys(launch), (std::set<std::string>{"kernel", "grid", "block", "blocks", "cluster", "launched_by",
                                                 "printed", "metrics", "device_costs", "instructions", "occupancy",
                                                 "statistics", "predictions", "speedup_model", "findings"}));
  EXPECT_EQ(launch["metrics"]["gld_request"], 1252);
  EXPECT_EQ(launch["metrics"]["gld_64b"], 2502);
  EXPECT_EQ(launch["grid"], Json({79, 1, 1}));
  EXPECT_EQ(launch["predictions"].size(), 5u);
  // The schema is documentation that must not fall behind: its keys are those of the report.
  const Json schema = Json::parse(read_text(WARPLENS_SOURCE_DIR "/docs/json-schema.json"));
  std::set<std::string> of_schema = keys(schema["properties"]);
  EXPECT_EQ(of_schema.erase("timeline"), 1u); // only of exec
  EXPECT_EQ(of_schema, keys(report));
  EXPECT_EQ(keys(schema["properties"]["device"]["properties"]), keys(report["device"]));
  EXPECT_EQ(keys(schema["$defs"]["kernel"]["properties"]), keys(report["summary"].at(0)));
  std::set<std::string> of_launch = keys(schema["$defs"]["launch"]["properties"]);
  EXPECT_EQ(of_launch.erase("same_as"), 1u);  // only with --json-fold
  EXPECT_EQ(of_launch.erase("sampling"), 1u); // only with --sample
  EXPECT_EQ(of_launch.erase("order_of_results"), 1u);
  EXPECT_EQ(of_launch, keys(launch));
  EXPECT_EQ(keys(schema["$defs"]["occupancy"]["properties"]), keys(launch["occupancy"]));
  EXPECT_EQ(keys(schema["$defs"]["prediction"]["properties"]), keys(launch["predictions"].at(0)));
  for (const auto& key : {"line", "ptx", "source"}) {
    EXPECT_TRUE(schema["$defs"]["instruction"]["properties"].contains(key));
    EXPECT_TRUE(launch["instructions"].at(0).contains(key));
  }
  const Json findings =
      Json::parse(run_program({"run", kSamples + "transpose/launch.toml", "--json", "-"}).out)["launches"].at(
          0)["findings"];
  EXPECT_EQ(keys(schema["$defs"]["finding"]["properties"]), keys(findings.at(0)));
}

/// The declaration of a metric in the schema, or null.
Json declared(const Json& schema, const std::string& name) {
  const Json& metrics = schema["$defs"]["metrics"];
  if (metrics["properties"].contains(name)) return metrics["properties"][name];
  for (const auto& [pattern, property] : metrics["patternProperties"].items())
    if (std::regex_match(name, std::regex(pattern))) return property;
  return nullptr;
}

TEST(Commands, JsonHasTheMetricsOfTheSchema) {
  const Json schema = Json::parse(read_text(WARPLENS_SOURCE_DIR "/docs/json-schema.json"));
  std::size_t seen = 0;
  for (const char* sample : {"transpose/launch.toml", "partitioning/launch.toml", "texture_blur/launch.toml"})
    for (const char* device : {"c1060", "8800gtx", "gtx480", "h200"}) {
      const Output o = run_program({"run", kSamples + sample, "--device", device, "--analyzers", "all", "--rule", "1.0",
                                    "--rule", "2.x-l1", "--rule", "1.x", "--json", "-"});
      ASSERT_EQ(o.status, 0) << o.err;
      const Json report = Json::parse(o.out);
      for (const Json& launch : report["launches"])
        for (const auto& [name, value] : launch["metrics"].items()) {
          const Json property = declared(schema, name);
          ASSERT_FALSE(property.is_null()) << name;
          EXPECT_EQ(property["type"] == "integer", value.is_number_unsigned()) << name << " = " << value;
          ++seen;
        }
    }
  EXPECT_GT(seen, 1000u);
}

TEST(Commands, JsonDoesNotDependOnThreads) {
  for (const char* sample : {"transpose/launch.toml", "saxpy/launch.toml"}) {
    const Output one = run_program({"run", kSamples + sample, "--json", "-", "--threads", "1"});
    const Output two = run_program({"run", kSamples + sample, "--json", "-", "--threads", "2"});
    ASSERT_EQ(one.status, 0);
    EXPECT_FALSE(one.out.empty());
    EXPECT_EQ(one.out, two.out);
  }
}

TEST(Commands, TrapIsAFindingOfTheJsonReport) {
  const Folder folder;
  const std::string json = (folder.path() / "r.json").string();
  const Output o =
      run_program({"run", kSamples + "saxpy/launch.toml", "--set", "buffer.x.count=20000", "--json", json});
  EXPECT_EQ(o.status, 1);
  expect_parts(o.err, {"saxpy.ptx:56:", "allocation 'x' (80000 bytes"});
  const Json launch = Json::parse(read_text(json))["launches"].at(0);
  EXPECT_EQ(launch["findings"].at(0)["rule"], "Trap");
  EXPECT_EQ(launch["occupancy"], nullptr);
}

TEST(Commands, ExpectationsThatFail) {
  const Output o = run_program({"run", kSamples + "saxpy/launch.toml", "--set", "arg.1.f32=3.0"});
  EXPECT_EQ(o.status, 1);
  expect_parts(o.err, {"buffer 'y' does not match", "20010 of 20011 elements differ; first [1]: expected 3, got 4"});
}

TEST(Commands, OverridesAndSavedBuffers) {
  const Folder folder;
  const std::string out = (folder.path() / "y.npy").string();
  const Output o =
      run_program({"run", kSamples + "saxpy/launch.toml", "--set", "buffer.y.save=" + out, "--no-analyze", "--time"});
  EXPECT_EQ(o.status, 0) << o.err;
  expect_parts(o.err, {"G thread-instructions/s"});
  EXPECT_EQ(read_text(out), read_text(kSamples + "saxpy/y.npy"));
  const Output several = run_program({"run", kSamples + "transpose/launch.toml", "--grid", "1"});
  EXPECT_EQ(several.status, 2);
  expect_parts(several.err, {"--grid needs a launch file with one launch, this one has 4"});
}

TEST(Commands, LevelsAgree) {
  const std::string wanted = run_program({"run", kSamples + "saxpy/launch.toml", "--json", "-"}).out;
  int levels = 0; // the program has those that it was built with and that the processor supports
  for (const char* level : {"portable", "x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    const Output o = run_program({"run", kSamples + "saxpy/launch.toml", "--json", "-", "--level", level});
    if (o.status == 2) continue;
    EXPECT_EQ(o.out, wanted) << level;
    ++levels;
  }
  EXPECT_GE(levels, 1);
}

TEST(Commands, Check) {
  const Output o = run_program({"check", kSamples + "transpose/transpose.ptx", kSamples + "saxpy/saxpy.ptx"});
  EXPECT_EQ(o.status, 0) << o.err;
  expect_parts(o.out, {"transpose.ptx: PTX ", "4 kernels", "transpose_shared(", "4096 bytes of shared memory per block",
                       "registers per thread (estimated)", "1 kernel"});
}

TEST(Commands, CheckGoesOnAfterABadFile) {
  const Output o = run_program({"check", "/nowhere/k.ptx", kSamples + "saxpy/saxpy.ptx"});
  EXPECT_EQ(o.status, 2);
  expect_parts(o.err, {"cannot read '/nowhere/k.ptx'"});
  expect_parts(o.out, {"_Z5saxpyifPKfPf("});
}

TEST(Commands, Occupancy) {
  // NVIDIA's own example: 512 threads, 17 registers, compute capability 1.2.
  const Output o = run_program({"occupancy", "--cc", "1.2", "--block", "512", "--regs", "17"});
  EXPECT_EQ(o.status, 0) << o.err;
  expect_parts(o.out, {"occupancy 50 %: 1 block and 16 of 32 warps", "17 per thread"});
  EXPECT_TRUE(std::regex_search(o.out, std::regex("registers .* 1 +<- limit")));
}

TEST(Commands, Lists) {
  for (const auto& [topic, part] :
       {std::pair{"devices", "Tesla C1060"}, std::pair{"rules", "32-byte sectors"},
        std::pair{"analyzers", "gld_incoherent"}, std::pair{"models", "Hong"}, std::pair{"instructions", "fma"}}) {
    const Output o = run_program({"list", topic});
    EXPECT_EQ(o.status, 0);
    expect_parts(o.out, {part});
  }
}

TEST(Commands, ARuleOfOnesOwn) {
  const Folder folder;
  const std::string rule = folder.write("mine.toml", "rule = \"coalescing\"\nname = \"mine\"\ntitle = \"whole warps\"\n"
                                                     "order = \"any\"\nshrink = true\nsmallest = 32\n"
                                                     "[[word]]\nbytes = 4\nlanes = 32\nsegment = 64\n");
  const std::string launch = kSamples + "vector_add/launch.toml";
  const Json own = Json::parse(run_program({"run", launch, "--rule", rule, "--rule", "5.x+", "--json", "-"}).out);
  const Json& metrics = own["launches"].at(0)["metrics"];
  EXPECT_EQ(metrics["rule.mine.ld_requests"], metrics["gld_request"]);
  EXPECT_EQ(metrics["rule.mine.ld_64b"], metrics["gld_64b"]); // 128 bytes of a warp are two segments, as of half-warps
  EXPECT_EQ(metrics["rule.5.x+.passes"], 0);
  // What is asked for comes on top: all else is as it was.
  Json without = Json::parse(run_program({"run", launch, "--json", "-"}).out);
  for (const auto& [name, value] : metrics.items())
    if (!name.starts_with("rule.")) {
      EXPECT_EQ(without["launches"].at(0)["metrics"][name], value) << name;
    }
  const Output text = run_program({"run", launch, "--rule", rule, "--details", "memory"});
  EXPECT_EQ(text.status, 0) << text.err;
  expect_parts(text.out, {"Global memory under rule mine: whole warps"});
}

TEST(Commands, CountersOfEachBlock) {
  const std::vector<std::string> command{"run", kSamples + "vector_add/launch.toml", "--json", "-"};
  std::vector<std::string> with = command;
  with.push_back("--per-block");
  const Json whole = Json::parse(run_program(command).out)["launches"].at(0);
  const Output o = run_program(with);
  ASSERT_EQ(o.status, 0) << o.err;
  Json split = Json::parse(o.out)["launches"].at(0);
  ASSERT_EQ(split["blocks"].size(), 79u);
  EXPECT_EQ(split["blocks"].at(78)["block"], Json({78, 0, 0}));
  for (const char* name : {"gld_request", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "branch"}) {
    std::uint64_t sum = 0;
    for (const Json& block : split["blocks"]) sum += block[name].get<std::uint64_t>();
    EXPECT_EQ(Json(sum), whole["metrics"][name]) << name;
  }
  // All else is as it was, with any number of threads.
  split["blocks"] = Json::array();
  EXPECT_EQ(split, whole);
  with.insert(with.end(), {"--threads", "7"});
  EXPECT_EQ(run_program(with).out, o.out);
}

TEST(Commands, RulesAreExplained) {
  const Output all = run_program({"list", "rules", "--explain"});
  EXPECT_EQ(all.status, 0) << all.err;
  expect_parts(all.out, {"1.2 (transactions): compute capability 1.2 and 1.3", "devices: 9400m, c1060, gtx280",
                         "source: CUDA Programming Guide 2.0, section 5.1.2.1", "5.x+ (banks)"});
  const Output one = run_program({"list", "rules", "--explain", "2.x"});
  expect_parts(one.out, {"one request per quarter-warp (8 lanes), plus 1 extra pass"});
  EXPECT_EQ(one.out.find("1.2"), one.out.npos);
}

} // namespace commands_test
} // namespace warplens::testing
