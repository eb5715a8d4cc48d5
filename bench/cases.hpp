// SPDX-License-Identifier: Apache-2.0
// The kernels that warplens-bench and bench_gate measure, each ready to launch.
//
//   const Launch launch(cases()[0]);   seconds_of(launch.request());   // of processor time, one worker
#pragma once

#include "api/launch/launch.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace warplens::bench {

struct Argument {
  enum { buffer, integer, real } kind;
  double value; ///< elements of f32 for a buffer
};

struct Case {
  const char* name;
  const char* kernel; ///< also the name of the file under bench/kernels
  api::Extent grid, block;
  std::vector<Argument> arguments;
  double thread_instructions; ///< PTX instructions of all threads
  std::size_t outputs = 1;    ///< buffers that the kernel only writes: the last ones
};

const std::vector<Case>& cases();

/// The PTX of a kernel under bench/kernels.
std::string text_of(const std::string& kernel);

/// The value; otherwise prints the error and exits.
template <class T> T need(Expected<T> expected) {
  if (expected) return std::move(*expected);
  fmt::print(stderr, "{}", render(expected.error(), ""));
  std::exit(1);
}

/// A case with its buffers, on an H200, with one worker and without analyzers.
class Launch {
public:
  explicit Launch(const Case& c);
  [[nodiscard]] const api::LaunchRequest& request() const { return request_; }
  [[nodiscard]] std::vector<std::shared_ptr<api::Buffer>> outputs() const {
    return {buffers_.end() - outputs_, buffers_.end()};
  }

private:
  std::shared_ptr<api::Context> context_;
  std::shared_ptr<api::Module> module_;
  std::vector<std::shared_ptr<api::Buffer>> buffers_;
  std::ptrdiff_t outputs_;
  api::LaunchRequest request_;
};

/// Of this process, in all threads.
double processor_seconds();

/// Processor time of a launch; exits if the kernel is stopped.
double seconds_of(const api::LaunchRequest& request);

/// The file that this process writes traces to.
std::string trace_file();

/// Launches with a trace, until the file is closed.
void trace(api::LaunchRequest request);

/// Analyses the launch of the trace with the analyzers that always run; wall-clock time.
double seconds_replayed();

} // namespace warplens::bench
