// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/state/tool_finding.hpp"

#include <utility>

namespace warplens::exec {

namespace {

struct KindInfo {
  Tool tool;
  std::string_view id, title;
};
constexpr KindInfo kKinds[] = {
#define WARPLENS_FINDING(id, tool, title) {Tool::tool, #id, title},
#include "emulator/exec/state/tool_findings.def"
#undef WARPLENS_FINDING
};
const KindInfo& info(ToolFinding::Kind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

ToolFindingGroup::Thread thread_of(const ToolFinding& f) { return {f.at.cta, f.at.thread}; }

// Of equal threads, the first finding stays: events of a CTA come from one worker in the same order each time.
void join(ToolFindingGroup& group, ToolFinding&& first, std::uint64_t count) {
  if (group.count == 0 || thread_of(first) < thread_of(group.first)) group.first = std::move(first);
  group.count += count;
}

void insert(std::set<ToolFindingGroup::Thread>& threads, ToolFindingGroup::Thread thread) {
  if (threads.size() == ToolFindingGroup::kMostThreads) {
    if (*threads.rbegin() < thread) return;
    if (threads.insert(thread).second) threads.erase(std::prev(threads.end()));
    return;
  }
  threads.insert(thread);
}

} // namespace

std::string_view name_of(Tool tool) {
  constexpr std::string_view kNames[] = {"memcheck", "racecheck", "initcheck", "synccheck"};
  return kNames[static_cast<std::size_t>(tool)];
}
Tool tool_of(ToolFinding::Kind kind) { return info(kind).tool; }
std::string_view id_of(ToolFinding::Kind kind) { return info(kind).id; }
std::string_view title_of(ToolFinding::Kind kind) { return info(kind).title; }

ToolFindings::Place ToolFindings::place_of(const ToolFinding& f) {
  const ThreadAccess none;
  const ThreadAccess& other = f.other ? *f.other : none;
  return {f.kind, f.at.instruction, f.at.calls, f.at.space, f.at.access, other.launch, other.instruction, other.calls};
}

void ToolFindings::add(ToolFinding finding) {
  ToolFindingGroup& group = groups_[place_of(finding)];
  insert(group.threads, thread_of(finding));
  join(group, std::move(finding), 1);
}

void ToolFindings::merge(ToolFindings&& other) {
  for (auto& [place, group] : other.groups_) {
    ToolFindingGroup& known = groups_[place];
    for (const ToolFindingGroup::Thread& thread : group.threads) insert(known.threads, thread);
    join(known, std::move(group.first), group.count);
  }
  other.groups_.clear();
}

std::vector<ToolFindingGroup> ToolFindings::take() {
  std::vector<ToolFindingGroup> list;
  for (auto& [place, group] : groups_) list.push_back(std::move(group));
  groups_.clear();
  return list;
}

} // namespace warplens::exec
