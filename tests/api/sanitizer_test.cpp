// SPDX-License-Identifier: Apache-2.0
// What the tools of a process keep: a bounded number of messages, and a count of all.
#include "api/check/sanitizer.hpp"

#include <gtest/gtest.h>

namespace warplens::api {
namespace sanitizer_test {

TEST(Sanitizer, KeepsABoundedNumberOfMessagesAndCountsAll) {
  CheckOptions options;
  options.tools.memcheck = true;
  const auto tools = std::move(*Sanitizer::create(options));
  constexpr std::size_t kMore = Sanitizer::kMostMessages + 500;
  for (std::size_t i = 0; i < kMore; ++i) {
    CheckMessage m;
    m.kind = exec::ToolFinding::Kind::api_error;
    m.title = "cuMemFree_v2 failed";
    m.order = tools->next_order();
    tools->add(std::move(m));
  }
  const std::vector<CheckMessage> kept = tools->take();
  ASSERT_EQ(kept.size(), Sanitizer::kMostMessages);
  EXPECT_EQ(kept.front().order, 1u) << "the first ones are kept";
  EXPECT_EQ(tools->summary().messages, kMore);
  EXPECT_EQ(tools->summary().errors, kMore);
}

} // namespace sanitizer_test
} // namespace warplens::api
