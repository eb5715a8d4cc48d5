// SPDX-License-Identifier: Apache-2.0
// The host's call stack, for messages: taken when memory is allocated, resolved only if a message needs it.
//
//   const HostStack stack = HostStack::here();   stack.caller() == "cudaMalloc"   stack.frames()[0] == "main in ./app"
#pragma once

#include <string>
#include <vector>

namespace warplens::api {

class HostStack {
public:
  HostStack() = default;
  static HostStack here();
  [[nodiscard]] bool empty() const { return addresses_.empty(); }
  /// The function of the API that the program called: the outermost one of our libraries. Empty: unknown.
  [[nodiscard]] std::string caller() const;
  /// The program's frames, innermost first: "solve(double*) [0x12ab] in ./app".
  [[nodiscard]] std::vector<std::string> frames() const;

private:
  [[nodiscard]] std::size_t first_of_program() const;
  std::vector<void*> addresses_; ///< of return, innermost first
};

} // namespace warplens::api
