// SPDX-License-Identifier: Apache-2.0
#include "model/statistics.hpp"

#include "model/models.hpp"
#include "model/occupancy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace warplens::model {
namespace {

using Field = std::optional<double>;

template <Field KernelStatistics::*Member> Field& member(KernelStatistics& statistics) { return statistics.*Member; }
template <IssueClass Class> Field& of_class(KernelStatistics& statistics) {
  return statistics.by_class[static_cast<std::size_t>(Class)];
}

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
  switch (issue_class) {
  case IssueClass::reciprocal: return "reciprocal";
  case IssueClass::reciprocal_square_root: return "reciprocal_square_root";
  case IssueClass::square_root: return "square_root";
  case IssueClass::divide: return "divide";
  case IssueClass::fast_divide: return "fast_divide";
  case IssueClass::logarithm: return "logarithm";
  case IssueClass::exponential: return "exponential";
  case IssueClass::sine_cosine: return "sine_cosine";
  case IssueClass::integer_multiply: return "integer_multiply";
  case IssueClass::double_precision: return "double_precision";
  }
  return "";
}

bool runs_on_special_units(IssueClass issue_class) {
  return issue_class != IssueClass::integer_multiply && issue_class != IssueClass::double_precision;
}

const std::vector<StatisticField>& statistic_fields() {
  using S = KernelStatistics;
  using C = IssueClass;
  static constexpr std::string_view kPerWarp = "per warp";
  static constexpr std::string_view kRatio = "0 to 1";
  // Never destroyed, so that it can still be used while the program ends.
  static const std::vector<StatisticField>& fields = *new std::vector<StatisticField>{
      {"threads_per_block", "threads", "threads of a block", member<&S::threads_per_block>},
      {"blocks", "blocks", "blocks of the grid", member<&S::blocks>},
      {"resident_blocks", "blocks", "blocks that fit on a multiprocessor", member<&S::resident_blocks>},
      {"instructions", kPerWarp, "warp instructions of all kinds", member<&S::instructions>},
      {"global_requests", kPerWarp, "requests to device memory", member<&S::global_requests>},
      {"coalesced_requests", kPerWarp, "coalesced requests", member<&S::coalesced_requests>},
      {"uncoalesced_requests", kPerWarp, "uncoalesced requests", member<&S::uncoalesced_requests>},
      {"uncoalesced_transactions", "per request", "transactions of an uncoalesced request",
       member<&S::uncoalesced_transactions>},
      {"bytes_per_request", "bytes", "bytes that the lanes access", member<&S::bytes_per_request>},
      {"transactions_32", kPerWarp, "32-byte transactions", member<&S::transactions_32>},
      {"transactions_64", kPerWarp, "64-byte transactions", member<&S::transactions_64>},
      {"transactions_128", kPerWarp, "128-byte transactions", member<&S::transactions_128>},
      {"vector_transactions_32", kPerWarp, "those of vector requests", member<&S::vector_transactions_32>},
      {"vector_transactions_64", kPerWarp, "those of vector requests", member<&S::vector_transactions_64>},
      {"vector_transactions_128", kPerWarp, "those of vector requests", member<&S::vector_transactions_128>},
      {"load_transactions", kPerWarp, "load transactions of all sizes", member<&S::load_transactions>},
      {"store_transactions", kPerWarp, "store transactions of all sizes", member<&S::store_transactions>},
      {"atomic_transactions", kPerWarp, "atomic transactions, repeated for colliding lanes",
       member<&S::atomic_transactions>},
      {"argument_bytes", "bytes", "size of the allocations that the launch arguments point into",
       member<&S::argument_bytes>},
      {"duplicate_loads", "requests", "requests in flight that fetch the same data", member<&S::duplicate_loads>},
      {"load_waits", kPerWarp, "waits for loads", member<&S::load_waits>},
      {"independent_loads", "requests", "requests that a warp has in flight", member<&S::independent_loads>},
      {"ideal_duplicate_loads", "warps", "warps of a block that fetch the same data",
       member<&S::ideal_duplicate_loads>},
      {"independent_instructions", "per request", "instructions between a request and the use of its data",
       member<&S::independent_instructions>},
      {"l1_hit_ratio", kRatio, "load transactions that hit the L1 cache", member<&S::l1_hit_ratio>},
      {"l2_hit_ratio", kRatio, "of the load transactions that miss the L1 cache, those that hit the L2 cache",
       member<&S::l2_hit_ratio>},
      {"l1_wavefronts", kPerWarp, "passes over the L1 cache and shared memory", member<&S::l1_wavefronts>},
      {"synchronizations", kPerWarp, "barriers", member<&S::synchronizations>},
      {"bank_conflict_passes", kPerWarp, "half-warp passes over the banks beyond the first",
       member<&S::bank_conflict_passes>},
      {"shared_requests", kPerWarp, "requests to shared memory", member<&S::shared_requests>},
      {"issue_chain", kPerWarp, "cycles that a single warp takes to issue its instructions", member<&S::issue_chain>},
      {"lanes_per_instruction", "lanes", "lanes that take part in an instruction", member<&S::lanes_per_instruction>},
      {"integer_divisions", kPerWarp, "integer divisions and remainders", member<&S::integer_divisions>},
      {"instruction_parallelism", "instructions", "consecutive independent instructions of a warp",
       member<&S::instruction_parallelism>},
      {"floating_point_instructions", kPerWarp, "floating-point instructions", member<&S::floating_point_instructions>},
      {"flops", kPerWarp, "floating-point operations of all lanes", member<&S::flops>},
      {"registers_per_thread", "registers", "registers of a thread", member<&S::registers_per_thread>},
      {"shared_bytes_per_block", "bytes", "shared memory of a block", member<&S::shared_bytes_per_block>},
      {"thread_cycles", "cycles", "weighted computation of a thread", member<&S::thread_cycles>},
      {"adjusting_weight", "factor", "weight fitted from measured runs", member<&S::adjusting_weight>},
      {"reciprocal", kPerWarp, "reciprocals", of_class<C::reciprocal>},
      {"reciprocal_square_root", kPerWarp, "reciprocal square roots", of_class<C::reciprocal_square_root>},
      {"square_root", kPerWarp, "square roots", of_class<C::square_root>},
      {"divide", kPerWarp, "floating-point divisions", of_class<C::divide>},
      {"fast_divide", kPerWarp, "approximate floating-point divisions", of_class<C::fast_divide>},
      {"logarithm", kPerWarp, "logarithms", of_class<C::logarithm>},
      {"exponential", kPerWarp, "exponentials", of_class<C::exponential>},
      {"sine_cosine", kPerWarp, "sines and cosines", of_class<C::sine_cosine>},
      {"integer_multiply", kPerWarp, "32-bit integer multiplications", of_class<C::integer_multiply>},
      {"double_precision", kPerWarp, "double-precision arithmetic", of_class<C::double_precision>},
  };
  return fields;
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
