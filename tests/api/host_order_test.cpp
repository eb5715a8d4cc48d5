// SPDX-License-Identifier: Apache-2.0
#include "api/check/host_order.hpp"

#include <gtest/gtest.h>

namespace warplens::api {
namespace host_order_test {

using Operations = std::vector<std::size_t>;

TEST(HostOrder, StreamsAreInNoOrderWithoutEvents) {
  HostOrder order;
  EXPECT_EQ(order.submit(1, {}), Operations{});
  EXPECT_EQ(order.submit(1, {}), Operations{});
  EXPECT_EQ(order.submit(2, {}), (Operations{0, 1}));
}

TEST(HostOrder, EventsOrderWhatCameBeforeTheRecord) {
  HostOrder order;
  const int mark = 0;
  order.submit(1, {});
  order.record(1, {}, &mark);
  order.submit(1, {});
  order.wait(2, &mark);
  EXPECT_EQ(order.submit(2, {}), (Operations{1}));
}

TEST(HostOrder, TheDefaultStreamWaitsForOthers) {
  HostOrder order;
  order.submit(1, {});
  EXPECT_EQ(order.submit(0, {1}), Operations{});
  EXPECT_EQ(order.submit(2, {0}), Operations{}); // a blocking stream, behind both
  EXPECT_EQ(order.submit(3, {}), (Operations{0, 1, 2}));
}

// A loop of launches without synchronisation takes time in proportion to their number.
TEST(HostOrder, ManyOperationsOfAStream) {
  HostOrder order;
  for (std::size_t i = 0; i < 300'000; ++i) {
    EXPECT_EQ(order.all_known(), i == 0);
    EXPECT_TRUE(order.submit(1, {}).empty());
  }
  EXPECT_EQ(order.submit(2, {}).size(), 300'000u);
  order.synchronize(1);
  EXPECT_EQ(order.unknown(), std::vector<std::size_t>{300'000});
  order.synchronize(2);
  EXPECT_TRUE(order.all_known());
  EXPECT_TRUE(order.submit(3, {}).empty());
  EXPECT_EQ(order.submit(1, {}), std::vector<std::size_t>{0});
}

TEST(HostOrder, TheHostWaitsForAStream) {
  HostOrder order;
  order.submit(1, {});
  order.submit(2, {});
  EXPECT_EQ(order.unknown(), (Operations{0, 1}));
  order.synchronize(1);
  EXPECT_EQ(order.unknown(), (Operations{1}));
  EXPECT_EQ(order.access(), (Operations{1}));
  EXPECT_FALSE(order.all_known());
  order.synchronize(2);
  EXPECT_TRUE(order.all_known());
  EXPECT_EQ(order.submit(3, {}), Operations{});
}

TEST(HostOrder, EdgesOrderTheNodesOfAGraph) {
  HostOrder order;
  const int a = 0, b = 0, c = 0;
  order.submit(1, {});
  {
    HostOrder::GraphLaunch launch(order, 1, {});
    launch.begin(&a, {});
    EXPECT_EQ(order.submit(1, {}), Operations{});
    launch.end(&a);
    launch.begin(&b, {});
    EXPECT_EQ(order.submit(1, {}), (Operations{1}));
    launch.end(&b);
    launch.begin(&c, {&a});
    EXPECT_EQ(order.submit(1, {}), (Operations{2}));
    launch.end(&c);
  }
  EXPECT_EQ(order.submit(1, {}), Operations{}); // behind the whole graph
}

} // namespace host_order_test
} // namespace warplens::api
