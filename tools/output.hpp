// What all subcommands share: exit statuses, colour, and how diagnostics are shown.
#pragma once

#include "api/report/style.hpp"
#include "api/session/session.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::tools {

constexpr int kFine = 0;
constexpr int kFound = 1;    ///< the kernel trapped, or a check found something
constexpr int kBadInput = 2; ///< bad usage or input
constexpr int kInternal = 3;

/// Bad usage: shown as an error, ends with kBadInput. Thrown by the subcommands, caught in main.
struct UsageError {
  std::string message;
  std::string hint;
};

using api::Style;
/// Without colours where the output is no terminal or NO_COLOR is set (https://no-color.org).
Style style_for(int file_descriptor);

bool is_terminal(int file_descriptor);

/// Prints to stderr, each with the line of its file and a caret; at most 50.
void print(const Diagnostics& diagnostics);
/// One diagnostic, such as a trap.
void print(const Diagnostic& diagnostic);
/// The same with the texts of these files, and of no others: what a trace calls a file may be any file.
void print(const Diagnostic& diagnostic, const std::map<std::string, std::string>& texts);

/// Writes text for people to stdout, where names and strings of input cannot pass for escape sequences (see
/// emulator/base/printable.hpp). A closed pipe or a full disk is a UsageError.
void write(std::string_view text);
/// Writes what programs read (JSON, CSV, what a kernel prints) to stdout as it is, unless that is a terminal.
void write_data(std::string_view data);
/// Writes a file whole (see api/files/output_file.hpp), or stdout for "-".
void write_file(const std::string& file, std::string_view text);
/// UsageError where write_file() could not write the file: asked before a long run. Empty and "-" are fine.
void check_writable(const std::string& file);

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

} // namespace warplens::tools
