// SPDX-License-Identifier: Apache-2.0
// What threads of a CTA have written through the generic proxy and not yet fenced for the asynchronous one (PTX manual,
// memory consistency model: proxies). Bulk copies read shared memory and use mbarriers through the asynchronous proxy.
//
//   ProxyFences p;  p.store(64, 4, writer);  p.unfenced(64, 128)->writer;  p.fence(writer.thread);  …  ->  null
//
// A fence counts for what its thread has written, and for what others had written when its warp last passed a barrier.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace warplens::exec {

class ProxyFences {
public:
  struct Writer {
    std::uint32_t thread = 0; ///< in the CTA
    std::uint32_t instruction = 0;
  };
  /// What somebody wrote without a fence since.
  struct Unfenced {
    Writer writer;
    std::uint64_t address = 0, bytes = 0;
  };
  /// Words of shared memory that a thread writes.
  void store(std::uint64_t address, std::uint64_t bytes, Writer writer);
  /// An asynchronous copy has written there.
  void forget(std::uint64_t address, std::uint64_t bytes);
  /// The first word of these bytes.
  [[nodiscard]] std::optional<Unfenced> unfenced(std::uint64_t address, std::uint64_t bytes) const;

  void init(std::uint64_t object, Writer writer) { objects_[object] = {writer, now_}; }
  /// The mbarrier, if it was initialised so. Each is told once.
  std::optional<Unfenced> take_unfenced_object(std::uint64_t object);

  /// A warp has passed a barrier or a wait.
  void passed(std::uint32_t warp);
  /// fence.proxy.async; `objects`: only of the mbarriers that the thread initialised (fence.mbarrier_init).
  void fence(std::uint32_t thread, bool objects);

private:
  using Time = std::uint64_t; ///< counts fences and barriers
  struct Mark {
    Writer writer;
    Time time = 0; ///< 0: nothing is written
  };
  struct Fence {
    Time memory = 0, objects = 0;
  };
  static constexpr std::uint64_t kWord = 4;
  [[nodiscard]] bool is_unfenced(const Mark& mark, bool object) const;

  Time now_ = 1, all_before_ = 0;
  std::vector<Mark> words_;
  std::map<std::uint64_t, Mark> objects_;
  std::vector<Fence> fences_; ///< by thread
  std::vector<Time> passed_;  ///< by warp
};

} // namespace warplens::exec
