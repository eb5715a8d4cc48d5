// SPDX-License-Identifier: Apache-2.0
#include "model/statistics.hpp"

#include "model/models.hpp"
#include "model/occupancy.hpp"

#include <fmt/format.h>

#include <cmath>

namespace warplens::model {
namespace {

using Field = std::optional<double>;

constexpr double kLargest = 1e15; ///< larger than any real count; products of a few such numbers stay finite

double sum_of_classes(const KernelStatistics& s) {
  double sum = 0;
  for (const Field& count : s.by_class) sum += value_of(count);
  return sum;
}

/// Collects what is wrong with the relations between fields.
class Relations {
public:
  explicit Relations(const KernelStatistics& statistics) : s_(statistics) {}

  Diagnostics check() {
    positive("threads_per_block", s_.threads_per_block);
    positive("blocks", s_.blocks);
    positive("resident_blocks", s_.resident_blocks);
    positive("instructions", s_.instructions);
    at_least_one("duplicate_loads", s_.duplicate_loads);
    at_least_one("ideal_duplicate_loads", s_.ideal_duplicate_loads);
    at_least_one("instruction_parallelism", s_.instruction_parallelism);
    at_least_one("lanes_per_instruction", s_.lanes_per_instruction);
    at_most("lanes_per_instruction", s_.lanes_per_instruction, kWarpSize);
    at_most("l1_hit_ratio", s_.l1_hit_ratio, 1);
    at_most("l2_hit_ratio", s_.l2_hit_ratio, 1);
    at_most("first_wave_from_memory", s_.first_wave_from_memory, 1);
    positive("adjusting_weight", s_.adjusting_weight);
    at_least_one("independent_loads", s_.independent_loads);
    at_least_one("uncoalesced_transactions", s_.uncoalesced_transactions);
    parts();
    requests_without_content();
    return std::move(errors_);
  }

private:
  void positive(std::string_view name, const Field& value) {
    if (value && *value == 0) errors_.error({}, fmt::format("'{}' is 0: expected a positive number", name));
  }
  void at_least_one(std::string_view name, const Field& value) {
    if (value && *value < 1) errors_.error({}, fmt::format("'{}' is {}: expected at least 1", name, *value));
  }
  void at_most(std::string_view name, const Field& value, double limit) {
    if (value && *value > limit) errors_.error({}, fmt::format("'{}' is {}: expected at most {}", name, *value, limit));
  }
  // Averages that were divided separately may differ in the last digits.
  void part(std::string_view name, double value, std::string_view whole_name, const Field& whole) {
    if (whole && value > *whole * (1 + 1e-9))
      errors_.error({}, fmt::format("{} is {}, more than {} ({})", name, value, whole_name, *whole));
  }

  void parts() {
    part("'global_requests'", value_of(s_.global_requests), "'instructions'", s_.instructions);
    part("'coalesced_requests' + 'uncoalesced_requests'",
         value_of(s_.coalesced_requests) + value_of(s_.uncoalesced_requests), "'instructions'", s_.instructions);
    part("'shared_requests'", value_of(s_.shared_requests), "'instructions'", s_.instructions);
    part("'integer_divisions'", value_of(s_.integer_divisions), "'instructions'", s_.instructions);
    part("'floating_point_instructions'", value_of(s_.floating_point_instructions), "'instructions'", s_.instructions);
    part("'synchronizations'", value_of(s_.synchronizations), "'instructions'", s_.instructions);
    part("the sum of the instruction classes", sum_of_classes(s_), "'instructions'", s_.instructions);
    // Their sum may have been rounded twice, to some digits.
    if (s_.transactions_32 && s_.transactions_64 && s_.transactions_128)
      part("'load_transactions' + 'store_transactions'",
           (value_of(s_.load_transactions) + value_of(s_.store_transactions)) * (1 - 1e-4), "the transactions",
           transactions(s_));
    part("'vector_transactions_32'", value_of(s_.vector_transactions_32), "'transactions_32'", s_.transactions_32);
    part("'vector_transactions_64'", value_of(s_.vector_transactions_64), "'transactions_64'", s_.transactions_64);
    part("'vector_transactions_128'", value_of(s_.vector_transactions_128), "'transactions_128'", s_.transactions_128);
  }

  void requests_without_content() {
    if (s_.global_requests && s_.transactions_32 && s_.transactions_64 && s_.transactions_128) {
      if ((*s_.global_requests > 0) != (transactions(s_) > 0))
        errors_.error({}, fmt::format("{} requests per warp make {} transactions: expected both or neither to be 0",
                                      *s_.global_requests, transactions(s_)));
    }
    if (value_of(s_.coalesced_requests) + value_of(s_.uncoalesced_requests) > 0 && s_.bytes_per_request &&
        *s_.bytes_per_request == 0)
      errors_.error({}, "'bytes_per_request' is 0, but there are requests");
  }

  const KernelStatistics& s_;
  Diagnostics errors_;
};

std::string models_without(const StatisticField& field) {
  std::string names;
  for (const Model& model : models())
    if (!model.requires_field(field.name)) names += fmt::format("{}{}", names.empty() ? "" : ", ", model.id);
  return names.empty() ? "every model needs it" : "models that do not need it: " + names;
}

} // namespace

std::string_view to_string(IssueClass issue_class) {
  static constexpr std::array<std::string_view, kIssueClasses> kNames{
#define ISSUE_CLASS(name, meaning) #name,
#include "model/statistics.def"
  };
  return kNames[static_cast<std::size_t>(issue_class)];
}

bool runs_on_special_units(IssueClass issue_class) {
  return issue_class != IssueClass::integer_multiply && issue_class != IssueClass::double_precision;
}

const std::vector<StatisticField>& statistic_fields() {
  // Never destroyed, so that it can still be used while the program ends.
  static const std::vector<StatisticField>& fields = *new std::vector<StatisticField>{
#define STATISTIC(name, aspect, unit, meaning)                                                                         \
  {#name, Aspect::aspect, unit, meaning, [](KernelStatistics& s) -> Field& { return s.name; }},
#define ISSUE_CLASS(name, meaning)                                                                                     \
  {#name, Aspect::instructions, "per warp", meaning,                                                                   \
   [](KernelStatistics& s) -> Field& { return s.by_class[static_cast<std::size_t>(IssueClass::name)]; }},
#include "model/statistics.def"
  };
  return fields;
}

std::array<CriticalPath, 3> critical_paths(KernelStatistics& s) {
  return {{{&s.path_l2, &s.path_memory},
           {&s.longest_of_blocks_path_l2, &s.longest_of_blocks_path_memory},
           {&s.longest_warp_path_l2, &s.longest_warp_path_memory}}};
}

double warps_per_block(const KernelStatistics& s) { return std::ceil(*s.threads_per_block / kWarpSize); }
double total_warps(const KernelStatistics& s) { return warps_per_block(s) * *s.blocks; }
double transactions(const KernelStatistics& s) { return *s.transactions_32 + *s.transactions_64 + *s.transactions_128; }
double transaction_bytes(const KernelStatistics& s) {
  return 32 * *s.transactions_32 + 64 * *s.transactions_64 + 128 * *s.transactions_128;
}

Diagnostics check_statistics(const KernelStatistics& statistics, std::string_view model_id) {
  Diagnostics errors;
  const Model* const model = find_model(model_id);
  KernelStatistics copy = statistics; // the table gives access to mutable statistics only
  for (const StatisticField& field : statistic_fields()) {
    const std::optional<double> value = field.get(copy);
    if (!value && model != nullptr && model->requires_field(field.name))
      errors.error(
          {},
          fmt::format("missing '{}' ({}, {}), which model {} needs", field.name, field.meaning, field.unit, model_id),
          models_without(field));
    if (value && !(*value >= 0 && *value <= kLargest))
      errors.error({}, fmt::format("'{}' is {}: expected a number from 0 to {}", field.name, *value, kLargest));
  }
  for (const auto& [name, value] :
       {std::pair{"threads_per_block", statistics.threads_per_block}, std::pair{"blocks", statistics.blocks},
        std::pair{"resident_blocks", statistics.resident_blocks}})
    if (value && std::floor(*value) != *value)
      errors.error({}, fmt::format("'{}' is {}: expected a whole number", name, *value));
  if (!errors.has_errors()) errors.append(Relations(statistics).check());
  return errors;
}

} // namespace warplens::model
