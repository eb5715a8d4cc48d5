// SPDX-License-Identifier: Apache-2.0
#include "model/schedule.hpp"

#include <gtest/gtest.h>

namespace warplens::model {
namespace schedule_test {

void expect(const std::vector<Interval>& got, const std::vector<Interval>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i].start, wanted[i].start, 1e-9) << "task " << i;
    EXPECT_NEAR(got[i].end, wanted[i].end, 1e-9) << "task " << i;
  }
}

constexpr Unit kKernel = Unit::multiprocessors;

TEST(Schedule, NothingTakesNoTime) { EXPECT_TRUE(schedule({}).empty()); }

TEST(Schedule, ATaskWaitsForThoseBeforeIt) {
  const Task tasks[] = {{Unit::to_device, 2}, {kKernel, 3, 1, {0}}, {Unit::to_host, 1, 1, {1}}};
  expect(schedule(tasks), {{0, 2}, {2, 5}, {5, 6}});
}

// CUDA C++ Best Practices Guide, "Asynchronous and Overlapping Transfers with Computation": two halves of the work in
// two streams; the copies of a direction follow each other, the rest overlaps.
TEST(Schedule, StreamsOverlapCopiesAndKernels) {
  const Task tasks[] = {{Unit::to_device, 2}, {kKernel, 3, 1, {0}}, {Unit::to_host, 2, 1, {1}},
                        {Unit::to_device, 2}, {kKernel, 3, 1, {3}}, {Unit::to_host, 2, 1, {4}}};
  expect(schedule(tasks), {{0, 2}, {2, 5}, {5, 7}, {2, 4}, {5, 8}, {8, 10}});
}

TEST(Schedule, KernelsThatFillTheDeviceFollowEachOther) {
  const Task tasks[] = {{kKernel, 3}, {kKernel, 4}};
  expect(schedule(tasks), {{0, 3}, {3, 7}});
}

TEST(Schedule, SmallKernelsRunAtTheSameTime) {
  const Task tasks[] = {{kKernel, 3, 0.5}, {kKernel, 4, 0.5}, {kKernel, 1, 0.5}};
  expect(schedule(tasks), {{0, 3}, {0, 4}, {3, 4}});
}

// The second kernel can use the whole device, but finds half of it: in 2 ms, it does 1 ms of its work.
TEST(Schedule, ALaterKernelTakesWhatIsLeft) {
  const Task tasks[] = {{kKernel, 2, 0.5}, {kKernel, 3, 1}};
  expect(schedule(tasks), {{0, 2}, {0, 4}});
}

TEST(Schedule, TasksWithoutTimeEndAtOnce) {
  const Task tasks[] = {{kKernel, 2}, {Unit::none, 0, 1, {0}}, {kKernel, 0, 1, {1}}, {kKernel, 1, 1, {1, 2}}};
  expect(schedule(tasks), {{0, 2}, {2, 2}, {2, 2}, {2, 3}});
}

TEST(Schedule, ACopyEngineTakesTheFirstSubmitted) {
  const Task tasks[] = {{kKernel, 1}, {Unit::to_device, 4}, {Unit::to_device, 1, 1, {0}}, {Unit::to_device, 1}};
  expect(schedule(tasks), {{0, 1}, {0, 4}, {4, 5}, {5, 6}});
}

// Long chains need no stack, and many tasks no quadratic time.
TEST(Schedule, ManyTasks) {
  std::vector<Task> tasks(200000);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    tasks[i] = {i % 3 == 0 ? Unit::none : kKernel, i % 3 == 0 ? 0 : 1.0, 0.25};
    if (i >= 2) tasks[i].after = {i - 2};
  }
  const std::vector<Interval> got = schedule(tasks);
  EXPECT_NEAR(got.back().end, 200000 / 3.0, 2);
}

TEST(Schedule, UnitsOfOldDevices) {
  const Device first = *find_device("8800gtx"), second = *find_device("c1060"), fermi = *find_device("c2050");
  EXPECT_EQ(unit_on(first, Unit::to_device), Unit::multiprocessors) << "no copy beside a kernel";
  EXPECT_EQ(unit_on(second, Unit::to_host), unit_on(second, Unit::to_device)) << "one copy engine";
  EXPECT_NE(unit_on(fermi, Unit::to_host), unit_on(fermi, Unit::to_device));
  EXPECT_FALSE(runs_concurrent_kernels(second));
  EXPECT_TRUE(runs_concurrent_kernels(fermi));
}

} // namespace schedule_test
} // namespace warplens::model
