// SPDX-License-Identifier: Apache-2.0
#include "model/device.hpp"

#include <gtest/gtest.h>
#include <toml++/toml.h>

#include <algorithm>
#include <chrono>
#include <string>

namespace warplens::model {
namespace device_test {

std::string text_of(std::string_view file) {
  for (const DeviceText& t : built_in_device_texts())
    if (t.file == file) return std::string(t.text);
  return {};
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), with);
}

// Every number under `table` has its own source or shares that of an enclosing table.
int numbers_without_source(const toml::table& table, const std::string& prefix, const Device& device, int& numbers) {
  int missing = 0;
  for (const auto& [key, node] : table) {
    const std::string name = prefix + std::string(key.str());
    if (name == "sources") continue;
    if (const auto* const inner = node.as_table())
      missing += numbers_without_source(*inner, name + ".", device, numbers);
    if (!node.is_number()) continue;
    ++numbers;
    bool found = false;
    for (const auto& [source, text] : device.sources)
      found |= !text.empty() && (source == name || name.starts_with(source + "."));
    if (!found) {
      ++missing;
      ADD_FAILURE() << device.name << ": no source for " << name;
    }
  }
  return missing;
}

TEST(Devices, EveryBuiltInTextLoads) {
  ASSERT_GE(built_in_device_texts().size(), 32u);
  for (const DeviceText& t : built_in_device_texts()) {
    const auto device = load_device(t.text, t.file);
    ASSERT_TRUE(device) << render(device.error(), t.text);
    EXPECT_EQ(t.file, device->id + ".toml") << "find_device() finds a device by the name of its file";
  }
  EXPECT_EQ(built_in_devices().size(), built_in_device_texts().size());
}

TEST(Devices, EveryNumberHasASource) {
  for (const DeviceText& t : built_in_device_texts()) {
    const auto device = load_device(t.text, t.file);
    ASSERT_TRUE(device);
    int numbers = 0;
    EXPECT_EQ(numbers_without_source(toml::parse(t.text), "", *device, numbers), 0);
    EXPECT_GE(numbers, 4) << t.file;
  }
}

TEST(Devices, AMissingSourceIsNoticed) {
  const std::string text = replaced(text_of("h200.toml"), "bandwidth_gb_s = \"NVIDIA", "# bandwidth_gb_s = \"NVIDIA");
  const auto device = load_device(text, "h200.toml");
  ASSERT_TRUE(device);
  EXPECT_FALSE(device->sources.contains("bandwidth_gb_s"));
}

TEST(Devices, TheC1060) {
  const auto d = find_device("C1060");
  ASSERT_TRUE(d);
  EXPECT_EQ(d->name, "Tesla C1060");
  EXPECT_EQ(d->capability, (ComputeCapability{1, 3}));
  EXPECT_EQ(d->multiprocessors, 30);
  EXPECT_DOUBLE_EQ(d->bandwidth_gb_s, 102.4);
  EXPECT_EQ(d->limits.warps, 32);
  EXPECT_EQ(d->coalescing_rule.name, "1.2");
  EXPECT_EQ(d->bank_rule.name, "1.x");
  EXPECT_EQ(d->partitions, 8);
  ASSERT_TRUE(d->dasgupta);
  EXPECT_DOUBLE_EQ(d->dasgupta->clock_ghz, 1.312);
  EXPECT_DOUBLE_EQ(d->dasgupta->memory_latency, 450);
  EXPECT_DOUBLE_EQ(d->dasgupta->delay_32, 37);
  EXPECT_DOUBLE_EQ(d->dasgupta->delay_64, 37);
  EXPECT_DOUBLE_EQ(d->dasgupta->delay_128, 58);
  EXPECT_DOUBLE_EQ(d->dasgupta->delay_vector, 57);
  EXPECT_EQ(d->sources.at("dasgupta.clock_ghz"), "Dasgupta, CUDA Performance Analyzer, 2011, table 6");
}

TEST(Devices, TheGpusOfHongAndKim) {
  struct Row {
    const char* id;
    int multiprocessors;
    double bandwidth, latency, uncoalesced, coalesced;
  };
  for (const Row& row : {Row{"8800gtx", 16, 86.4, 420, 10, 4}, Row{"fx5600", 16, 76.8, 420, 10, 4},
                         Row{"8800gt", 14, 57.6, 420, 10, 4}, Row{"gtx280", 30, 141.7, 450, 40, 4}}) {
    const auto d = find_device(row.id);
    ASSERT_TRUE(d && d->hong_kim) << row.id;
    EXPECT_EQ(d->multiprocessors, row.multiprocessors);
    EXPECT_DOUBLE_EQ(d->bandwidth_gb_s, row.bandwidth);
    EXPECT_DOUBLE_EQ(d->hong_kim->memory_latency, row.latency);
    EXPECT_DOUBLE_EQ(d->hong_kim->uncoalesced_delay, row.uncoalesced);
    EXPECT_DOUBLE_EQ(d->hong_kim->coalesced_delay, row.coalesced);
    EXPECT_DOUBLE_EQ(d->issue_cycles->basic, 4);
  }
}

TEST(Devices, TheH200HasParametersOfThreeModels) {
  const auto d = find_device("H200");
  ASSERT_TRUE(d);
  EXPECT_EQ(d->multiprocessors, 132);
  EXPECT_EQ(d->limits.shared_bytes, 233472);
  EXPECT_TRUE(d->throughput_latency && d->critical_path);
  EXPECT_TRUE(d->latency.arithmetic && d->latency.memory);
  EXPECT_NE(d->sources.at("latency.memory").find("H100"), std::string::npos);
  EXPECT_FALSE(d->hong_kim || d->dasgupta || d->issue_cycles || d->partitions);
}

// The sizes of NVIDIA's whitepapers and datasheets: cores in all, bits of the memory bus, Gbit/s of each.
TEST(Devices, CurrentGpusHaveTheCoresAndBandwidthOfTheirDatasheets) {
  struct Row {
    const char* id;
    ComputeCapability capability;
    int cores, bus_bits;
    double gbit_s;
    int l2_kib;
  };
  for (const Row& row :
       {Row{"gtx1080", {6, 1}, 2560, 256, 10, 2048}, Row{"rtx2080ti", {7, 5}, 4352, 352, 14, 5632},
        Row{"t4", {7, 5}, 2560, 256, 10, 4096}, Row{"a10", {8, 6}, 9216, 384, 12.5, 6144},
        Row{"a40", {8, 6}, 10752, 384, 14.5, 6144}, Row{"rtx3090", {8, 6}, 10496, 384, 19.5, 6144},
        Row{"jetson_orin", {8, 7}, 2048, 256, 6.4, 4096}, Row{"l4", {8, 9}, 7424, 192, 12.5, 49152},
        Row{"l40s", {8, 9}, 18176, 384, 18, 98304}, Row{"rtx4090", {8, 9}, 16384, 384, 21, 73728},
        Row{"gh200", {9, 0}, 16896, 6144, 5.238, 61440}, Row{"b200", {10, 0}, 18944, 8192, 8, 129536},
        Row{"gb200", {10, 0}, 18944, 8192, 8, 129536}, Row{"rtx5090", {12, 0}, 21760, 512, 28, 98304}}) {
    const auto d = find_device(row.id);
    ASSERT_TRUE(d) << row.id;
    EXPECT_EQ(d->capability, row.capability) << row.id;
    EXPECT_EQ(d->multiprocessors * d->cores_per_multiprocessor, row.cores) << row.id;
    const double peak = row.bus_bits * row.gbit_s / 8; // the datasheets of two round it down: 4 and 8 TB/s
    EXPECT_EQ(d->memory_bus_bits, row.bus_bits) << row.id;
    EXPECT_NEAR(d->bandwidth_gb_s, peak, peak > 3000 ? 0.025 * peak : 0.01) << row.id;
    ASSERT_TRUE(d->l2) << row.id;
    EXPECT_EQ(d->l2->bytes, row.l2_kib * 1024) << row.id;
  }
}

// What model volkov needs, in a plausible order.
TEST(Devices, FromComputeCapability2OnLatenciesGrowWithTheDistance) {
  int checked = 0;
  for (const Device& d : built_in_devices()) {
    if (d.capability.major < 2) continue;
    ++checked;
    ASSERT_TRUE(d.latency.arithmetic && d.latency.memory) << d.id;
    EXPECT_GT(*d.latency.memory, 10 * *d.latency.arithmetic) << d.id;
    ASSERT_TRUE(d.latency.shared && d.latency.l1 && d.latency.l2) << d.id;
    EXPECT_GT(*d.latency.shared, *d.latency.arithmetic) << d.id;
    EXPECT_GE(*d.latency.l1, *d.latency.arithmetic) << d.id; // Fermi: 18 for both
    EXPECT_GT(*d.latency.l2, *d.latency.l1) << d.id;
    EXPECT_GT(*d.latency.memory, *d.latency.l2) << d.id;
  }
  EXPECT_GE(checked, 25);
}

TEST(Devices, NamesAreForgiving) {
  for (const char* name : {"c1060", "C1060", "Tesla C1060", "tesla-c1060", "NVIDIA Tesla C1060", "  c_1060 "})
    EXPECT_EQ(find_device(name) ? find_device(name)->id : "", "c1060") << name;
  EXPECT_EQ(find_device("GTX 280")->id, "gtx280");
  EXPECT_EQ(find_device("8800 GT")->id, "8800gt");
  EXPECT_EQ(find_device("8800 GTX")->id, "8800gtx");
  EXPECT_EQ(find_device("quadro fx 5600")->id, "fx5600");
  EXPECT_EQ(find_device("NVIDIA GeForce GTX 280")->id, "gtx280");
  EXPECT_EQ(find_device("GeForce RTX 2080 Ti")->id, "rtx2080ti");
  EXPECT_EQ(find_device("NVIDIA L40S")->id, "l40s");
  EXPECT_EQ(find_device("Jetson AGX Orin 64GB")->id, "jetson_orin");
  EXPECT_EQ(find_device("RTX 4080").error().list().front().hint, "did you mean 'rtx4090'?");
}

TEST(Devices, UnknownNamesGetAHint) {
  const auto near = find_device("Tesla C1070");
  ASSERT_FALSE(near);
  EXPECT_EQ(near.error().list().front().message, "unknown device 'Tesla C1070'");
  EXPECT_EQ(near.error().list().front().hint, "did you mean 'c1060'?");
  for (const char* name : {"", "Voodoo Banshee"}) {
    const auto far = find_device(name);
    ASSERT_FALSE(far);
    const std::string hint = far.error().list().front().hint + ",";
    EXPECT_TRUE(hint.starts_with("devices: 8800gtx, fx5600, ")) << hint;
    for (const Device& device : built_in_devices()) EXPECT_NE(hint.find(" " + device.id + ","), hint.npos) << device.id;
  }
}

// One change to a good file, and the diagnostic that it must give, as people see it.
struct Bad {
  const char* what;
  const char* with;
  const char* rendered; ///< file:line:col: error: message
};

TEST(DeviceFiles, MistakesAreDiagnostics) {
  const Bad bad[] = {
      {"clock_ghz = 1.98 ", "clock_gzh = 1.98 ", "d.toml:7:1: error: unknown key 'clock_gzh'"},
      {"clock_ghz = 1.98 ", "# ", "d.toml:1:1: error: missing key 'clock_ghz'"},
      {"clock_ghz = 1.98 ", "clock_ghz = \"fast\" ", "d.toml:7:13: error: 'clock_ghz' is a string: expected a number"},
      {"clock_ghz = 1.98 ", "clock_ghz = 0 ", "d.toml:7:13: error: 'clock_ghz' is 0: expected more than 0"},
      {"clock_ghz = 1.98 ", "clock_ghz = -1.5 ", "d.toml:7:13: error: 'clock_ghz' is -1.5: expected more than 0"},
      {"clock_ghz = 1.98 ", "clock_ghz = inf ", "d.toml:7:13: error: 'clock_ghz' is inf: expected more than 0"},
      {"clock_ghz = 1.98 ", "clock_ghz = nan ", "d.toml:7:13: error: 'clock_ghz' is nan: expected more than 0"},
      {"processors = 132", "processors = 1.5",
       "d.toml:5:19: error: 'multiprocessors' is a number: expected an integer"},
      {"processors = 132", "processors = 9999999999", "d.toml:5:19: error: 'multiprocessors' is 9999999999"},
      {"\"9.0\"", "9.0", "d.toml:4:22: error: 'compute_capability' is a number: expected a string"},
      {"\"9.0\"", "\"nine\"", "d.toml:4:22: error: expected a compute capability such as \"1.3\", got \"nine\""},
      {"\"9.0\"", "\"4.2\"", "d.toml:4:22: error: unknown compute capability 4.2"},
      {"id = \"h200\"", "id = \"\"", "d.toml:3:6: error: 'id' is empty"},
      {"id = \"h200\"", "id = \"h200", "d.toml:3:"},
      {"[sources]", "[hong_kim]\nmemory_latency = 1\n[sources]", "error: missing key 'hong_kim.coalesced_delay'"},
      {"[sources]", "hong_kim = 3\n[sources]", "d.toml:14:12: error: 'hong_kim' is an integer: expected a table"},
      {"[sources]", "[dasgupta]\nspeed = 1\n[sources]", "error: unknown key 'dasgupta.speed'"},
      {"division = 64", "# ", "error: missing key 'result_latency.division'"},
      {"division = 64", "divison = 64", "error: unknown key 'result_latency.divison'"},
      {"[sources]", "[sources]\nspeed = \"?\"",
       "d.toml:15:1: error: source given for 'speed', which is not in the file"},
      {"[sources]", "[sources]\nname = 3", "d.toml:15:8: error: the source of 'name' is an integer: expected a string"},
  };
  for (const Bad& b : bad) {
    SCOPED_TRACE(b.with);
    const std::string text = replaced(text_of("h200.toml"), b.what, b.with);
    const auto device = load_device(text, "d.toml");
    ASSERT_FALSE(device);
    EXPECT_NE(render(device.error(), text).find(b.rendered), std::string::npos) << render(device.error(), text);
  }
}

TEST(DeviceFiles, Caches) {
  const auto h200 = find_device("H200");
  ASSERT_TRUE(h200 && h200->l1 && h200->l2);
  EXPECT_EQ(h200->l1->bytes, 262144);
  EXPECT_TRUE(h200->l1->unified && h200->l1->global_loads);
  EXPECT_EQ(h200->l2->stores, StorePolicy::back);
  EXPECT_EQ(h200->l2->partitions, 2);
  const auto c1060 = find_device("C1060");
  ASSERT_TRUE(c1060);
  EXPECT_FALSE(c1060->l1 || c1060->l2);

  const Bad bad[] = {
      {"line_bytes = 128", "line_bytes = 48", "'l1.line_bytes' is 48: expected 32, 64 or 128"},
      {"sector_bytes = 32", "sector_bytes = 256", "'l1.sector_bytes' is 256: expected 32, 64 or 128, up to line_bytes"},
      {"ways = 512", "ways = 100000", "'l1.ways' is 100000: expected at most 1024"},
      {"ways = 512", "ways = 500", "'l1.bytes' is 262144: expected a multiple of the set size, 64000 bytes"},
      {"stores = \"update\"", "stores = \"forget\"",
       "'l1.stores' is 'forget': expected one of evict, update, keep, back, none"},
      {"stores = \"update\"", "stores = \"none\"", "'l1.stores' is 'none', which is for 'local_stores' only"},
      {"local_stores = \"keep\"", "local_stores = \"forget\"",
       "'l1.local_stores' is 'forget': expected one of evict, update, keep, back, none"},
      {"stores = \"update\"", "stores = \"update\"\nenlarged_bytes = 5",
       "'l1.enlarged_bytes' is 5: expected a multiple"},
      {"partitions = 2", "partitions = 17", "'l2.partitions' is 17: expected 1 to 16"},
      {"partitions = 2", "partitions = 3",
       "'l2.bytes' is 52428800: expected a multiple of a set of each partition, 6144"},
      {"unified = true", "unified = true\npartitions = 2", "'l1.partitions' is for the L2 cache only"},
      {"unified = true", "unified = 1", "'l1.unified' is an integer: expected a boolean"},
      {"bytes = 262144\n", "", "missing key 'l1.bytes'"},
      {"unified = true", "unifed = true", "did you mean 'unified'?"},
  };
  for (const Bad& b : bad) {
    SCOPED_TRACE(b.with);
    const std::string text = replaced(text_of("h200.toml"), b.what, b.with);
    const auto device = load_device(text, "d.toml");
    ASSERT_FALSE(device);
    EXPECT_NE(render(device.error(), text).find(b.rendered), std::string::npos) << render(device.error(), text);
  }
}

TEST(DeviceFiles, ModelParametersNeedIssueCycles) {
  const std::string text = replaced(text_of("h200.toml"), "[sources]",
                                    "[hong_kim]\nmemory_latency = 1\nuncoalesced_delay = 1\ncoalesced_delay = 1\n"
                                    "uncoalesced_transactions = 1\n[sources]");
  const auto device = load_device(text, "d.toml");
  ASSERT_FALSE(device);
  EXPECT_NE(render(device.error(), text).find("missing table 'issue_cycles'"), std::string::npos);
}

TEST(DeviceFiles, AllMistakesAreReportedAtOnce) {
  const auto device = load_device("", "empty.toml");
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().error_count(), 9u);
  EXPECT_EQ(device.error().list().front().file, "empty.toml");
}

// Launches copy their device; the texts are most of it.
TEST(Devices, CopiesShareTheirSourcesUntilOneChanges) {
  const Device& original = built_in_devices().front();
  ASSERT_TRUE(original.sources.contains("multiprocessors"));
  Device copy = original;
  EXPECT_EQ(&copy.sources.at("multiprocessors"), &original.sources.at("multiprocessors"));
  copy.sources["multiprocessors"] = "a guess";
  EXPECT_EQ(copy.sources.at("multiprocessors"), "a guess");
  EXPECT_NE(original.sources.at("multiprocessors"), "a guess");
  EXPECT_FALSE(copy.sources == original.sources);
  copy.sources.erase("multiprocessors");
  EXPECT_FALSE(copy.sources.contains("multiprocessors"));
  EXPECT_TRUE(original.sources.contains("multiprocessors"));
}

// What the datasheets and whitepapers print, in TFLOPS, without sparsity, at the clock that they name.
TEST(Devices, PeakOperationsGiveTheRatesOfDatasheets) {
  struct Row {
    const char* id;
    std::optional<double> PeakOperations::*rate;
    double clock_ghz, tflops;
  };
  using P = PeakOperations;
  for (const Row& row : {Row{"c1060", &P::double_precision, 1.296, 0.078},
                         Row{"c2050", &P::double_precision, 1.15, 0.515},
                         Row{"k20", &P::double_precision, 0.706, 1.17},
                         Row{"k40", &P::double_precision, 0.745, 1.43},
                         Row{"p100", &P::half, 1.48, 21.2},
                         Row{"p100", &P::double_precision, 1.48, 5.3},
                         Row{"v100", &P::matrix_half, 1.53, 125},
                         Row{"v100", &P::double_precision, 1.53, 7.8},
                         Row{"t4", &P::matrix_half, 1.59, 65},
                         Row{"t4", &P::matrix_int8, 1.59, 130},
                         Row{"rtx2080ti", &P::matrix_half, 1.545, 53.8},
                         Row{"rtx2080ti", &P::matrix_half_sums, 1.545, 107.6},
                         Row{"a100", &P::matrix_half, 1.41, 312},
                         Row{"a100", &P::matrix_tf32, 1.41, 156},
                         Row{"a100", &P::matrix_double, 1.41, 19.5},
                         Row{"a100", &P::double_precision, 1.41, 9.7},
                         Row{"a100", &P::half, 1.41, 78},
                         Row{"a100", &P::bfloat16, 1.41, 39},
                         Row{"a100", &P::matrix_int8, 1.41, 624},
                         Row{"a10", &P::matrix_half, 1.695, 125},
                         Row{"a10", &P::matrix_bfloat16, 1.695, 125},
                         Row{"a10", &P::matrix_tf32, 1.695, 62.5},
                         Row{"a10", &P::matrix_int8, 1.695, 250},
                         Row{"a40", &P::matrix_half, 1.74, 149.7},
                         Row{"rtx3090", &P::matrix_half, 1.695, 71},
                         Row{"rtx3090", &P::half, 1.695, 35.6},
                         Row{"l4", &P::matrix_half, 2.04, 121},
                         Row{"l40s", &P::matrix_fp8, 2.52, 733},
                         Row{"rtx4090", &P::matrix_half, 2.52, 165.2},
                         Row{"rtx4090", &P::matrix_fp8, 2.52, 330.3},
                         Row{"h100", &P::matrix_half, 1.83, 989.4},
                         Row{"h200", &P::matrix_tf32, 1.83, 494.7},
                         Row{"h200", &P::matrix_double, 1.98, 66.9},
                         Row{"h200", &P::half, 1.98, 133.8},
                         Row{"gh200", &P::matrix_fp8, 1.83, 1978.9},
                         Row{"b200", &P::matrix_half, 1.85, 2250},
                         Row{"gb200", &P::matrix_half, 2.06, 2500},
                         Row{"gb200", &P::matrix_tf32, 2.06, 1250},
                         Row{"gb200", &P::matrix_fp4, 2.06, 10000},
                         Row{"rtx5090", &P::matrix_half, 2.407, 209.5},
                         Row{"rtx5090", &P::matrix_bfloat16, 2.407, 209.5},
                         Row{"rtx5090", &P::matrix_tf32, 2.407, 104.8},
                         Row{"rtx5090", &P::matrix_fp8, 2.407, 838},
                         Row{"rtx5090", &P::matrix_fp4, 2.407, 1676},
                         Row{"rtx5090", &P::matrix_int8, 2.407, 838}}) {
    const auto d = find_device(row.id);
    ASSERT_TRUE(d) << row.id;
    const std::optional<double>& rate = d->peak_operations.*row.rate;
    ASSERT_TRUE(rate) << row.id;
    EXPECT_NEAR(*rate * d->multiprocessors * row.clock_ghz / 1e3, row.tflops, 0.015 * row.tflops) << row.id;
  }
  // What a device does not have, or what is not known, is absent.
  EXPECT_FALSE(find_device("8800gtx")->peak_operations.double_precision);
  EXPECT_FALSE(find_device("p100")->peak_operations.matrix_half);
  EXPECT_FALSE(find_device("9400m")->host_link_gb_s) << "it shares the memory of the host";
}

// Each launch asks for its device.
TEST(Devices, AreParsedOnce) {
  const auto seconds = [](auto&& body) {
    const auto begin = std::chrono::steady_clock::now();
    body();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  const std::string text = text_of("h200.toml");
  ASSERT_TRUE(find_device("h200").has_value());
  double parsed = 1, found = 1;
  for (int i = 0; i < 20; ++i) {
    parsed = std::min(parsed, seconds([&] { EXPECT_TRUE(load_device(text, "h200.toml").has_value()); }));
    found = std::min(found, seconds([&] { EXPECT_TRUE(find_device("h200").has_value()); }));
  }
  EXPECT_LT(found, parsed / 5);
}

} // namespace device_test
} // namespace warplens::model
