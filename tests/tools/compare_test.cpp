// SPDX-License-Identifier: Apache-2.0
// Tests warplens compare as users run it.
#include "tests/api/kernels.hpp"
#include "tests/tools/program.hpp"

#include <nlohmann/json.hpp>

namespace warplens::testing {
namespace compare_test {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

const std::string kVectorAdd = WARPLENS_SOURCE_DIR "/samples/vector_add/launch.toml";

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), text.npos) << "'" << part << "' is not in:\n" << text;
}

class Compare : public ::testing::Test {
protected:
  [[nodiscard]] std::string file(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string report(const std::string& name, const Words& arguments) const {
    Words words = arguments;
    words.insert(words.end(), {"--json", file(name)});
    const Output o = run_program(words);
    EXPECT_EQ(o.status, 0) << o.err;
    return file(name);
  }
  std::string executed(const std::string& name, const std::string& device, const char* launches) const {
    const Output o = run_program({"exec", "--json", file(name), "--device", device, "--", WARPLENS_LAUNCHES, launches});
    EXPECT_EQ(o.status, 0) << o.err;
    return file(name);
  }
  /// x[i * stride] = …, with another stride.
  [[nodiscard]] std::string strided(const std::string& name, int stride, int block) const {
    std::string ptx(api::testing::kScale);
    ptx.replace(ptx.find("%r4, 4;"), 7, "%r4, " + std::to_string(4 * stride) + ";");
    const std::string source = folder_.write("k.ptx", ptx);
    return report(name, {"run", source, "--kernel", "scale", "--grid", std::to_string(4096 / block), "--block",
                         std::to_string(block), "--arg", "x:f32[131072]=iota", "--arg", "f32=2", "--arg", "u32=4096",
                         "--device", "gtx480"});
  }
  [[nodiscard]] std::string compared(const std::string& name) const {
    return report(name, {"compare", file("a.json"), file("c.json")});
  }
  std::string sweep(const std::string& name, const std::string& device = "gtx480") const {
    static_cast<void>(folder_.write("k.ptx", api::testing::kScale));
    const std::string launch =
        folder_.write("l.toml", "module = \"k.ptx\"\nkernel = \"scale\"\ntotal = 4096\nblock = 64\n"
                                "arg = [{ buffer = \"x\" }, { f32 = 2 }, { u32 = 4096 }]\n"
                                "[buffer.x]\ntype = \"f32\"\ncount = 4096\niota = [0, 1]\n");
    return report(name, {"sweep", launch, "--block", "8,64,128", "--set", "device=" + device});
  }
  Folder folder_;
};

TEST_F(Compare, SaysWhatChangedAndWhy) {
  const std::string a = strided("a.json", 1, 128), b = strided("b.json", 32, 128);
  const Output o = run_program({"compare", a, b});
  ASSERT_EQ(o.status, 0) << o.err;
  expect_contains(o.out, "times as slow");
  expect_contains(o.out, "+6.91 µs: memory transactions");
  expect_contains(o.out, "transactions of global memory");
  expect_contains(o.out, "x 32"); // a line for each lane instead of one for all
  expect_contains(o.out, "new: ");
  EXPECT_EQ(o.out.find(": instructions"), o.out.npos) << o.out;
  const Output back = run_program({"compare", b, a});
  expect_contains(back.out, "times as fast");
  expect_contains(back.out, "-6.91 µs: memory transactions");
  expect_contains(back.out, "resolved: ");
}

/// As the report itself: lines of 128 bytes, half-warps and 16 banks, transactions of lanes, sectors.
TEST_F(Compare, LabelsAreInTheUnitsOfTheDevice) {
  const std::pair<const char*, Words> expected[] = {
      {"gtx480", {"transactions of global memory", "bytes moved", "bank conflicts, loads"}},
      {"c1060", {"transactions of global memory", "bytes moved", "passes over the banks", "bank conflicts "}},
      {"8800gt", {"transactions of global memory", "passes over the banks"}},
      {"h200", {"sectors of global memory", "bank conflicts, loads"}}};
  for (const auto& [device, labels] : expected) {
    const std::string report_of_all =
        report("t.json", {"run", WARPLENS_SOURCE_DIR "/samples/transpose", "--device", device});
    Json whole = Json::parse(read_text(report_of_all));
    for (const int launch : {0, 1, 2, 3}) { // the second and the last are the better ones of two kernels each
      Json one = whole;
      one["launches"] = Json::array({whole["launches"][launch]});
      static_cast<void>(folder_.write(std::to_string(launch) + ".json", one.dump()));
    }
    const std::string json = file("labels.json");
    const std::string text = run_program({"compare", file("0.json"), file("1.json"), "--json", json}).out +
                             run_program({"compare", file("2.json"), file("3.json")}).out;
    for (const std::string& label : labels) expect_contains(text, label);
    EXPECT_EQ(text.find("sectors") != text.npos, std::string(device) == "h200") << text;
    EXPECT_EQ(text.find("(1.x)"), text.npos) << text;
    Words in_json;
    const Json written = Json::parse(read_text(json));
    for (const Json& metric : written["comparisons"][0]["launches"][0]["metrics"])
      if (metric.contains("label")) in_json.push_back(metric["label"]);
    EXPECT_NE(std::find(in_json.begin(), in_json.end(), labels[0]), in_json.end()) << device;
  }
}

TEST_F(Compare, FactorsAndTheRestAreTheChange) {
  const Output o = run_program({"compare", strided("a.json", 1, 128), strided("b.json", 32, 32), "--json", "-"});
  ASSERT_EQ(o.status, 0) << o.err;
  const Json launch = Json::parse(o.out)["comparisons"][0]["launches"][0];
  double sum = launch["unexplained"];
  std::vector<std::string> names;
  for (const Json& f : launch["factors"]) sum += f["milliseconds"].get<double>(), names.push_back(f["what"]);
  const double change = launch["after"]["milliseconds"].get<double>() - launch["before"]["milliseconds"].get<double>();
  EXPECT_NEAR(sum, change, 1e-9);
  EXPECT_NE(std::find(names.begin(), names.end(), "block size and occupancy"), names.end());
}

// A field that is not listed with its aspect would be explained as something else.
TEST_F(Compare, EachCountIsExplainedByItsAspect) {
  const std::string a = report("a.json", {"run", kVectorAdd, "--device", "h200"});
  const Json before = Json::parse(read_text(a));
  const std::pair<const char*, const char*> fields[] = {{"store_transactions", "memory transactions per warp"},
                                                        {"merged_store_transactions", "memory transactions per warp"},
                                                        {"path_memory", "dependent instructions of a warp"},
                                                        {"machine_instructions", "instructions per warp"}};
  std::size_t seen = 0;
  for (const auto& [field, aspect] : fields) {
    Json after = before;
    Json& value = after["launches"][0]["statistics"][field];
    ASSERT_TRUE(value.is_number()) << field;
    value = 1000 * value.get<double>();
    const Output o = run_program({"compare", a, folder_.write("b.json", after.dump()), "--json", "-"});
    ASSERT_EQ(o.status, 0) << o.err;
    const Json factors = Json::parse(o.out)["comparisons"][0]["launches"][0]["factors"];
    seen += factors.size();
    for (const Json& factor : factors) EXPECT_EQ(factor["what"], aspect) << field;
  }
  EXPECT_GE(seen, 3u);
}

TEST_F(Compare, TheSame) {
  const std::string a = strided("a.json", 1, 128);
  const Output o = run_program({"compare", a, a});
  ASSERT_EQ(o.status, 0) << o.err;
  expect_contains(o.out, "all metrics are the same");
  expect_contains(o.out, ", the same");
}

TEST_F(Compare, OtherDevicesAndKernels) {
  const std::string a = report("a.json", {"run", kVectorAdd, "--device", "c1060"});
  const std::string b = report("b.json", {"run", kVectorAdd, "--device", "gtx480"});
  const std::string c = strided("c.json", 1, 128);
  const Output o = run_program({"compare", a, b, c, "--csv", file("t.csv"), "--plot", file("t.svg")});
  ASSERT_EQ(o.status, 0) << o.err;
  expect_contains(o.out, "vector_add on Tesla C1060 -> vector_add on GeForce GTX 480");
  expect_contains(o.out, "the device");
  expect_contains(o.out, "-> scale on GeForce GTX 480"); // by order, for the names differ
  expect_contains(read_text(file("t.csv")), "before,after,kernel");
  expect_contains(read_text(file("t.svg")), "predicted time, ms");
}

TEST_F(Compare, SweepsByTheirSettings) {
  const Output same = run_program({"compare", sweep("a.json"), sweep("b.json")});
  ASSERT_EQ(same.status, 0) << same.err;
  expect_contains(same.out, "3 of 3 launches did not change");
  const Output o = run_program({"compare", file("a.json"), sweep("c.json", "gtx280")});
  ASSERT_EQ(o.status, 0) << o.err;
  for (const char* block : {"block 8,", "block 64,", "block 128,"}) expect_contains(o.out, block);
  EXPECT_EQ(o.out.find("all launches"), o.out.npos) << "rows of a sweep do not add up";
  EXPECT_TRUE(Json::parse(read_text(compared("t.json")))["comparisons"][0]["total"]["before"].is_null());
}

TEST_F(Compare, TheSignPlot) {
  const Output predicted = run_program({"compare", sweep("s.json"), "--signs"});
  ASSERT_EQ(predicted.status, 0) << predicted.err;
  expect_contains(predicted.out, "block 128");
  // Measured the other way around: the pairs with a difference are all wrong.
  const std::string csv = folder_.write("m.csv", "block,milliseconds\n8,1\n64,10\n128,10.5\n");
  const Output o = run_program({"compare", file("s.json"), "--measured", csv, "--plot", file("signs.png")});
  ASSERT_EQ(o.status, 0) << o.err;
  expect_contains(o.out, "-1!1");
  expect_contains(o.out, "1!-1");
  expect_contains(o.out, " of 3 pairs match the measurement");
  EXPECT_EQ(read_text(file("signs.png")).substr(1, 3), "PNG");
}

TEST_F(Compare, BadInput) {
  const std::string good = strided("a.json", 1, 128);
  std::string text = read_text(good);
  const std::string version = text.substr(0, text.find(',') + 1); // { "warplens": "…",
  const std::string no_json = folder_.write("no.json", "{ \"launches\": ["), other = folder_.write("o.json", "[1]"),
                    empty = folder_.write("e.json", version + "\"launches\": [], \"device\": {}}"),
                    broken = folder_.write("b.json", version + "\"launches\": [{}], \"device\": {}}"),
                    csv = folder_.write("m.csv", "kernel,time\nscale,1\n"),
                    word = folder_.write("w.csv", "kernel,milliseconds\nscale,fast\n"),
                    stranger = folder_.write("x.csv", "kernel,milliseconds\nother,1\n");
  text.replace(text.find("\"0."), 3, "\"9.");
  const std::string later = folder_.write("later.json", text);
  const std::vector<std::pair<Words, std::string>> cases = {
      {{}, "no report"},
      {{good}, "only one report given"},
      {{good, file("missing.json")}, "cannot read"},
      {{good, no_json}, "is not valid JSON"},
      {{good, other}, "neither launches nor sweep rows"},
      {{good, empty}, "no launch or sweep row has a result"},
      {{good, broken}, "is not a report"},
      {{good, later}, "was written by warplens \"9."},
      {{good, good, "--json", "/nowhere/x.json"}, "/nowhere/x.json"},
      {{good, good, "--plot", "x.bmp"}, ".svg or .png"},
      {{good, good, "--measured", csv}, "no column 'milliseconds'"},
      {{good, good, "--measured", word}, "w.csv:2: expected milliseconds, got 'fast'"},
      {{good, good, "--measured", stranger}, "no launch of the reports matches"},
      {{good, "--signs"}, "needs two launches"},
      {{good, good, "--parity", "-5"}, "percentage"}};
  for (const auto& [options, part] : cases) {
    Words words{"compare"};
    words.insert(words.end(), options.begin(), options.end());
    const Output o = run_program(words);
    EXPECT_EQ(o.status, 2) << part << o.err;
    expect_contains(o.err, "error: ");
    expect_contains(o.err, part);
    EXPECT_EQ(o.err.find("internal error"), o.err.npos) << o.err;
  }
  EXPECT_EQ(run_program({"compare", "--help"}).status, 0);
}

// Three lines are inserted above, and the file gets another name: the same lines are compared, and no finding is new.
TEST_F(Compare, FindsLinesThatMovedAndFilesThatWereRenamed) {
  const auto with_lines = [&](const std::string& name, const std::string& source, int first, const char* stride) {
    std::string ptx(api::testing::kScale);
    const auto put = [&](const char* before, int line) {
      ptx.insert(ptx.find(before), ".loc 1 " + std::to_string(line) + " 1\n  ");
    };
    ptx.insert(ptx.find(".visible"), ".file 1 \"" + source + "\"\n");
    put("mul.wide", first);
    put("ld.global", first + 1);
    put("st.global", first + 2);
    ptx.replace(ptx.find("%r4, 4;"), 7, std::string("%r4, ") + stride + ";");
    return report(name, {"run", folder_.write("k.ptx", ptx), "--kernel", "scale", "--grid", "1", "--block", "32",
                         "--arg", "x:f32[4096]", "--arg", "f32=2", "--arg", "u32=32"});
  };
  const std::string a = with_lines("a.json", "old.cu", 5, "16"), b = with_lines("b.json", "new.cu", 8, "64"),
                    c = with_lines("c.json", "new.cu", 8, "16");
  const Output o = run_program({"compare", a, b});
  ASSERT_EQ(o.status, 0) << o.err;
  expect_contains(o.out, "old.cu:6 -> new.cu:9");
  EXPECT_EQ(o.out.find("resolved: "), o.out.npos) << o.out;
  EXPECT_EQ(o.out.find("new: "), o.out.npos) << o.out;
  const Output same = run_program({"compare", a, c});
  EXPECT_EQ(same.out.find("new.cu"), same.out.npos) << same.out;
}

TEST_F(Compare, FailsOnRegressions) {
  const std::string a = strided("a.json", 1, 128), b = strided("b.json", 32, 128);
  const Output worse = run_program({"compare", a, b, "--fail-on-regression", "5"});
  EXPECT_EQ(worse.status, 4);
  expect_contains(worse.err, "--fail-on-regression: ");
  expect_contains(worse.err, "scale on GeForce GTX 480");
  expect_contains(worse.out, "times as slow");
  EXPECT_EQ(run_program({"compare", b, a, "--fail-on-regression", "5"}).status, 0);
  EXPECT_EQ(run_program({"compare", a, a, "--fail-on-regression", "0"}).status, 0);
  EXPECT_EQ(run_program({"compare", a, b, "--fail-on-regression", "100000"}).status, 0);
  EXPECT_EQ(run_program({"compare", a, b, "--fail-on-regression", "-1"}).status, 2);
}

TEST_F(Compare, ProgramsWithATableOfTheirKernels) {
  const Output o = run_program({"compare", "--json", file("c.json"), "--device", "a100", "--", WARPLENS_LAUNCHES, "3",
                                "--", WARPLENS_LAUNCHES, "4"});
  ASSERT_EQ(o.status, 0) << o.err;
  expect_contains(o.out, "launches 3 -> ");
  expect_contains(o.out, "3 -> 4");
  expect_contains(o.out, "predicted, all launches: ");
  expect_contains(o.out, "1.33 times as slow"); // four equal launches instead of three
  expect_contains(o.out, "scale on NVIDIA A100");
  expect_contains(o.out, "only in the second report");
  expect_contains(o.out, "3 of 4 launches did not change");
  EXPECT_EQ(o.out.find("\n8 8"), o.out.npos) << "the programs' own output";
  const Json all = Json::parse(read_text(file("c.json")))["comparisons"][0];
  EXPECT_NEAR(all["total"]["after"].get<double>() / all["total"]["before"].get<double>(), 4.0 / 3, 1e-9);
}

TEST_F(Compare, AProgramWithAReportOfBefore) {
  const std::string baseline = executed("a.json", "h200", "2");
  const auto again = [&](const char* launches, const char* percent) {
    return run_program({"compare", baseline, "--fail-on-regression", percent, "--", WARPLENS_LAUNCHES, launches});
  };
  const Output same = again("2", "0");
  EXPECT_EQ(same.status, 0) << same.err;
  expect_contains(same.out, "2 of 2 launches did not change");
  const Output more = again("3", "20");
  EXPECT_EQ(more.status, 4) << more.out;
  expect_contains(more.err, "all launches: ");
  expect_contains(more.err, "50.0 % more than before");
  EXPECT_EQ(again("3", "60").status, 0);
  EXPECT_EQ(again("1", "0").status, 0);
}

TEST_F(Compare, EqualChangesAreShownOnce) {
  const Output o = run_program({"compare", executed("a.json", "a100", "30"), executed("b.json", "h200", "30")});
  ASSERT_EQ(o.status, 0) << o.err;
  expect_contains(o.out, "the same for 30 launches");
  EXPECT_EQ(o.out.find("predicted: "), o.out.rfind("predicted: ")) << o.out;
}

TEST_F(Compare, ProgramsThatCannotBeCompared) {
  const Output failed =
      run_program({"compare", "--", WARPLENS_LAUNCHES, "1", "exit", "7", "--", WARPLENS_LAUNCHES, "1"});
  EXPECT_EQ(failed.status, 1);
  expect_contains(failed.err, "launches 1 exit 7: exit status 7");
  const Output none = run_program({"compare", "--", WARPLENS_LAUNCHES, "1", "--", "true"});
  EXPECT_EQ(none.status, 1);
  expect_contains(none.err, "true: the program launched no kernel");
  const Output unknown = run_program({"compare", "--", WARPLENS_LAUNCHES, "1", "--", "no-such-program"});
  EXPECT_EQ(unknown.status, 1);
  expect_contains(unknown.err, "no such program: 'no-such-program'");
  const Output device = run_program({"compare", "--device", "c10", "--", "true", "--", "true"});
  EXPECT_EQ(device.status, 1);
  expect_contains(device.err, "unknown device");
  const std::string launches = WARPLENS_LAUNCHES;
  for (const auto& [words, message] : std::vector<std::pair<Words, std::string>>{
           {{"compare", "--", launches, "--"}, "no program behind '--'"},
           {{"compare", "--"}, "no program behind '--'"},
           {{"compare", "--", launches, "1"}, "only one report given"},
           {{"compare", launches, launches}, "is a program, not a report"},
           {{"compare", "--device", "a100", "a.json", "b.json"}, "--device needs a program"}}) {
    const Output refused = run_program(words);
    EXPECT_EQ(refused.status, 2) << message;
    expect_contains(refused.err, message);
  }
}

} // namespace compare_test
} // namespace warplens::testing
