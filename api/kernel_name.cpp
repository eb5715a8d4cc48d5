#include "api/kernel_name.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace warplens::api {

namespace {

/// Where the list of parameters, which ends the text, begins.
std::size_t parameters_of(std::string_view signature) {
  int open = 0;
  for (std::size_t at = signature.size(); at-- > 0;) {
    if (signature[at] == ')') ++open;
    if (signature[at] == '(' && --open == 0) return at;
  }
  return signature.size();
}

} // namespace

std::string source_name(std::string_view name) {
  if (!name.starts_with("_Z")) return std::string(name);
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0) return std::string(name);
  std::string_view signature = text.get();
  signature = signature.substr(0, parameters_of(signature));
  constexpr std::string_view kVoid = "void "; // templates are mangled with their return type; a kernel has no other
  if (signature.starts_with(kVoid)) signature.remove_prefix(kVoid.size());
  return std::string(signature);
}

} // namespace warplens::api
