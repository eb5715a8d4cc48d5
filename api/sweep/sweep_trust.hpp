// SPDX-License-Identifier: Apache-2.0
// How far the times of a sweep can be trusted: by which model they are, its error on the device, and whether other
// models prefer another configuration.
//
//   for (const SweepNote& note : sweep_notes(rows)) … note.caution ? "caution: " + note.text : note.text
#pragma once

#include "api/sweep/sweep.hpp"

namespace warplens::api {

struct SweepNote {
  std::string text;     ///< a sentence without a capital and a full stop
  bool caution = false; ///< something to beware of; otherwise a fact
};

/// For each device, in the order of the rows: the model, and its error. Rows without a time do not count.
std::vector<SweepNote> sweep_notes(std::span<const SweepRow> rows);
/// A caution if the times are by different models: these differ by more than most configurations do.
std::optional<SweepNote> note_on_models(std::span<const SweepRow* const> rows);
/// For each device, the models that predict the shortest time for another configuration than the model of the times
/// does, where the difference is more than `percent`.
std::vector<SweepNote> other_opinions(std::span<const SweepRow> rows, double percent);

} // namespace warplens::api
