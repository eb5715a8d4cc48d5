// SPDX-License-Identifier: Apache-2.0
// Diagnostics: what went wrong, where, and how to fix it. The core never prints. It returns diagnostics, and render()
// turns them into text:
//
//   saxpy.ptx:12:2: error: unknown instruction 'ad.f32'
//       ad.f32 %f1, %f2, %f3;
//       ^
//     hint: did you mean 'add.f32'?
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warplens {

/// A place in a source text. Lines and columns count from 1; 0 means "no particular place".
struct SourceLocation {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  friend bool operator==(const SourceLocation&, const SourceLocation&) = default;
};

enum class Severity : std::uint8_t { error, warning, note };

struct Diagnostic {
  Severity severity = Severity::error;
  SourceLocation where;
  std::string message; ///< lower case, no final period; states expected and actual
  std::string hint;    ///< what the user can do; may be empty
  std::string file;    ///< the file that `where` refers to; empty until the reader of the file sets it
};

/// An ordered list of diagnostics. It keeps everything; render() shows up to a limit.
class Diagnostics {
public:
  void error(SourceLocation where, std::string message, std::string hint = {});
  void warning(SourceLocation where, std::string message, std::string hint = {});
  void append(Diagnostics other);

  /// Sets the file of every diagnostic that has none yet.
  void in_file(std::string_view file);

  [[nodiscard]] bool has_errors() const { return errors_ != 0; }
  [[nodiscard]] std::size_t error_count() const { return errors_; }
  [[nodiscard]] bool empty() const { return list_.empty(); }
  [[nodiscard]] const std::vector<Diagnostic>& list() const { return list_; }

private:
  std::vector<Diagnostic> list_;
  std::size_t errors_ = 0;
};

/// The text for users: `file:line:col: error: message`, the source line, a caret, the hint.
/// `source` is the text of the file that the locations refer to. If it is empty, no line and caret are shown.
std::string render(const Diagnostics& diagnostics, std::string_view source, std::size_t limit = 50);

/// The known word closest to `word` by edit distance, or empty if none is close.
std::string closest(std::string_view word, const std::vector<std::string_view>& known);
/// The hint "did you mean 'WORD'?" with the closest known word; `otherwise` if none is close.
std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& known, std::string otherwise = {});

} // namespace warplens
