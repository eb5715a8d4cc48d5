// SPDX-License-Identifier: Apache-2.0
// initcheck: follows launches and reports reads of bytes and registers that nobody has written.
//
//   InitCheck init;   init.fresh(0x50000000, 400, false);
//   launch.checkers = {&init};  launch.tools.initcheck = true;  run(launch).findings
//
// The CTAs of a launch run on one worker, in a fixed order: whether a byte was written before it is read depends on
// this order, so all findings are the same for any number of threads.
#pragma once

#include "emulator/exec/checks/init/global_shadow.hpp"
#include "emulator/exec/state/checker.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace warplens::exec {

/// Not thread-safe: launches and the operations of the host take turns.
class InitCheck final : public LaunchChecker {
public:
  using Range = init::GlobalShadow::Range;

  std::unique_ptr<Checker> make(const Launch& launch) override;

  /// Memory that is given anew. `of_host`: the program can write it directly, which is not seen: what the system has
  /// given a page of memory counts as written.
  void fresh(std::uint64_t begin, std::uint64_t bytes, bool of_host);
  /// Memory that is taken back, and that others may use without telling.
  void forget(std::uint64_t begin, std::uint64_t bytes);
  void write(std::uint64_t begin, std::uint64_t bytes) { shadow_.write(begin, bytes); }
  /// A copy between two places of this memory. `what`: the function that the program called.
  void copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes, const std::string& what);
  /// The bytes that nobody has written, after looking at what the program may have written itself.
  std::vector<Range> unwritten(std::uint64_t begin, std::uint64_t bytes);
  /// Those that no copy has reached either.
  std::vector<Range> unused(std::uint64_t begin, std::uint64_t bytes);
  /// Where a copy has brought this unwritten byte from. `address`: of the first place.
  struct Origin {
    std::uint64_t address = 0;
    std::string what;
  };
  [[nodiscard]] std::optional<Origin> origin_of(std::uint64_t address) const;
  /// A new operation of the host or launch: the program may have written memory since the last one.
  void begin();

  init::GlobalShadow& shadow() { return shadow_; }
  [[nodiscard]] std::size_t shadow_bytes() const { return shadow_.size(); }
  /// Whether bytes are unwritten even though the shadow says so: see fresh().
  bool still_unwritten(std::uint64_t begin, std::uint64_t bytes);

private:
  struct Copied {
    std::uint64_t end = 0, source = 0;
    std::string what;
  };
  void forget_copies(std::uint64_t begin, std::uint64_t end);
  void look(std::uint64_t begin, std::uint64_t bytes);
  [[nodiscard]] bool is_of_host(std::uint64_t address) const;

  init::GlobalShadow shadow_;
  std::map<std::uint64_t, std::uint64_t> of_host_; ///< ends, by begin
  std::map<std::uint64_t, Copied> copies_;         ///< of unwritten bytes, by begin; they do not overlap
  std::set<std::uint64_t> looked_;                 ///< pages that only the device has touched since
};

} // namespace warplens::exec
