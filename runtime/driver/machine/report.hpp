// What `warplens exec --analyze` and `--json` ask for (api/session/environment.hpp): which launches are analysed, and
// where the reports go.
//
//   set_observer(observer_from_environment(device));       in cuInit(); null: nobody asked
//
// Reports are written when the process ends by exit(), or returns from main(), and as soon as a kernel has failed: many
// programs abort then. A process that ends otherwise, by _exit() or a signal, leaves none. The JSON file appears at
// once and whole. It is FILE for the process that `warplens exec` became, and FILE.<process> for all others that
// launched something.
#pragma once

#include "runtime/driver/machine/launch.hpp"

namespace warplens::runtime {

std::shared_ptr<Observer> observer_from_environment(const model::Device& device);

/// Writes what that observer has been told, where the process ends otherwise than by exit().
void write_reports();

} // namespace warplens::runtime
