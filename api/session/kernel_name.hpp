// SPDX-License-Identifier: Apache-2.0
// The names of kernels in the CUDA source, from mangled names (Itanium C++ ABI, chapter 5.1).
//
//   source_name("_Z5scaleIfEvPT_i")  ->  "scale<float>"
//   source_name("scale")             ->  "scale"          extern "C"
#pragma once

#include "emulator/base/expected.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::api {

/// The name without parameters and return type. A name that is not mangled remains unchanged.
std::string source_name(std::string_view name);
/// The types of the parameters: "_Z5saxpyifPKfPf" -> {"int", "float", "float const*", "float*"}. Empty: the name is not
/// mangled, or has no parameters.
std::vector<std::string> source_parameters(std::string_view name);

/// The argument of --kernel-name: a regular expression that matches a part of the mangled name or of the source name.
class NamePattern {
public:
  /// Longer expressions are refused, and only this many characters of a name are matched, because the library recurses
  /// for each character.
  static constexpr std::size_t kLongest = 1000;

  static Expected<NamePattern> create(const std::string& expression);
  [[nodiscard]] bool matches(std::string_view name) const;

private:
  struct Expression; // <regex> takes seconds to compile
  std::shared_ptr<const Expression> expression_;
};

} // namespace warplens::api
