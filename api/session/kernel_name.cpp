// SPDX-License-Identifier: Apache-2.0
#include "api/session/kernel_name.hpp"

#include <fmt/format.h>

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <regex>
#include <utility>

namespace warplens::api {

namespace {

// With g++'s library, the time of a match is bounded: without this, ".**b" takes longer for each character than for all
// before it together. References to groups (\1) are then not possible.
#ifdef __GLIBCXX__
constexpr auto kSyntax = std::regex::ECMAScript | std::regex_constants::__polynomial;
#else
constexpr auto kSyntax = std::regex::ECMAScript;
#endif

/// Whether a number of a repetition or of a group has so many digits that the library's own computation overflows.
bool has_long_number(std::string_view expression) {
  constexpr std::size_t kMostDigits = 9;
  for (std::size_t at = 0; at < expression.size(); ++at) {
    if (std::string_view("{,\\").find(expression[at]) == std::string_view::npos) continue;
    const std::size_t end = std::min(expression.find_first_not_of("0123456789", at + 1), expression.size());
    if (end - at - 1 > kMostDigits) return true;
  }
  return false;
}

/// The position of the parameter list, which is at the end of the text.
std::size_t parameters_of(std::string_view signature) {
  int open = 0;
  for (std::size_t at = signature.size(); at-- > 0;) {
    if (signature[at] == ')') ++open;
    if (signature[at] == '(' && --open == 0) return at;
  }
  return signature.size();
}

/// "void scale<float>(float*, int)"; empty: the name is not mangled.
std::string demangled(std::string_view name) {
  if (!name.starts_with("_Z")) return {};
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? text.get() : "";
}

} // namespace

std::string source_name(std::string_view name) {
  const std::string text = demangled(name);
  if (text.empty()) return std::string(name);
  std::string_view signature = text;
  signature = signature.substr(0, parameters_of(signature));
  constexpr std::string_view kVoid = "void "; // templates are mangled with their return type, which is void for kernels
  if (signature.starts_with(kVoid)) signature.remove_prefix(kVoid.size());
  return std::string(signature);
}

std::vector<std::string> source_parameters(std::string_view name) {
  const std::string text = demangled(name);
  std::vector<std::string> types;
  const std::size_t begin = parameters_of(text) + 1;
  int inside = 0; // brackets of template arguments and function types
  std::string type;
  for (std::size_t at = begin; at + 1 < text.size(); ++at) {
    const char c = text[at];
    if (c == '(' || c == '<' || c == '[') ++inside;
    if (c == ')' || c == '>' || c == ']') --inside;
    if (c == ',' && inside == 0)
      types.push_back(std::exchange(type, {})), ++at; // and a blank
    else
      type += c;
  }
  if (!type.empty()) types.push_back(std::move(type));
  return types;
}

struct NamePattern::Expression {
  std::regex regex;
};

Expected<NamePattern> NamePattern::create(const std::string& expression) {
  if (expression.size() > kLongest)
    return failure(fmt::format("longer than {} characters: {}", kLongest, expression.size()));
  if (has_long_number(expression)) return failure("a repetition has more than 9 digits");
  try {
    NamePattern pattern;
    pattern.expression_ = std::make_shared<const Expression>(Expression{std::regex(expression, kSyntax)});
    return pattern;
  } catch (const std::regex_error& e) {
    return failure(fmt::format("'{}' is not a regular expression: {}", expression, e.what()));
  }
}

bool NamePattern::matches(std::string_view name) const {
  const auto found = [&](std::string_view text) {
    text = text.substr(0, kLongest);
    return std::regex_search(text.begin(), text.end(), expression_->regex);
  };
  return found(name) || found(source_name(name));
}

} // namespace warplens::api
