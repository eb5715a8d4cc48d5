// SPDX-License-Identifier: Apache-2.0
#include "api/session/kernel_name.hpp"
#include "api/session/session.hpp"

#include <gtest/gtest.h>

namespace warplens::api {
namespace kernel_name_test {

TEST(KernelName, AsInTheSource) {
  EXPECT_EQ(source_name("scale"), "scale");
  EXPECT_EQ(source_name("_Z5scalePfi"), "scale");
  EXPECT_EQ(source_name("_Z5scaleIfEvPT_i"), "scale<float>");
  EXPECT_EQ(source_name("_ZN2ns5scaleEPfi"), "ns::scale");
  EXPECT_EQ(source_name("_ZN12_GLOBAL__N_15scaleEPfi"), "(anonymous namespace)::scale");
  EXPECT_EQ(source_name("_Z4callIPFvvEEvT_"), "call<void (*)()>");
  EXPECT_EQ(source_name("_Znonsense"), "_Znonsense");
}

TEST(KernelName, HasTheTypesOfTheParameters) {
  using Types = std::vector<std::string>;
  EXPECT_EQ(source_parameters("_Z5saxpyifPKfPf"), (Types{"int", "float", "float const*", "float*"}));
  EXPECT_EQ(source_parameters("_Z5scaleIfEvPT_i"), (Types{"float*", "int"}));
  EXPECT_EQ(source_parameters("_Z4fillI4PairIifEEvPT_S2_"), (Types{"Pair<int, float>*", "Pair<int, float>"}));
  EXPECT_EQ(source_parameters("_Z4callIPFvifEEvT_"), (Types{"void (*)(int, float)"}));
  EXPECT_EQ(source_parameters("_Z4nonev"), Types{});
  EXPECT_EQ(source_parameters("scale"), Types{});
  EXPECT_EQ(source_parameters("_Znonsense"), Types{});
}

TEST(KernelName, FindsKernelsByIt) {
  constexpr std::string_view kHead = ".version 8.0\n.target sm_80\n.address_size 64\n";
  const auto module = Module::load(*Context::create(),
                                   std::string(kHead) + ".visible .entry _Z5scalePfi() { ret; }\n"
                                                        ".visible .entry _Z3addf() { ret; }\n"
                                                        ".visible .entry _Z3addi() { ret; }\n",
                                   "k.ptx");
  ASSERT_TRUE(module);
  EXPECT_EQ((*module)->kernel("scale")->function->name, "_Z5scalePfi");
  EXPECT_FALSE((*module)->kernel("add")) << "two kernels have this name";
  EXPECT_TRUE((*module)->kernel("_Z3addi"));
}

// Each of these would take years if every way to match were tried.
TEST(KernelName, PatternsTakeABoundedTime) {
  const std::string name = "_Z1k" + std::string(NamePattern::kLongest, 'a');
  for (const char* expression : {".**b", "(a*)*b", "(a|aa)+b", ".*(a+a+)+y"}) {
    const auto pattern = NamePattern::create(expression);
    ASSERT_TRUE(pattern) << expression;
    EXPECT_FALSE(pattern->matches(name)) << expression;
  }
  EXPECT_TRUE(NamePattern::create("^sc.*<(int|float)>$")->matches("_Z5scaleIfEvPT_i"));
  EXPECT_FALSE(NamePattern::create("(a)\\1")) << "with references to groups, the time has no bound";
  EXPECT_FALSE(NamePattern::create("a{18446744073709551617}")) << "not {1}";
  EXPECT_TRUE(NamePattern::create("k_12345678901")->matches("k_12345678901"));
}

} // namespace kernel_name_test
} // namespace warplens::api
