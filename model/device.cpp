// SPDX-License-Identifier: Apache-2.0
#include "model/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <optional>

namespace warplens::model {
namespace {

// "Tesla C1060", "tesla-c1060" and "C1060" are all "c1060".
std::string normalized(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z') letters += static_cast<char>(c - 'A' + 'a');
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) letters += c;
  }
  for (const std::string_view brand : {"nvidia", "geforce", "tesla", "quadro"})
    if (letters.starts_with(brand)) letters.erase(0, brand.size());
  return letters;
}

/// A built-in device: parsed when it is first asked for, and kept, because each launch asks for its device.
class BuiltIn {
public:
  explicit BuiltIn(const DeviceText& text) : text_(text), id_(normalized(text.file.substr(0, text.file.rfind('.')))) {}
  [[nodiscard]] const std::string& id() const { return id_; }
  const Expected<Device>& device() {
    std::call_once(once_, [&] { device_.emplace(load_device(text_.text, text_.file)); });
    return *device_;
  }

private:
  DeviceText text_;
  std::string id_;
  std::once_flag once_;
  std::optional<Expected<Device>> device_;
};

std::deque<BuiltIn>& built_in() {
  // Never destroyed, so that it can still be used while the program ends.
  static std::deque<BuiltIn>& all = *new std::deque<BuiltIn>([] {
    std::deque<BuiltIn> list;
    for (const DeviceText& text : built_in_device_texts()) list.emplace_back(text);
    return list;
  }());
  return all;
}

} // namespace

const std::vector<Device>& built_in_devices() {
  static const std::vector<Device>& devices = *new std::vector<Device>([] {
    std::vector<Device> list;
    // A text that does not load leaves the list short; a test compares the two, since this code may not abort.
    for (BuiltIn& one : built_in())
      if (const Expected<Device>& device = one.device()) list.push_back(*device);
    std::sort(list.begin(), list.end(), [](const Device& a, const Device& b) {
      return std::tie(a.capability, a.id) < std::tie(b.capability, b.id);
    });
    return list;
  }());
  return devices;
}

Expected<Device> find_device(std::string_view name) {
  const std::string wanted = normalized(name);
  // A file has the name of its device's id: only that file is parsed.
  for (BuiltIn& one : built_in())
    if (one.id() == wanted) return one.device();
  std::vector<std::string> keys;
  for (const Device& device : built_in_devices()) {
    for (const std::string& key : {normalized(device.id), normalized(device.name)}) {
      if (key == wanted) return device;
      keys.push_back(key);
    }
  }
  const std::string near = closest(wanted, {keys.begin(), keys.end()});
  for (const Device& device : built_in_devices())
    if (!near.empty() && (near == normalized(device.id) || near == normalized(device.name)))
      return failure(fmt::format("unknown device '{}'", name), fmt::format("did you mean '{}'?", device.id));
  std::string ids;
  for (const Device& device : built_in_devices()) ids += (ids.empty() ? "" : ", ") + device.id;
  return failure(fmt::format("unknown device '{}'", name), "devices: " + ids);
}

} // namespace warplens::model
