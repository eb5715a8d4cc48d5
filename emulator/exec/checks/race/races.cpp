// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/checks/race/races.hpp"

#include <tuple>
#include <utility>

namespace warplens::exec::race {

void Races::add(const Race& race) {
  std::pair a{race.earlier.launch, race.earlier.instruction}, b{race.later.launch, race.later.instruction};
  if (b < a) std::swap(a, b);
  const auto [at, fresh] = pairs_.try_emplace({a.first, a.second, b.first, b.second, race.space}, Pair{race, 0, {}});
  Pair& pair = at->second;
  ++pair.count;
  const std::pair thread{race.later.cta, race.later.thread};
  if (pair.threads.size() < Pair::kMostThreads || thread < *pair.threads.rbegin()) {
    pair.threads.insert(thread);
    if (pair.threads.size() > Pair::kMostThreads) pair.threads.erase(std::prev(pair.threads.end()));
  }
  if (fresh) return;
  const auto place = [](const Race& r) {
    return std::tuple(r.same_value, r.later.cta, r.later.thread, r.address, r.earlier.cta, r.earlier.thread);
  };
  if (place(race) < place(pair.first)) pair.first = race;
}

std::vector<Races::Pair> Races::take() {
  std::vector<Pair> list;
  for (auto& [key, pair] : pairs_) list.push_back(std::move(pair));
  pairs_.clear();
  return list;
}

bool Timeline::precedes(Time time) const {
  for (const std::size_t i : concurrent)
    if (time >= operations[i].begin && time <= operations[i].end) return false;
  return true;
}

const Timeline::Operation& Timeline::at(Time time) const {
  const auto after = std::upper_bound(operations.begin(), operations.end(), time,
                                      [](Time t, const Operation& o) { return t < o.begin; });
  return after == operations.begin() ? operations.front() : *(after - 1);
}

} // namespace warplens::exec::race
