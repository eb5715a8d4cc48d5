// SPDX-License-Identifier: Apache-2.0
#include "api/plan/launch_file.hpp"
#include "api/plan/launch_tensor_map.hpp"

#include <gtest/gtest.h>

namespace warplens::api {
namespace launch_file_test {

constexpr std::string_view kFile = R"(module = "k.ptx"
device = "c1060"
shared = 64
cluster = 2
[[launch]]
kernel = "first"
grid = 4
block = [32, 2]
arg = [{ buffer = "b" }, { f32 = 1 }]
[[launch]]
kernel = "second"
module = "sub/other.ptx"
grid = [1, 2, 3]
block = [8]
cluster = [1, 2]
shared = 0
registers = 40
cooperative = true
[[launch.arg]]
u64 = 7
[buffer.b]
type = "s16"
count = 10
random = [-3, 3]
seed = 5
save = "out.npy"
[buffer.a]
type = "f64"
file = "a.npy"
expect = "e.npy"
tolerance = 0.5
)";

Expected<Plan> parse(std::string_view text, std::vector<Override> overrides = {}) {
  return parse_launch_file(text, "folder/launch.toml", overrides);
}

TEST(LaunchFile, ReadsEverything) {
  const Expected<Plan> plan = parse(kFile);
  ASSERT_TRUE(plan) << render(plan.error(), kFile);
  EXPECT_EQ(plan->device, "c1060");
  ASSERT_EQ(plan->launches.size(), 2u);
  const LaunchPlan &first = plan->launches[0], &second = plan->launches[1];
  EXPECT_EQ(first.module, "folder/k.ptx");
  EXPECT_EQ(first.grid, (Extent{4, 1, 1}));
  EXPECT_EQ(first.block, (Extent{32, 2, 1}));
  EXPECT_EQ(first.shared, 64u);
  EXPECT_EQ(first.cluster, (Extent{2, 1, 1}));
  ASSERT_EQ(first.arguments.size(), 2u);
  EXPECT_EQ(std::get<std::string>(first.arguments[0].value), "b");
  EXPECT_EQ(std::get<ScalarPlan>(first.arguments[1].value).type, Type::f32);
  EXPECT_EQ(second.module, "folder/sub/other.ptx");
  EXPECT_EQ(second.grid, (Extent{1, 2, 3}));
  EXPECT_EQ(second.shared, 0u);
  EXPECT_EQ(first.registers, std::nullopt);
  EXPECT_EQ(second.registers, 40u);
  EXPECT_FALSE(first.cooperative);
  EXPECT_TRUE(second.cooperative);
  EXPECT_EQ(second.cluster, (Extent{1, 2, 1}));
  EXPECT_EQ(std::get<ScalarPlan>(second.arguments.at(0).value).value, Number{std::int64_t{7}});
  ASSERT_EQ(plan->buffers.size(), 2u);
  EXPECT_EQ(plan->buffers[0].name, "b") << "in the order of the text";
  EXPECT_EQ(plan->buffers[0].initial.kind, Initial::Kind::random);
  EXPECT_EQ(plan->buffers[0].initial.seed, 5u);
  EXPECT_EQ(*plan->buffers[0].save, "folder/out.npy");
  EXPECT_EQ(plan->buffers[1].initial.file, "folder/a.npy");
  EXPECT_EQ(plan->buffers[1].tolerance, 0.5);
  EXPECT_EQ(*plan->buffers[1].expect, "folder/e.npy");
}

TEST(LaunchFile, Overrides) {
  const Expected<Plan> plan = parse(kFile, {{"device", "h200"},
                                            {"launch.0.grid", "[9, 1, 1]"},
                                            {"launch.0.arg.1.f32", "2.5"},
                                            {"buffer.b.count", "3"},
                                            {"launch.1.arg.0", "{ buffer = \"a\" }"}});
  ASSERT_TRUE(plan) << render(plan.error(), "");
  EXPECT_EQ(plan->device, "h200");
  EXPECT_EQ(plan->launches[0].grid, (Extent{9, 1, 1}));
  EXPECT_EQ(std::get<ScalarPlan>(plan->launches[0].arguments[1].value).value, Number{2.5});
  EXPECT_EQ(plan->buffers[0].count, 3u);
  EXPECT_EQ(std::get<std::string>(plan->launches[1].arguments[0].value), "a");
}

TEST(LaunchFile, ThreadsOfTheGridInsteadOfBlocks) {
  constexpr std::string_view kTotal = "module = \"k.ptx\"\nkernel = \"k\"\ntotal = [100, 7]\nblock = [32, 2]\n"
                                      "shared_per_thread = 4\n";
  Expected<Plan> plan = parse(kTotal);
  ASSERT_TRUE(plan) << render(plan.error(), kTotal);
  EXPECT_EQ(plan->launches[0].grid, (Extent{4, 4, 1}));
  EXPECT_EQ(plan->launches[0].shared_per_thread, 4u);
  plan = parse(kTotal, {{"block", "[64, 1]"}});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->launches[0].grid, (Extent{2, 7, 1}));
  EXPECT_FALSE(parse(kTotal, {{"block", "0"}})->launches.empty()); // refused when it is launched
  const Expected<Plan> both = parse(kTotal, {{"grid", "4"}});
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().list()[0].message, "'total' and 'grid' are both given: expected one of them");
}

TEST(LaunchFile, OverridesThatNameNothing) {
  for (const Override& o : std::vector<Override>{
           {"launch.7.grid", "1"}, {"launch.x.grid", "1"}, {"launch.5", "1"}, {"device.", "1"}, {"shared.a", "1"}})
    EXPECT_FALSE(parse(kFile, {o})) << o.path;
  const Expected<Plan> unknown = parse(kFile, {{"buffer.b.cuont", "3"}});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().list()[0].file, "--set buffer.b.cuont=3");
}

TEST(LaunchFile, EveryErrorWithItsPlace) {
  const Expected<Plan> plan =
      parse("module = 5\nkernel = \"k\"\ngrid = [1, 2, 3, 4]\nblock = 1.5\nclock = 3\ncooperative = 1\n");
  ASSERT_FALSE(plan);
  std::vector<std::string> places;
  for (const Diagnostic& d : plan.error().list())
    places.push_back(std::to_string(d.where.line) + ":" + std::to_string(d.where.column));
  EXPECT_EQ(places, (std::vector<std::string>{"5:1", "1:10", "3:8", "4:9", "6:15"}));
  EXPECT_EQ(plan.error().list()[0].file, "folder/launch.toml");
}

TEST(LaunchFile, RegistersAreThoseOfAThread) {
  for (const char* wrong : {"0", "-1", "256", "1.5", "\"many\""}) {
    const Expected<Plan> plan = parse(kFile, {{"launch.0.registers", wrong}});
    ASSERT_FALSE(plan) << wrong;
    EXPECT_NE(plan.error().list()[0].message.find("'registers'"), std::string::npos) << wrong;
  }
  const Expected<Plan> plan = parse(kFile, {{"registers", "255"}});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->launches[0].registers, 255u) << "from the top level";
  EXPECT_EQ(plan->launches[1].registers, 40u);
}

std::string with_map(const std::string& map) {
  return "module = \"k.ptx\"\nkernel = \"k\"\ngrid = 1\nblock = 32\narg = [{ tensor_map = \"m\" }]\n[tensor_map.m]\n" +
         map;
}

TEST(LaunchFile, TensorMaps) {
  const std::string text =
      with_map("buffer = \"b\"\nsize = [64, 32, 4]\nbox = [64, 8, 1]\nstride = 256\nswizzle = 128\n"
               "promotion = 256\nfill = \"nan\"\n");
  const Expected<Plan> plan = parse(text);
  ASSERT_TRUE(plan) << render(plan.error(), text);
  EXPECT_EQ(std::get<TensorMapName>(plan->launches[0].arguments[0].value).name, "m");
  ASSERT_EQ(plan->tensor_maps.size(), 1u);
  const auto map = made(plan->tensor_maps[0], 4096, Type::f16);
  ASSERT_TRUE(map) << render(map.error(), text);
  EXPECT_EQ(map->type, exec::TensorMap::Type::f16);
  EXPECT_EQ(map->rank, 3);
  EXPECT_EQ(map->address, 4096u);
  EXPECT_EQ(map->strides, (std::array<std::uint64_t, 4>{256, 8192, 0, 0})); // the second one follows
  EXPECT_EQ(map->box, (std::array<std::uint32_t, 5>{64, 8, 1, 1, 1}));
  EXPECT_EQ(map->swizzle, 3);
  EXPECT_EQ(map->promotion, 3);
  EXPECT_TRUE(map->fill_nan);
}

TEST(LaunchFile, WrongTensorMaps) {
  struct Wrong {
    std::string map, message;
  };
  for (const Wrong& wrong : {
           Wrong{"size = 64\n", "tensor map 'm': missing key 'buffer'"},
           Wrong{"buffer = \"b\"\nsize = [1, 2, 3, 4, 5, 6]\n", "'size' has 6 numbers: expected 1 to 5"},
           Wrong{"buffer = \"b\"\nsize = [-1]\n", "'size' has a wrong number"},
           Wrong{"buffer = \"b\"\nsize = 64\nswizzle = 48\n", "'swizzle' is 48: expected 0, 32, 64 and so on"},
           Wrong{"buffer = \"b\"\nsize = 64\nfill = \"one\"\n", "'fill' is 'one': expected zero or nan"},
           Wrong{"buffer = \"b\"\nsize = 64\ntype = \"s8\"\n", "a tensor cannot have elements of type 's8'"},
           Wrong{"buffer = \"b\"\nsize = 64\nboxes = 1\n", "unknown key 'boxes'"},
       }) {
    const auto plan = parse(with_map(wrong.map));
    ASSERT_FALSE(plan) << wrong.map;
    EXPECT_EQ(plan.error().list().front().message, wrong.message);
  }
  const auto plan = parse(with_map("buffer = \"b\"\nsize = [64, 4]\nbox = [6, 4]\n"));
  ASSERT_TRUE(plan);
  EXPECT_EQ(made(plan->tensor_maps[0], 4096, Type::f16).error().list().front().message,
            "tensor map 'm': no such tensor map: a row of the box has 12 bytes, which is not a multiple of 16");
}

TEST(LaunchFile, NotToml) {
  const Expected<Plan> plan = parse("module = \"k.ptx\"\nkernel = \n");
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().list()[0].where.line, 2u);
  // Cut anywhere, it is refused or read, and never crashes.
  for (std::size_t length = 0; length < kFile.size(); ++length) (void)parse(kFile.substr(0, length));
}

} // namespace launch_file_test
} // namespace warplens::api
