// SPDX-License-Identifier: Apache-2.0
// Shared by all subcommands: exit statuses, colours and the output of diagnostics.
#pragma once

#include "api/report/terminal.hpp"
#include "api/session/session.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace warplens::tools {

constexpr int kFine = 0;
constexpr int kFound = 1;    ///< the kernel trapped, or a check found something
constexpr int kBadInput = 2; ///< bad usage or input
constexpr int kInternal = 3;
constexpr int kFailed = 4; ///< a condition of --fail-on or --fail-on-regression is met

/// Bad usage: the subcommands throw it; main shows it as an error and returns kBadInput.
struct UsageError {
  std::string message;
  std::string hint;
};

/// The value. Without one, throws the errors, which main prints before it returns kBadInput.
template <class T> T value_or_throw(Expected<T> expected) {
  if (!expected) throw std::move(expected.error());
  if constexpr (!std::is_void_v<T>) return std::move(*expected);
}

using api::is_terminal;
using api::Style;
using api::style_for;

/// Prints to stderr, each with the line of its file and a caret; at most 50.
void print(const Diagnostics& diagnostics);
/// One diagnostic, such as a trap.
void print(const Diagnostic& diagnostic);
/// The same, but quotes only these texts: a file name in a trace may name any file.
void print(const Diagnostic& diagnostic, const std::map<std::string, std::string>& texts);

/// Writes human-readable text to stdout; names and strings from the input cannot act as escape sequences (see
/// emulator/base/printable.hpp). UsageError: a closed pipe or a full disk.
void write(std::string_view text);
/// Writes machine-readable data (JSON, CSV, a kernel's output) to stdout, unchanged unless stdout is a terminal.
void write_data(std::string_view data);
/// Writes a complete file (see api/files/output_file.hpp); "-" is stdout.
void write_file(const std::string& file, std::string_view text);
/// UsageError: write_file() could not write the file. For use before a long run. Accepts "" and "-".
void check_writable(const std::string& file);

/// Options that write files, and their values.
using FileOptions = std::vector<std::pair<std::string_view, std::string>>;
/// UsageError: two of the files are "-".
void check_standard_output(const FileOptions& files);

/// For --html, before a long run. UsageError: this build has no page, or write_file() could not write the file.
void check_html(const std::optional<std::string>& file);

/// "128" or "16,16,2": up to three extents. `option` is for the message.
std::vector<std::uint64_t> parse_extents(std::string_view text, std::string_view option);

/// The subcommands. `arguments`: what follows the subcommand.
int run(const std::vector<std::string>& arguments);
int analyze(const std::vector<std::string>& arguments);
int check(const std::vector<std::string>& arguments);
int convert(const std::vector<std::string>& arguments);
int inspect(const std::vector<std::string>& arguments);
int execute(const std::vector<std::string>& arguments);
int occupancy(const std::vector<std::string>& arguments);
int predict(const std::vector<std::string>& arguments);
int sweep(const std::vector<std::string>& arguments);
int compare(const std::vector<std::string>& arguments);
int calibrate(const std::vector<std::string>& arguments);
int list(const std::vector<std::string>& arguments);
int explain(const std::vector<std::string>& arguments);
int demo(const std::vector<std::string>& arguments);
int doctor(const std::vector<std::string>& arguments);

} // namespace warplens::tools
