// SPDX-License-Identifier: Apache-2.0
// The objects that a program holds by handle: streams, events, modules. A handle is the object's address. The registry
// detects handles that are invalid, destroyed, or of a destroyed context. An object that is destroyed while in use
// exists until the use ends.
//
//   CUstream handle = streams.add(stream);  streams.find(handle)->submit(…);  streams.remove(handle);
#pragma once

#include "runtime/abi/driver.hpp"

#include <memory>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace warplens::runtime {

template <class Object, class Handle> class Registry {
public:
  static Handle handle(const Object* object) { return (Handle) const_cast<Object*>(object); }

  Handle add(std::shared_ptr<Object> object) {
    const Handle key = handle(object.get());
    const std::lock_guard lock(mutex_);
    buried_.erase(key);
    objects_.emplace(key, std::move(object));
    return key;
  }
  /// Null if there is no such object.
  std::shared_ptr<Object> find(Handle key) const {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(key);
    return found == objects_.end() ? nullptr : found->second;
  }
  /// The removed object; null if there is no such object.
  std::shared_ptr<Object> remove(Handle key) {
    const std::lock_guard lock(mutex_);
    auto node = objects_.extract(key);
    return node.empty() ? nullptr : std::move(node.mapped());
  }
  /// Removes the objects of a destroyed context, for which the condition holds. Their handles stay known.
  template <class Condition> void bury(Condition&& condition) {
    std::vector<std::shared_ptr<Object>> removed; // destroyed after the lock is released
    const std::lock_guard lock(mutex_);
    for (auto at = objects_.begin(); at != objects_.end();) {
      if (!condition(*at->second)) {
        ++at;
        continue;
      }
      buried_.insert(at->first);
      removed.push_back(std::move(at->second));
      at = objects_.erase(at);
    }
  }
  [[nodiscard]] bool is_buried(Handle key) const {
    const std::lock_guard lock(mutex_);
    return buried_.contains(key);
  }
  [[nodiscard]] std::vector<std::shared_ptr<Object>> all() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<Object>> list;
    for (const auto& [key, object] : objects_) list.push_back(object);
    return list;
  }

private:
  mutable std::mutex mutex_;
  std::unordered_map<Handle, std::shared_ptr<Object>> objects_;
  std::unordered_set<Handle> buried_;
};

} // namespace warplens::runtime
