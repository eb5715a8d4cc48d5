// SPDX-License-Identifier: Apache-2.0
// The publications of the numbers of a device: "clock_ghz", "hong_kim.memory_latency" or "hong_kim" -> a text. Each
// launch copies its device; the copies share the sources until one is changed.
#pragma once

#include <map>
#include <memory>
#include <string>

namespace warplens::model {

class Sources {
public:
  using Map = std::map<std::string, std::string>;

  [[nodiscard]] auto begin() const { return shared_->begin(); }
  [[nodiscard]] auto end() const { return shared_->end(); }
  [[nodiscard]] auto find(const std::string& key) const { return shared_->find(key); }
  [[nodiscard]] bool contains(const std::string& key) const { return shared_->contains(key); }
  [[nodiscard]] const std::string& at(const std::string& key) const { return shared_->at(key); }
  std::string& operator[](const std::string& key) { return own()[key]; }
  void erase(const std::string& key) { own().erase(key); }
  friend bool operator==(const Sources& a, const Sources& b) { return *a.shared_ == *b.shared_; }

private:
  Map& own() {
    if (shared_.use_count() > 1) shared_ = std::make_shared<Map>(*shared_);
    return *shared_;
  }

  std::shared_ptr<Map> shared_ = none();
  static const std::shared_ptr<Map>& none() {
    static const auto empty = std::make_shared<Map>();
    return empty;
  }
};

} // namespace warplens::model
