// SPDX-License-Identifier: Apache-2.0
#include "api/check/host_stack.hpp"

#include <fmt/format.h>

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace warplens::api {

namespace {

bool is_ours(const Dl_info& info) {
  std::string_view name = info.dli_fname == nullptr ? "" : info.dli_fname;
  name.remove_prefix(name.find_last_of('/') == name.npos ? 0 : name.find_last_of('/') + 1);
  return name.starts_with("libcuda.so") || name.starts_with("libcudart.so") || name.starts_with("libwarplens");
}

/// What calls main() and starts threads.
bool is_of_system(const Dl_info& info) {
  const std::string_view name = info.dli_fname;
  return name.find("/libc.so") != name.npos || name.find("/libpthread") != name.npos;
}

std::string demangled(const char* symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(symbol, nullptr, nullptr, &status), std::free);
  return status == 0 && text ? text.get() : symbol;
}

} // namespace

HostStack HostStack::here() {
  constexpr int kMost = 32;
  HostStack stack;
  stack.addresses_.resize(kMost);
  stack.addresses_.resize(static_cast<std::size_t>(backtrace(stack.addresses_.data(), kMost)));
  return stack;
}

std::size_t HostStack::first_of_program() const {
  std::size_t i = 0;
  for (Dl_info info{}; i < addresses_.size(); ++i)
    if (dladdr(addresses_[i], &info) != 0 && !is_ours(info)) break;
  return i;
}

std::string HostStack::caller() const {
  const std::size_t first = first_of_program();
  Dl_info info{};
  if (first == 0 || dladdr(addresses_[first - 1], &info) == 0 || info.dli_sname == nullptr) return {};
  return info.dli_sname;
}

std::vector<std::string> HostStack::frames() const {
  std::vector<std::string> list;
  for (std::size_t i = first_of_program(); i < addresses_.size(); ++i) {
    Dl_info info{};
    if (dladdr(addresses_[i], &info) == 0 || info.dli_fname == nullptr) continue;
    if (is_of_system(info)) continue;
    const auto offset =
        reinterpret_cast<std::uint64_t>(addresses_[i]) - reinterpret_cast<std::uint64_t>(info.dli_fbase);
    const std::string function = info.dli_sname == nullptr ? "" : demangled(info.dli_sname) + " ";
    list.push_back(fmt::format("{}[{:#x}] in {}", function, offset, info.dli_fname));
  }
  return list;
}

} // namespace warplens::api
