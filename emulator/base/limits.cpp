// SPDX-License-Identifier: Apache-2.0
#include "emulator/base/limits.hpp"

#include <fmt/format.h>

#include <charconv>

namespace warplens {

std::string Limit::exceeded(std::string_view who, Checked number) const {
  const std::string count = number.valid() ? fmt::to_string(number.saturated()) : "more than 2^64 - 1";
  return fmt::format("{} needs {} {}: the limit {} is {}", who, count, of_, name_, most());
}

std::string Limit::hint() const {
  return fmt::format("to raise it, use warplens --limit {}=NUMBER … or the environment variable WARPLENS_LIMITS",
                     name_);
}

std::span<Limit* const> limits::all() {
  static Limit* const list[] = {&kRegisters,         &kRegisterBytes, &kVariableBytes,      &kInitialBytes,
                                &kParameterBytes,    &kSharedBytes,   &kLocalBytes,         &kBlockDepth,
                                &kRegisterNameBytes, &kTableTargets,  &kCallTargets,        &kSavedRegisters,
                                &kDeviceOperations,  &kBufferBytes,   &kInputBytes,         &kSettingsBytes,
                                &kExpandedBytes,     &kExpansion,     &kTimelineOperations, &kDescriptionBytes};
  return list;
}

namespace {

Limit* limit_named(std::string_view name) {
  for (Limit* const limit : limits::all())
    if (limit->name() == name) return limit;
  return nullptr;
}

std::string set_one(std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  Limit* const limit = limit_named(name);
  if (limit == nullptr) {
    std::string known;
    for (const Limit* l : limits::all()) known += fmt::format("{}{}", known.empty() ? "" : ", ", l->name());
    return fmt::format("there is no limit '{}'; the limits are {}", name, known);
  }
  const std::string_view number = equals == text.npos ? std::string_view{} : text.substr(equals + 1);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (number.empty() || error != std::errc{} || end != number.data() + number.size())
    return fmt::format("the limit {} expects a number, got '{}'", name, number);
  limit->set(value);
  return {};
}

} // namespace

std::string set_limits(std::string_view text) {
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    if (std::string wrong = set_one(text.substr(0, comma)); !wrong.empty()) return wrong;
    text.remove_prefix(comma == text.npos ? text.size() : comma + 1);
  }
  return {};
}

} // namespace warplens
