// SPDX-License-Identifier: Apache-2.0
// The table of metrics: names are unique, families are recognised, formulas name metrics that exist.
#include "analyzers/metrics.hpp"

#include <gtest/gtest.h>

#include <regex>
#include <set>

namespace warplens::analyzers {
namespace metrics_test {

TEST(MetricTable, HasEachNameOnce) {
  std::set<std::string_view> names;
  for (const MetricInfo& m : metric_infos()) {
    EXPECT_TRUE(names.insert(m.name).second) << m.name;
    EXPECT_EQ(&info(m.id), &m) << m.name;
    EXPECT_FALSE(m.definition.empty()) << m.name;
    EXPECT_EQ(m.definition.back() == '.', false) << m.name;
  }
}

TEST(MetricTable, GroupsTheMetricsOfAnAnalyzer) {
  std::size_t seen = 0;
  for (const MetricGroup& group : metric_groups()) {
    EXPECT_FALSE(metrics_of(group.analyzer).empty()) << group.analyzer;
    seen += metrics_of(group.analyzer).size();
  }
  EXPECT_EQ(seen, metric_infos().size()) << "a metric is apart from the others of its analyzer";
}

// In by_operation(), the metrics of stores, atomics and reductions follow that of loads.
TEST(MetricTable, OrdersOperations) {
  for (const MetricInfo& m : metric_infos()) {
    const std::string_view name = m.name;
    const std::size_t at = name.find("_op_ld");
    if (at == name.npos || name.find("_lookup_") != name.npos) continue;
    for (std::size_t operation = 0; operation < kOperationNames.size(); ++operation) {
      std::string expected(name);
      expected.replace(at, 6, "_op_" + std::string(kOperationNames[operation]));
      if (find_metric(expected) == nullptr) break;
      EXPECT_EQ(info(by_operation(m.id, operation)).name, expected);
    }
  }
  EXPECT_EQ(info(by_operation(MetricId::gld_128b, exec::AccessKind::store)).name, "gst_128b");
}

TEST(MetricTable, NamesMetricsInFormulas) {
  const std::regex name("[A-Za-z_][A-Za-z_0-9.]*");
  std::size_t seen = 0;
  for (const MetricInfo& m : metric_infos()) {
    const std::string formula(m.formula);
    for (std::sregex_iterator i(formula.begin(), formula.end(), name), end; i != end; ++i, ++seen)
      EXPECT_NE(find_metric(i->str()), nullptr) << m.name << " = " << formula;
  }
  EXPECT_GT(seen, 20u);
}

TEST(MetricTable, FindsMembersOfFamilies) {
  ASSERT_NE(find_metric("branch_with_7_active_lanes"), nullptr);
  EXPECT_EQ(find_metric("branch_with_7_active_lanes")->id, MetricId::branches_with_active_lanes);
  EXPECT_EQ(find_metric("rule.1.2.ld_64b")->id, MetricId::rule_transactions_of_size);
  EXPECT_EQ(find_metric("rule.my.own.bytes_moved")->id, MetricId::rule_bytes_moved);
  EXPECT_EQ(find_metric("milliseconds")->id, MetricId::milliseconds);
  EXPECT_EQ(find_metric("sim.milliseconds")->id, MetricId::model_milliseconds);
  EXPECT_EQ(find_metric("branch_with__active_lanes"), nullptr);
  EXPECT_EQ(find_metric("beauty"), nullptr);
  EXPECT_EQ(did_you_mean_metric("gld_64"), "did you mean 'gld_64b'?");
  EXPECT_EQ(did_you_mean_metric("beauty"), "");
}

TEST(Metrics, AreFoundByKeyAndByName) {
  Metrics metrics;
  metrics.add(MetricId::gld_request, 3);
  metrics.add({MetricId::rule_transactions_of_size, "1.2", "ld", 64}, 5);
  metrics.add_ratio(MetricId::occupancy, 1, 0);
  EXPECT_EQ(metrics.integer(MetricId::gld_request), 3u);
  EXPECT_EQ(metrics.integer("rule.1.2.ld_64b"), 5u);
  EXPECT_EQ(metrics.integer({MetricId::rule_transactions_of_size, "1.2", "ld", 32}), 0u);
  EXPECT_EQ(metrics.find(MetricId::occupancy), nullptr) << "there is nothing to divide by";
  Metrics other;
  other.add(MetricId::gld_request, 4);
  other.add(MetricId::gst_request, 1);
  other.add_ratio(MetricId::occupancy, 1, 2);
  metrics.accumulate(other);
  EXPECT_EQ(metrics.integer(MetricId::gld_request), 7u);
  EXPECT_EQ(metrics.list().back().name(), "gst_request") << "ratios do not add up";
}

} // namespace metrics_test
} // namespace warplens::analyzers
