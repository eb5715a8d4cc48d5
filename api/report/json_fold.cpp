// SPDX-License-Identifier: Apache-2.0
#include "api/report/json_fold.hpp"

#include <fmt/format.h>

#include <utility>

namespace warplens::api {

namespace {

using FoldedJson = nlohmann::ordered_json;

constexpr const char* kSameAs = "same_as";
constexpr const char* kPrinted = "printed"; ///< may differ between launches that are otherwise the same
constexpr const char* kOwn[] = {"kernel", "grid", "block", kPrinted, "cluster", "launched_by"};

} // namespace

FoldedJson LaunchFolder::folded(FoldedJson launch) {
  const std::size_t index = next_++;
  FoldedJson printed = std::exchange(launch[kPrinted], nullptr);
  const auto [known, is_new] =
      first_.try_emplace(launch.dump(-1, ' ', false, FoldedJson::error_handler_t::replace), index);
  launch[kPrinted] = std::move(printed);
  if (is_new) return launch;
  FoldedJson own = FoldedJson::object();
  for (const char* member : kOwn) own[member] = std::move(launch[member]);
  own[kSameAs] = known->second;
  return own;
}

Expected<std::vector<std::size_t>> whole_launches(const FoldedJson& launches) {
  std::vector<std::size_t> whole;
  for (const FoldedJson& launch : launches) {
    const std::size_t index = whole.size();
    whole.push_back(index);
    if (!launch.is_object() || !launch.contains(kSameAs)) continue;
    const FoldedJson& same = launch[kSameAs];
    const auto refuse = [&] {
      return failure(fmt::format("launch {}: 'same_as' is {}, expected the index of an earlier launch that is whole",
                                 index, same.dump(-1, ' ', false, FoldedJson::error_handler_t::replace)));
    };
    if (!same.is_number_unsigned()) return refuse();
    const auto target = same.get<std::uint64_t>();
    if (target >= index || whole[target] != target) return refuse();
    whole.back() = target;
  }
  return whole;
}

} // namespace warplens::api
