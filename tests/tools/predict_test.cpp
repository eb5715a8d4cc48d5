// SPDX-License-Identifier: Apache-2.0
// Tests warplens predict and warplens calibrate as users run them.
#include "tests/tools/program.hpp"

#include <nlohmann/json.hpp>

namespace warplens::testing {
namespace predict_test {

using Json = nlohmann::json;

const std::string kSamples = WARPLENS_SOURCE_DIR "/samples/";
constexpr std::string_view kTitles =
    "kernel,threads_per_block,blocks,resident_blocks,instructions,global_requests,transactions_32,transactions_64,"
    "transactions_128,vector_transactions_32,milliseconds\n";

// The measurements in Dasgupta's Tables 6 and 8 to 11.
const std::string kRuns = std::string(kTitles) + "none,512,120,2,4325,0,0,0,0,0,0.846\n"
                                                 "t32,256,120,4,7942,400,800,0,0,0,0.7243\n"
                                                 "t64,256,120,4,7942,400,0,800,0,0,0.7240\n"
                                                 "t128,256,120,4,7942,400,0,0,800,0,1.137\n"
                                                 "vector,256,120,4,7934,400,800,0,0,800,1.0588\n";

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), text.npos) << "'" << part << "' is not in:\n" << text;
}

TEST(Predict, FromAReport) {
  const Folder folder;
  const std::string profile = (folder.path() / "profile.json").string();
  ASSERT_EQ(run_program({"run", kSamples + "transpose/launch.toml", "--device", "gtx280", "--json", profile}).status,
            0);
  const Output o = run_program({"predict", profile, "--device", "gtx280"});
  ASSERT_EQ(o.status, 0) << o.err;
  expect_contains(o.out, "hong-kim: ");
  expect_contains(o.out, "with ideal transactions");
  expect_contains(o.out, "bytes moved but not requested");
  expect_contains(o.out, "no prediction by amaris: missing 'adjusting_weight'");
  const Output json = run_program({"predict", profile, "--device", "gtx280", "--json", "-"});
  ASSERT_EQ(json.status, 0) << json.err;
  const Json report = Json::parse(json.out), run = Json::parse(read_text(profile));
  ASSERT_EQ(report["launches"].size(), run["launches"].size());
  for (std::size_t i = 0; i < run["launches"].size(); ++i)
    for (const Json& p : run["launches"][i]["predictions"]) {
      const auto& ours = report["launches"][i]["predictions"];
      EXPECT_NE(std::find(ours.begin(), ours.end(), p), ours.end()) << p["model"];
    }
}

TEST(Predict, FromATableWithTerms) {
  const Folder folder;
  const std::string runs = folder.write("runs.csv", kRuns);
  const Output o = run_program({"predict", runs, "--device", "c1060", "--model", "dasgupta", "--terms"});
  ASSERT_EQ(o.status, 0) << o.err;
  expect_contains(o.out, "t32 on Tesla C1060, measured 0.7243 ms");
  expect_contains(o.out, "dasgupta: 722 µs");
  expect_contains(o.out, "-0.3 % relative to the measured time");
  expect_contains(o.out, "mem_latency_final");
  EXPECT_EQ(o.out.find("volkov"), o.out.npos);
}

TEST(Predict, FieldsCanBeSetAndAreListed) {
  const Folder folder;
  const std::string runs = folder.write("runs.csv", kRuns);
  const Output o =
      run_program({"predict", runs, "--device", "c1060", "--model", "karan-kumar", "--set", "adjusting_weight=500"});
  EXPECT_EQ(o.status, 0) << o.err;
  expect_contains(run_program({"predict", "--fields"}).out, "ideal_duplicate_loads");
}

TEST(Predict, BadUsageAndInput) {
  const Folder folder;
  const std::string runs = folder.write("runs.csv", kRuns);
  const std::string few =
      folder.write("few.csv", "threads_per_block,blocks,resident_blocks,instructions\n64,10,1,100\n");
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{"predict"}, "expected one profile"},
      {{"predict", runs}, "--device is missing"},
      {{"predict", runs, "--device", "nobody"}, "unknown device 'nobody'"},
      {{"predict", runs, "--device", "c1060", "--model", "dasgupt"}, "did you mean 'dasgupta'?"},
      {{"predict", runs, "--device", "h200", "--model", "dasgupta"}, "has no parameters for model dasgupta"},
      {{"predict", runs, "--device", "c1060", "--set", "blocks"}, "--set: expected FIELD=NUMBER"},
      {{"predict", runs, "--device", "c1060", "--set", "block=1"}, "did you mean 'blocks'?"},
      {{"predict", runs, "--device", "c1060", "--barriers", "none"}, "--barriers: expected all or block"},
      {{"predict", few, "--device", "c1060", "--model", "dasgupta"}, "missing 'global_requests'"},
      {{"predict", few, "--device", "c1060", "--model", "dasgupta"}, "models that do not need it: hong-kim, roofline"},
      {{"predict", runs, "--device", "c1060", "--model", "dasgupta", "--set", "threads_per_block=1024"},
       "allows at most 512"},
      {{"predict", folder.write("cut.json", "{\"launches\": ["), "--device", "c1060"}, "is not valid JSON"},
      {{"predict", (folder.path() / "no.json").string(), "--device", "c1060"}, "cannot read"},
      {{"calibrate", runs, "--device", "h200"}, "has no [issue_cycles]"},
      {{"calibrate", few, "--device", "c1060"}, "no measured time for 'row 1'"},
      {{"calibrate", runs, "--device", "c1060", "--model", "volkov"}, "has no weight to fit"},
      {{"calibrate", runs, "--device", "c1060", "--model", "amaris", "--fit", "best"},
       "--fit: expected first, mean or"}};
  for (const auto& [arguments, message] : cases) {
    const Output o = run_program(arguments);
    EXPECT_EQ(o.status, 2) << message;
    expect_contains(o.err, message);
    EXPECT_EQ(o.err.find("internal error"), o.err.npos) << o.err;
  }
}

TEST(Calibrate, TunesADeviceInTheOrderOfTheThesis) {
  const Folder folder;
  const std::string runs = folder.write("runs.csv", kRuns);
  const std::string tuned = (folder.path() / "tuned.toml").string();
  const Output o = run_program({"calibrate", runs, "--device", "c1060", "--output", tuned});
  ASSERT_EQ(o.status, 0) << o.err;
  expect_contains(o.out, "clock_ghz");
  expect_contains(o.out, "kept: no run depends on it alone");
  // With the tuned device the predictions are the measured times.
  const Output p = run_program({"predict", runs, "--device", tuned, "--model", "dasgupta", "--json", "-"});
  ASSERT_EQ(p.status, 0) << p.err;
  const Json predicted = Json::parse(p.out);
  for (const Json& launch : predicted["launches"])
    EXPECT_NEAR(launch["predictions"][0]["milliseconds"].get<double>(), launch["measured_milliseconds"].get<double>(),
                1e-6);
}

TEST(Calibrate, FitsAWeight) {
  const Folder folder;
  const std::string runs = folder.write("runs.csv", kRuns);
  const Output o = run_program({"calibrate", runs, "--device", "c1060", "--model", "karan-kumar", "--fit", "first"});
  ASSERT_EQ(o.status, 0) << o.err;
  expect_contains(o.out, "adjusting_weight ");
  expect_contains(o.out, "1.0000");
}

} // namespace predict_test
} // namespace warplens::testing
