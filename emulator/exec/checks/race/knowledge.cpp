// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/checks/race/knowledge.hpp"

namespace warplens::exec::race {

namespace {

constexpr auto kByWho = [](const Known& known, Who who) { return known.who < who; };

} // namespace

Clock::Entries& Clock::own() {
  if (!entries_)
    entries_ = std::make_shared<Entries>();
  else if (entries_.use_count() > 1)
    entries_ = std::make_shared<Entries>(*entries_);
  return *entries_;
}

void Clock::learn(const Known& known) {
  Moment sum = of(known.who);
  const Moment before = sum;
  sum.raise(known.until);
  if (sum == before) return;
  Entries& entries = own();
  const auto at = std::lower_bound(entries.begin(), entries.end(), known.who, kByWho);
  if (at != entries.end() && at->who == known.who)
    at->until = sum;
  else
    entries.insert(at, {known.who, sum});
}

bool Clock::covers(const Clock& other) const {
  if (entries_->size() < other.entries_->size()) return false;
  auto mine = entries_->begin();
  for (const Known& k : *other.entries_) {
    mine = std::lower_bound(mine, entries_->end(), k.who, kByWho);
    if (mine == entries_->end() || mine->who != k.who) return false;
    if (mine->until.time < k.until.time || mine->until.copies < k.until.copies) return false;
  }
  return true;
}

void Clock::learn(const Clock& other) {
  if (other.empty() || same(other)) return;
  if (empty() || other.covers(*this)) {
    entries_ = other.entries_;
    return;
  }
  if (other.entries_->size() * 8 < entries_->size()) {
    for (const Known& k : *other.entries_) learn(k);
    return;
  }
  if (covers(other)) return;
  auto sum = std::make_shared<Entries>();
  sum->reserve(entries_->size() + other.entries_->size());
  auto a = entries_->begin();
  auto b = other.entries_->begin();
  while (a != entries_->end() || b != other.entries_->end()) {
    if (b == other.entries_->end() || (a != entries_->end() && a->who < b->who)) {
      sum->push_back(*a++);
    } else if (a == entries_->end() || b->who < a->who) {
      sum->push_back(*b++);
    } else {
      sum->push_back(*a++);
      sum->back().until.raise((b++)->until);
    }
  }
  entries_ = std::move(sum);
}

Moment Clock::of(Who who) const {
  if (!entries_) return {};
  const auto at = std::lower_bound(entries_->begin(), entries_->end(), who, kByWho);
  return at != entries_->end() && at->who == who ? at->until : Moment{};
}

Moment Clock::of_thread(const Thread& thread) const {
  if (!entries_) return {};
  Moment until = of(who_thread(thread.warp, thread.lane));
  until.raise(of(who_warp(thread.warp)));
  until.raise(of(who_cta(thread.cta)));
  return until;
}

} // namespace warplens::exec::race
