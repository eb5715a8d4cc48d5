// SPDX-License-Identifier: Apache-2.0
// Writes device files, the counterpart of device_load.cpp.
#include "model/device_fields.hpp"

#include <fmt/format.h>

namespace warplens::model {
namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) out += c;
  }
  return out + '"';
}

/// The name of a rule in a device file.
const std::string& reference(const rules::Label& rule) { return rule.file.empty() ? rule.name : rule.file; }

/// A table that is written only if it has a key, followed by its own tables.
class TableText {
public:
  explicit TableText(std::string_view name) : name_(name) {}
  template <class T> void operator()(std::string_view key, const T& value, Defaulted = {}) {
    if constexpr (Table<T>) {
      TableText table(key);
      visit_fields(value, table);
      tables_ += table.text();
    } else {
      lines_ += fmt::format("{} = {}\n", key, shown(value));
    }
  }
  template <class T> void operator()(std::string_view key, const std::optional<T>& value) {
    if (value) (*this)(key, *value);
  }
  [[nodiscard]] std::string text() const {
    return (lines_.empty() || name_.empty() ? lines_ : fmt::format("\n[{}]\n{}", name_, lines_)) + tables_;
  }

private:
  template <class T> static const T& shown(const T& number) { return number; }
  static std::string shown(const std::string& text) { return quoted(text); }
  static std::string shown(StorePolicy policy) { return quoted(kStorePolicies[static_cast<std::size_t>(policy)]); }
  static std::string shown(const ComputeCapability& capability) { return quoted(to_string(capability)); }
  static std::string shown(const rules::CoalescingRule& rule) { return quoted(reference(rule)); }
  static std::string shown(const rules::BankRule& rule) { return quoted(reference(rule)); }

  std::string_view name_;
  std::string lines_, tables_;
};

} // namespace

std::string device_text(const Device& device) {
  TableText text(""), sources("sources");
  visit_fields(device, text);
  // Either "hong_kim" or each of its keys has a source; dotted keys can express both.
  for (const auto& [key, source] : device.sources) sources(key, source);
  return text.text() + sources.text();
}

} // namespace warplens::model
