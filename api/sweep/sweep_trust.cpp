// SPDX-License-Identifier: Apache-2.0
#include "api/sweep/sweep_trust.hpp"

#include "model/models.hpp"
#include "model/trust.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

namespace warplens::api {

namespace {

constexpr std::string_view kTimeColumn = "milliseconds", kTimeOfModel = ".milliseconds";

bool has_time(const SweepRow& row) { return row.failure.empty() && !row.model.empty() && row.number(kTimeColumn); }

/// The predictions of a row, as far as it has them: the bound is known of the one that ranks it.
std::vector<model::Prediction> predictions_of(const SweepRow& row) {
  std::vector<model::Prediction> list;
  for (const analyzers::NamedValue& m : row.metrics) {
    if (!m.name.ends_with(kTimeOfModel)) continue;
    model::Prediction& p = list.emplace_back();
    p.model = m.name.substr(0, m.name.size() - kTimeOfModel.size());
    p.device = row.device;
    p.milliseconds = std::visit([](auto value) { return static_cast<double>(value); }, m.value);
    if (p.model == row.model) p.bound = row.bound;
  }
  model::mark_trusted(list);
  return list;
}

bool is_lower_bound(std::string_view name) {
  const model::Model* const m = model::find_model(name);
  return m != nullptr && m->says == model::kSaysBound;
}

SweepNote note_of(const SweepRow& row) {
  const std::vector<model::Prediction> list = predictions_of(row);
  const model::Prediction* const best = model::trusted(list);
  const std::string times = fmt::format("the times on {} are {}by {}", row.device,
                                        is_lower_bound(row.model) ? "lower bounds " : "", row.model);
  if (best == nullptr) return {times, false};
  if (best->model != row.model)
    return {fmt::format("{}, but the model to trust on this device is {}", times, best->model), true};
  const std::string trust = times + ", the model to trust on this device";
  if (model::evaluated_elsewhere_only(*best))
    return {fmt::format("{}, whose error on this device is not known", trust), true};
  const std::optional<model::ExpectedError> error = model::expected_error(*best);
  const auto percent = error ? error->median_percent ? error->median_percent : error->mean_percent : std::nullopt;
  if (!percent) return {trust, false};
  return {fmt::format("{}: its {} error is {:.3g} % ({})", trust, error->median_percent ? "median" : "mean", *percent,
                      error->evaluation),
          false};
}

/// The row with the shortest time by a model; null: no row has it.
const SweepRow* fastest_by(std::span<const SweepRow* const> rows, std::string_view metric) {
  const SweepRow* best = nullptr;
  for (const SweepRow* row : rows)
    if (const auto time = row->number(metric); time && (best == nullptr || *time < *best->number(metric))) best = row;
  return best;
}

/// The settings of `row` that differ from those of `other`.
Settings differing(const SweepRow& row, const SweepRow& other) {
  Settings list;
  for (const auto& [name, value] : row.settings)
    if (const std::string* there = setting(other.settings, name); there == nullptr || *there != value)
      list.emplace_back(name, value);
  return list;
}

std::map<std::string, std::vector<const SweepRow*>> rows_by_device(std::span<const SweepRow> rows) {
  std::map<std::string, std::vector<const SweepRow*>> groups;
  for (const SweepRow& row : rows)
    if (has_time(row)) groups[row.device].push_back(&row);
  return groups;
}

} // namespace

std::vector<SweepNote> sweep_notes(std::span<const SweepRow> rows) {
  std::vector<SweepNote> notes;
  std::set<std::string> told;
  for (const SweepRow& row : rows)
    if (has_time(row))
      if (SweepNote note = note_of(row); told.insert(note.text).second) notes.push_back(std::move(note));
  return notes;
}

std::optional<SweepNote> note_on_models(std::span<const SweepRow* const> rows) {
  std::set<std::string_view> models;
  for (const SweepRow* row : rows)
    if (has_time(*row)) models.insert(row->model);
  if (models.size() < 2) return std::nullopt;
  return SweepNote{
      fmt::format("the times are by different models ({}), and may differ because of that", fmt::join(models, ", ")),
      true};
}

std::vector<SweepNote> other_opinions(std::span<const SweepRow> rows, double percent) {
  std::vector<SweepNote> notes;
  for (const auto& [device, group] : rows_by_device(rows)) {
    const SweepRow& first = *fastest_by(group, kTimeColumn);
    std::vector<std::string> others;
    for (const model::Prediction& p : predictions_of(first)) {
      const SweepRow* const other = fastest_by(group, p.model + std::string(kTimeOfModel));
      if (other == nullptr || p.model == first.model || is_lower_bound(p.model)) continue;
      const double more = *other->number(kTimeColumn) / *first.number(kTimeColumn) - 1;
      const Settings what = differing(*other, first);
      if (100 * more > percent && !what.empty())
        others.push_back(fmt::format("{} for {} ({:+.0f} % by {})", p.model, text_of(what), 100 * more, first.model));
    }
    if (!others.empty())
      notes.push_back({fmt::format("models disagree: on {}, the shortest time is predicted by {}", device,
                                   fmt::join(others, "; by ")),
                       true});
  }
  return notes;
}

} // namespace warplens::api
