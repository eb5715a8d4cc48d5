// SPDX-License-Identifier: Apache-2.0
#include "api/sweep/sweep_table.hpp"

#include "api/files/digest.hpp"
#include "api/sweep/sweep_json.hpp"
#include "emulator/base/unreadable.hpp"
#include "emulator/exec/grid/time_limit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>

namespace warplens::api {

namespace {

// What stands around the parts of a record.
constexpr std::string_view kRun = R"({"run":")", kScope = R"(","scope":")", kInputs = R"(","inputs":")",
                           kState = R"(","state":")", kVersion = R"(","warplens":")", kCheck = R"(,"check":")",
                           kEnd = R"("})";
constexpr std::string_view kStates[] = {"done", "failed", "lost"};

/// Removes a prefix; false: it is not there.
bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::optional<std::string> take_digest(std::string_view& text) {
  const std::string_view digits = text.substr(0, Digest::kDigits);
  if (digits.size() < Digest::kDigits || digits.find_first_not_of("0123456789abcdef") != digits.npos)
    return std::nullopt;
  text.remove_prefix(digits.size());
  return std::string(digits);
}

/// Compares numbers in the texts by value: "8x16" is before "16x8".
int natural_order(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    std::uint64_t x = 0, y = 0;
    const auto end_a = std::from_chars(a.data(), a.data() + a.size(), x),
               end_b = std::from_chars(b.data(), b.data() + b.size(), y);
    if (end_a.ec == std::errc{} && end_b.ec == std::errc{}) {
      if (x != y) return x < y ? -1 : 1;
      a.remove_prefix(static_cast<std::size_t>(end_a.ptr - a.data()));
      b.remove_prefix(static_cast<std::size_t>(end_b.ptr - b.data()));
      continue;
    }
    if (a.front() != b.front()) return a.front() < b.front() ? -1 : 1;
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  return a.empty() == b.empty() ? 0 : a.empty() ? -1 : 1;
}

bool is_before(const SweepRow& a, const SweepRow& b) {
  for (std::size_t i = 0; i < std::min(a.settings.size(), b.settings.size()); ++i) {
    if (const int order = a.settings[i].first.compare(b.settings[i].first); order != 0) return order < 0;
    if (const int order = natural_order(a.settings[i].second, b.settings[i].second); order != 0) return order < 0;
  }
  return a.settings < b.settings; // "08" and "8" are the same number
}

} // namespace

RunState state_of(const SweepRow& row) {
  if (row.failure.empty()) return RunState::done;
  return row.failure.find(exec::kOutOfTime) == row.failure.npos ? RunState::failed : RunState::lost;
}

std::string sweep_record(const SweepRow& row, const RecordHead& head) {
  std::string json = sweep_line(row);
  json.resize(json.size() - 2); // "}\n"
  std::string line =
      fmt::format("{}{}{}{}{}{}{}{}{}{}\",{}", kRun, head.run, kScope, head.scope, kInputs, head.inputs, kState,
                  kStates[static_cast<std::size_t>(head.state)], kVersion, version(), std::string_view(json).substr(1));
  line += fmt::format("{}{}{}\n", kCheck, Digest().bytes(line).text(), kEnd);
  return line;
}

std::optional<RecordHead> record_head(std::string_view line) {
  const std::size_t tail = kCheck.size() + Digest::kDigits + kEnd.size();
  if (line.size() < tail || !line.ends_with(kEnd)) return std::nullopt;
  const std::string_view body = line.substr(0, line.size() - tail);
  std::string_view check = line.substr(body.size());
  if (!take(check, kCheck) || check.substr(0, Digest::kDigits) != Digest().bytes(body).text()) return std::nullopt;
  return believed_head(body);
}

std::optional<RecordHead> believed_head(std::string_view line) {
  const auto part = [&](std::string_view before) { return take(line, before) ? take_digest(line) : std::nullopt; };
  const auto run = part(kRun), scope = part(kScope), inputs = part(kInputs);
  if (!run || !scope || !inputs || !take(line, kState)) return std::nullopt;
  const auto* const state = std::find(std::begin(kStates), std::end(kStates), line.substr(0, line.find('"')));
  if (state == std::end(kStates) || !take(line, *state) || !take(line, kVersion)) return std::nullopt;
  return RecordHead{*run, *scope, *inputs, static_cast<RunState>(state - std::begin(kStates))};
}

bool is_sweep_table(std::string_view text) {
  return !text.empty() && kRun.substr(0, text.size()) == text.substr(0, kRun.size());
}

std::string SweepTable::note() const {
  std::string text;
  if (damaged != 0)
    text += fmt::format("{} incomplete {} left out; the sweep runs what is missing again", damaged,
                        damaged == 1 ? "line is" : "lines are");
  if (outdated != 0)
    text += fmt::format("{}{} {} of other inputs, options or versions {} left out", text.empty() ? "" : "; ", outdated,
                        outdated == 1 ? "run" : "runs", outdated == 1 ? "is" : "are");
  return text;
}

void SweepTableReader::add(std::string_view line) {
  const std::optional<RecordHead> head = record_head(line);
  Expected<SweepRow> row = head ? parse_sweep_line(line) : failure("");
  if (!row) {
    ++damaged_;
    return;
  }
  inputs_.insert_or_assign(head->scope, head->inputs);
  runs_.insert_or_assign(head->run, Run{std::move(*row), head->scope, head->inputs});
}

const SweepRow* SweepTableReader::find(const std::string& run) const {
  const auto found = runs_.find(run);
  return found != runs_.end() ? &found->second.row : nullptr;
}

SweepTable SweepTableReader::finish() {
  SweepTable table;
  table.damaged = damaged_;
  for (auto& [id, run] : runs_)
    if (inputs_[run.scope] == run.inputs)
      table.rows.push_back(std::move(run.row));
    else
      ++table.outdated;
  runs_.clear();
  std::stable_sort(table.rows.begin(), table.rows.end(), is_before);
  return table;
}

Expected<SweepTableReader> read_sweep_tables(std::span<const std::string> files) {
  SweepTableReader reader;
  for (const std::string& name : files) {
    std::ifstream file(name, std::ios::binary);
    if (!file) return failure(fmt::format("cannot read '{}': {}", name, why_unreadable(name)));
    bool first = true;
    for (std::string line; std::getline(file, line);) {
      if (first && !is_sweep_table(line)) return failure(fmt::format("'{}' is not a table of a sweep", name));
      first = false;
      if (!file.eof()) reader.add(line); // otherwise it is being written, or was cut off
    }
  }
  return reader;
}

} // namespace warplens::api
