// SPDX-License-Identifier: Apache-2.0
#include "model/cornelis.hpp"
#include "model/models.hpp"

#include <gtest/gtest.h>

namespace warplens::model {
namespace cornelis_test {

TEST(Cornelis, Slowdowns) {
  EXPECT_DOUBLE_EQ(access_slowdown(512, 64), 8);
  EXPECT_DOUBLE_EQ(conflict_slowdown(20, 60), 4);
}

KernelStatistics kernel() {
  KernelStatistics s;
  s.threads_per_block = 48;
  s.blocks = 10;
  s.instructions = 100;
  s.global_requests = 10;
  s.bytes_per_request = 128;
  s.transactions_32 = 320;
  s.transactions_64 = s.transactions_128 = 0;
  s.bank_conflict_passes = 100;
  s.lanes_per_instruction = 12;
  s.synchronizations = 3;
  return s;
}

TEST(Cornelis, PatternsOfALaunch) {
  const auto p = antiparallel_patterns(kernel(), *find_device("gtx280"));
  ASSERT_TRUE(p);
  EXPECT_DOUBLE_EQ(p->partitioning, 64.0 / 48);
  EXPECT_DOUBLE_EQ(p->branching, 32.0 / 12 / (64.0 / 48)); // the lanes without a thread are counted once
  EXPECT_DOUBLE_EQ(p->global_access, 8);
  EXPECT_DOUBLE_EQ(p->bank_conflicts.value(), (400 + 200) / 400.0);
  EXPECT_DOUBLE_EQ(p->barriers, 3);
}

TEST(Cornelis, AnIdealLaunchHasNoPattern) {
  KernelStatistics s = kernel();
  s.threads_per_block = 64;
  s.lanes_per_instruction = 32;
  s.transactions_32 = 40;
  s.bank_conflict_passes = 0;
  const auto p = antiparallel_patterns(s, *find_device("gtx280"));
  ASSERT_TRUE(p);
  for (const double factor : {p->branching, p->global_access, p->bank_conflicts.value(), p->partitioning})
    EXPECT_DOUBLE_EQ(factor, 1);
}

TEST(Cornelis, WhatIsMissingOrCannotBeIsAnError) {
  KernelStatistics s = kernel();
  s.instructions.reset();
  EXPECT_FALSE(antiparallel_patterns(s, *find_device("gtx280")));
  s = kernel();
  s.lanes_per_instruction = 33;
  EXPECT_FALSE(antiparallel_patterns(s, *find_device("gtx280")));
}

} // namespace cornelis_test
} // namespace warplens::model
