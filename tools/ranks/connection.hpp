// SPDX-License-Identifier: Apache-2.0
// What the library that uses MPI provides: tools/ranks.hpp loads it.
#pragma once

#include "emulator/exec/state/ranks.hpp"

#include <chrono>
#include <optional>

namespace warplens::tools {

class Connection : public exec::Ranks {
public:
  /// Waits until all ranks leave, and ends the connection. False if some do not leave in this time.
  virtual bool leave(std::optional<std::chrono::milliseconds> patience) = 0;
  /// Ends all ranks.
  virtual void abort(int status) = 0;

  struct Traffic {
    std::uint64_t messages = 0, bytes = 0; ///< in which this rank took part
  };
  [[nodiscard]] virtual Traffic traffic() const = 0;
};

} // namespace warplens::tools

/// Joins the other ranks; the caller never deletes it.
extern "C" warplens::tools::Connection* warplens_ranks();
