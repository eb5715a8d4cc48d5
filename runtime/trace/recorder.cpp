// SPDX-License-Identifier: Apache-2.0
#include "runtime/trace/recorder.hpp"

#include "api/trace/trace.hpp"

#include <filesystem>

extern "C" __attribute__((visibility("default"))) warplens::Expected<std::unique_ptr<warplens::api::LaunchRecorder>>
warplens_create_recorder(const std::string& file, const std::string& filter, const std::string& device) {
  namespace api = warplens::api;
  warplens::Expected<api::TraceFilter> parsed = api::parse_filter(filter);
  if (!parsed) return warplens::failure(parsed.error());
  std::error_code ignored;
  const bool is_file = std::filesystem::is_regular_file(device, ignored);
  auto writer = api::TraceWriter::create(file, std::move(*parsed),
                                         is_file ? std::filesystem::path(device) : std::filesystem::path());
  if (!writer) return warplens::failure(writer.error());
  return std::unique_ptr<api::LaunchRecorder>(std::move(*writer));
}
