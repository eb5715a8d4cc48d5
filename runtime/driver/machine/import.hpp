// SPDX-License-Identifier: Apache-2.0
// Device memory of other processes, mapped into this one.
//
//   Imports& imports = Imports::instance();
//   std::uint64_t a = imports.open(ticket, context);   imports.close(a);
#pragma once

#include "runtime/driver/machine/board.hpp"

#include <map>

namespace warplens::runtime {

class Context;

class Imports {
public:
  static Imports& instance();

  /// The address here. Memory that is already open has the same address again, and needs as many calls of close().
  /// Throws Failure: CUDA_ERROR_INVALID_HANDLE also if another context has opened it.
  std::uint64_t open(const Ticket& ticket, Context& context);
  /// Throws Failure CUDA_ERROR_INVALID_VALUE if no memory of another process begins there. The last close of an address
  /// waits for pending work.
  void close(std::uint64_t address);

private:
  struct Import;
  std::mutex mutex_;
  std::map<std::uint64_t, std::weak_ptr<Import>> imports_; ///< by address; expired: freed with its context
};

} // namespace warplens::runtime
