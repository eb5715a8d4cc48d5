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

constexpr double kLargest = 1e15; ///< no launch counts further; products of a few such numbers stay finite

double value_of(const Field& field) { return field.value_or(0); }

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
    if (value && *value == 0) errors_.error({}, fmt::format("'{}' is 0: expected more", name));
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
      errors_.error({}, fmt::format("{} is {}, more than {}, {}", name, value, whole_name, *whole));
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
    if (std::find(field.needed_by.begin(), field.needed_by.end(), model.id) == field.needed_by.end())
      names += fmt::format("{}{}", names.empty() ? "" : ", ", model.id);
  return names.empty() ? "every model needs it" : "models that do without it: " + names;
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
  using Ids = std::vector<std::string_view>;
  static const Ids every{kHongKim, kDasgupta, kSim,      kAmaris,           kKaranKumar,
                         kBounds,  kVolkov,   kRoofline, kThroughputLatency},
      none;
  static const Ids resident{kHongKim, kDasgupta, kSim, kKaranKumar, kVolkov, kThroughputLatency};
  static const Ids hong_kim{kHongKim}, by_kind{kThroughputLatency}, weighted{kAmaris, kKaranKumar};
  static const Ids requests{kDasgupta, kSim, kAmaris, kKaranKumar, kBounds, kVolkov, kThroughputLatency};
  static const Ids sizes{kDasgupta, kSim, kBounds, kVolkov, kRoofline, kThroughputLatency};
  // Never destroyed: a program may ask while it ends.
  static const std::vector<StatisticField>& fields = *new std::vector<StatisticField>{
      {"threads_per_block", "threads", "threads of a block", every, member<&S::threads_per_block>},
      {"blocks", "blocks", "blocks of the grid", every, member<&S::blocks>},
      {"resident_blocks", "blocks", "blocks that fit on a multiprocessor", resident, member<&S::resident_blocks>},
      {"instructions", kPerWarp, "warp instructions of all kinds", every, member<&S::instructions>},
      {"global_requests", kPerWarp, "instructions on device memory", requests, member<&S::global_requests>},
      {"coalesced_requests", kPerWarp, "coalesced requests", hong_kim, member<&S::coalesced_requests>},
      {"uncoalesced_requests", kPerWarp, "uncoalesced requests", hong_kim, member<&S::uncoalesced_requests>},
      {"uncoalesced_transactions", "per request", "transactions of an uncoalesced request", none,
       member<&S::uncoalesced_transactions>},
      {"bytes_per_request", "bytes", "bytes that a request asks for", hong_kim, member<&S::bytes_per_request>},
      {"transactions_32", kPerWarp, "32-byte transactions", sizes, member<&S::transactions_32>},
      {"transactions_64", kPerWarp, "64-byte transactions", sizes, member<&S::transactions_64>},
      {"transactions_128", kPerWarp, "128-byte transactions", sizes, member<&S::transactions_128>},
      {"vector_transactions_32", kPerWarp, "of them, of vector requests", none, member<&S::vector_transactions_32>},
      {"vector_transactions_64", kPerWarp, "of them, of vector requests", none, member<&S::vector_transactions_64>},
      {"vector_transactions_128", kPerWarp, "of them, of vector requests", none, member<&S::vector_transactions_128>},
      {"load_transactions", kPerWarp, "transactions of loads, of all sizes", by_kind, member<&S::load_transactions>},
      {"store_transactions", kPerWarp, "transactions of stores, of all sizes", by_kind, member<&S::store_transactions>},
      {"atomic_transactions", kPerWarp, "transactions of atomics, again for lanes that collide", none,
       member<&S::atomic_transactions>},
      {"argument_bytes", "bytes", "of the allocations that arguments point into, of the launch", none,
       member<&S::argument_bytes>},
      {"duplicate_loads", "requests", "requests in flight that fetch the same data", none, member<&S::duplicate_loads>},
      {"load_waits", kPerWarp, "waits for loads", none, member<&S::load_waits>},
      {"independent_loads", "requests", "requests that a warp has in flight", none, member<&S::independent_loads>},
      {"ideal_duplicate_loads", "warps", "warps of a block that fetch the same data", none,
       member<&S::ideal_duplicate_loads>},
      {"independent_instructions", "per request", "instructions between a request and the use of its data", none,
       member<&S::independent_instructions>},
      {"l1_hit_ratio", kRatio, "transactions of loads that hit the first cache", none, member<&S::l1_hit_ratio>},
      {"l2_hit_ratio", kRatio, "transactions of loads that miss the first cache and hit the second", none,
       member<&S::l2_hit_ratio>},
      {"l1_wavefronts", kPerWarp, "passes over the first cache and shared memory", by_kind, member<&S::l1_wavefronts>},
      {"synchronizations", kPerWarp, "barriers", none, member<&S::synchronizations>},
      {"bank_conflict_passes", kPerWarp, "half-warp passes over the banks beyond the first", none,
       member<&S::bank_conflict_passes>},
      {"shared_requests", kPerWarp, "instructions on shared memory", none, member<&S::shared_requests>},
      {"issue_chain", kPerWarp, "cycles that a warp alone takes to issue its instructions", none,
       member<&S::issue_chain>},
      {"lanes_per_instruction", "lanes", "lanes that take part in an instruction", none,
       member<&S::lanes_per_instruction>},
      {"integer_divisions", kPerWarp, "integer divisions and remainders", none, member<&S::integer_divisions>},
      {"instruction_parallelism", "instructions", "independent instructions of a warp in a row", none,
       member<&S::instruction_parallelism>},
      {"floating_point_instructions", kPerWarp, "floating-point instructions", none,
       member<&S::floating_point_instructions>},
      {"flops", kPerWarp, "floating-point operations of all lanes", none, member<&S::flops>},
      {"registers_per_thread", "registers", "registers of a thread", none, member<&S::registers_per_thread>},
      {"shared_bytes_per_block", "bytes", "shared memory of a block", none, member<&S::shared_bytes_per_block>},
      {"thread_cycles", "cycles", "weighted computation of a thread", none, member<&S::thread_cycles>},
      {"adjusting_weight", "factor", "weight fitted from measured runs", weighted, member<&S::adjusting_weight>},
      {"reciprocal", kPerWarp, "reciprocals", none, of_class<C::reciprocal>},
      {"reciprocal_square_root", kPerWarp, "reciprocal square roots", none, of_class<C::reciprocal_square_root>},
      {"square_root", kPerWarp, "square roots", none, of_class<C::square_root>},
      {"divide", kPerWarp, "floating-point divisions", none, of_class<C::divide>},
      {"fast_divide", kPerWarp, "approximate floating-point divisions", none, of_class<C::fast_divide>},
      {"logarithm", kPerWarp, "logarithms", none, of_class<C::logarithm>},
      {"exponential", kPerWarp, "exponentials", none, of_class<C::exponential>},
      {"sine_cosine", kPerWarp, "sines and cosines", none, of_class<C::sine_cosine>},
      {"integer_multiply", kPerWarp, "32-bit integer multiplications", none, of_class<C::integer_multiply>},
      {"double_precision", kPerWarp, "double-precision arithmetic", none, of_class<C::double_precision>},
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
  KernelStatistics copy = statistics; // the table gives access to mutable statistics only
  for (const StatisticField& field : statistic_fields()) {
    const std::optional<double> value = field.get(copy);
    const bool needed = std::find(field.needed_by.begin(), field.needed_by.end(), model_id) != field.needed_by.end();
    if (!value && needed)
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
