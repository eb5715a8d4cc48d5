// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/checks/race/knowledge.hpp"

namespace warplens::exec::race {

namespace {

constexpr auto kByWho = [](const auto& entry, Who who) { return entry.who < who; };

constexpr Who kFirstWarp = who_warp(0); // smaller ones are threads

} // namespace

bool Clock::Entry::covers(const Entry& other) const {
  if (!until.covers(other.until)) return false;
  if (other.lanes == nullptr || other.lanes == lanes) return true;
  for (std::size_t i = 0; i < kWarpSize; ++i) {
    Moment mine = until;
    if (lanes != nullptr) mine.raise((*lanes)[i]);
    if (!mine.covers((*other.lanes)[i])) return false;
  }
  return true;
}

void Clock::Entry::raise(Moment other) {
  until.raise(other);
  simplify();
}

void Clock::Entry::raise(std::size_t lane, Moment other) {
  if (until.covers(other)) return;
  if (lanes == nullptr)
    lanes = std::make_shared<Lanes>();
  else if (lanes.use_count() > 1)
    lanes = std::make_shared<Lanes>(*lanes);
  (*lanes)[lane].raise(other);
  if (lane + 1 == kWarpSize) simplify();
}

// Arrays stay shared where they can.
void Clock::Entry::raise(const Entry& other) {
  if (covers(other)) return;
  if (other.covers(*this)) {
    *this = other;
    return;
  }
  until.raise(other.until);
  if (lanes == nullptr) {
    lanes = other.lanes;
  } else if (other.lanes != nullptr && other.lanes != lanes) {
    const auto sum = std::make_shared<Lanes>(*lanes);
    for (std::size_t i = 0; i < kWarpSize; ++i) (*sum)[i].raise((*other.lanes)[i]);
    lanes = sum;
  }
  simplify();
}

// The same of all lanes is known of the warp.
void Clock::Entry::simplify() {
  if (lanes == nullptr) return;
  Moment least = lanes->front();
  for (const Moment& m : *lanes) {
    least.time = std::min(least.time, m.time);
    least.copies = std::min(least.copies, m.copies);
  }
  until.raise(least);
  if (std::all_of(lanes->begin(), lanes->end(), [&](const Moment& m) { return until.covers(m); })) lanes = nullptr;
}

Clock::Entries& Clock::own() {
  if (!entries_)
    entries_ = std::make_shared<Entries>();
  else if (entries_.use_count() > 1)
    entries_ = std::make_shared<Entries>(*entries_);
  return *entries_;
}

Clock::Entry& Clock::entry(Who who) {
  Entries& entries = own();
  const auto at = std::lower_bound(entries.begin(), entries.end(), who, kByWho);
  return at != entries.end() && at->who == who ? *at : *entries.insert(at, {who, {}, nullptr});
}

const Clock::Entry* Clock::find(Who who) const {
  if (!entries_) return nullptr;
  const auto at = std::lower_bound(entries_->begin(), entries_->end(), who, kByWho);
  return at != entries_->end() && at->who == who ? &*at : nullptr;
}

void Clock::learn(const Known& known) {
  if (of(known.who).covers(known.until)) return;
  const bool thread = known.who < kFirstWarp;
  const Who who = thread ? who_warp(static_cast<std::uint32_t>(known.who >> 5)) : known.who;
  thread ? entry(who).raise(known.who % kWarpSize, known.until) : entry(who).raise(known.until);
}

bool Clock::covers(const Clock& other) const {
  if (entries_->size() < other.entries_->size()) return false;
  auto mine = entries_->begin();
  for (const Entry& e : *other.entries_) {
    if (mine != entries_->end() && mine->who < e.who) ++mine; // mostly the next one
    if (mine != entries_->end() && mine->who < e.who) mine = std::lower_bound(mine, entries_->end(), e.who, kByWho);
    if (mine == entries_->end() || mine->who != e.who || !mine->covers(e)) return false;
  }
  return true;
}

void Clock::learn(const Clock& other) {
  if (other.empty() || same(other)) return;
  if (empty() || other.covers(*this)) {
    entries_ = other.entries_;
    return;
  }
  if (covers(other)) return;
  if (other.entries_->size() * 8 < entries_->size()) {
    for (const Entry& e : *other.entries_) entry(e.who).raise(e);
    return;
  }
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
      sum->back().raise(*b++);
    }
  }
  entries_ = std::move(sum);
}

// Of a thread: what is known of it alone, or of its warp.
Moment Clock::of(Who who) const {
  const bool thread = who < kFirstWarp;
  const Entry* const entry = find(thread ? who_warp(static_cast<std::uint32_t>(who >> 5)) : who);
  if (entry == nullptr) return {};
  Moment until = entry->until;
  if (thread && entry->lanes != nullptr) until.raise((*entry->lanes)[who % kWarpSize]);
  return until;
}

Moment Clock::of_thread(const Thread& thread) const {
  if (!entries_) return {};
  Moment until = of(who_thread(thread.warp, thread.lane));
  until.raise(of(who_cta(thread.cta)));
  return until;
}

void Lesson::teach(Clock& clock, const Clock& other) {
  if (other.empty() || clock.same(other)) return;
  if (!clock.same(before_) || !other.same(other_)) {
    before_ = clock;
    other_ = other;
    after_ = clock;
    after_.learn(other);
  }
  clock = after_;
}

} // namespace warplens::exec::race
