// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep_queue.hpp"

#include "tools/output.hpp"

#include <fmt/format.h>

#include <charconv>

namespace warplens::tools {

Shard parse_shard(const std::string& text) {
  const char* const end = text.data() + text.size();
  std::size_t number = 0, count = 0;
  const auto first = std::from_chars(text.data(), end, number);
  const auto second = first.ptr != end ? std::from_chars(first.ptr + 1, end, count) : first;
  if (first.ec != std::errc{} || first.ptr == end || *first.ptr != '/' || second.ec != std::errc{} ||
      second.ptr != end || number == 0 || number > count)
    throw UsageError{fmt::format("--shard {}: expected I/N, from 1/N to N/N", text), ""};
  return {number - 1, count, 0};
}

SweepQueue::SweepQueue(const SweepSpace& space, SweepInputs& inputs, SweepFile* file, Shard shard)
    : space_(space), inputs_(inputs), file_(file), shard_(shard),
      count_((space.groups() + shard.count - 1 - shard.first) / shard.count),
      begin_(static_cast<std::size_t>(shard.begin * static_cast<double>(count_))) {}

std::vector<std::size_t> SweepQueue::configurations(const Workers::Task& task) const {
  std::vector<std::size_t> list = space_.group(task.number);
  std::size_t bit = 0;
  std::erase_if(list, [&](std::size_t) { return (task.parts >> bit++ & 1) == 0; });
  return list;
}

/// The same for all configurations that share an emulation, whatever devices a sweep has.
std::uint64_t SweepQueue::key(std::size_t group) const {
  api::Digest digest;
  for (const auto& [name, value] : space_.at(space_.group(group).front()))
    if (!api::is_of_target(name)) digest.add(name).add(value);
  return static_cast<std::uint64_t>(digest.value());
}

SweepQueue::Open SweepQueue::open(std::size_t group) const {
  Open open{{group, 0}};
  std::size_t bit = 0;
  for (const std::size_t i : space_.group(group)) {
    const auto state = file_ != nullptr ? file_->find(inputs_.head(space_.at(i)).run) : std::nullopt;
    if (!state) open.task.parts |= std::uint64_t{1} << bit;
    open.recorded += state ? 1 : 0;
    open.failures += state == api::RunState::failed ? 1 : 0;
    ++bit;
  }
  return open;
}

std::optional<Workers::Task> SweepQueue::counted(const Open& open) {
  recorded_ += open.recorded;
  failures_ += open.failures;
  return open.task.parts != 0 ? std::optional(open.task) : std::nullopt;
}

std::optional<Workers::Task> SweepQueue::take(std::size_t group) {
  Open found = open(group);
  if (file_ == nullptr || found.task.parts == 0) return counted(found);
  const std::uint64_t claimed = key(group);
  const auto [claim, is_new] = claims_.try_emplace(claimed, 0);
  if (is_new && !file_->claim(claimed)) {
    claims_.erase(claim);
    left_out_.push_back(group);
    return std::nullopt;
  }
  ++claim->second;
  if (file_->refresh()) found = open(group); // another sweep may just have finished it
  if (found.task.parts == 0) finished(found.task);
  return counted(found);
}

std::optional<Workers::Task> SweepQueue::next() {
  while (!again_.empty()) {
    const std::size_t group = again_.back();
    again_.pop_back();
    if (const auto task = take(group)) return task;
  }
  while (next_ < count_) {
    const std::size_t group = shard_.first + (begin_ + next_++) % count_ * shard_.count;
    if (const auto task = take(group)) return task;
  }
  return std::nullopt;
}

void SweepQueue::finished(const Workers::Task& task) {
  if (file_ == nullptr) return;
  const auto claim = claims_.find(key(task.number));
  if (--claim->second != 0) return;
  file_->release(claim->first);
  claims_.erase(claim);
}

void SweepQueue::look_again() { again_.swap(left_out_); }

} // namespace warplens::tools
