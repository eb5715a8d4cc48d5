// The names of kernels as CUDA source has them. Compilers mangle them (Itanium C++ ABI, chapter 5.1).
//
//   source_name("_Z5scaleIfEvPT_i")  ->  "scale<float>"
//   source_name("scale")             ->  "scale"          extern "C"
#pragma once

#include "emulator/base/expected.hpp"

#include <regex>
#include <string>
#include <string_view>

namespace warplens::api {

/// Without parameters and return type; a name that is not mangled as it is.
std::string source_name(std::string_view name);

/// What --kernel-name is given: a regular expression that is looked for in names as they are mangled and as in the
/// source.
class NamePattern {
public:
  /// Longer expressions are refused, and no more than so many characters of a name are looked at: the library matches
  /// by recursion, a step for each character.
  static constexpr std::size_t kLongest = 1000;

  static Expected<NamePattern> create(const std::string& expression);
  [[nodiscard]] bool matches(std::string_view name) const;

private:
  std::regex expression_;
};

} // namespace warplens::api
