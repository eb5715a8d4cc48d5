// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/decode/levels.hpp"

#include "emulator/base/processor_levels.hpp"

namespace warplens::exec {

#define WARPLENS_NAME_v2 "x86-64-v2"
#define WARPLENS_NAME_v3 "x86-64-v3"
#define WARPLENS_NAME_v4 "x86-64-v4"
#define WARPLENS_NAME_portable "portable"

// WARPLENS_FOR_EACH_LEVEL: LEVEL(v2) …; WARPLENS_FOR_EACH_GROUP: GROUP(fill_common_lanes) …, in the order of the table.
#define GROUP(fill) HandlerRow* fill(HandlerRow*);
#define LEVEL(name)                                                                                                    \
  namespace name {                                                                                                     \
  WARPLENS_FOR_EACH_GROUP                                                                                              \
  Handler memory_handler(const MemoryHandlerKey&);                                                                     \
  bool resolve_access(const Op*, Warp*, Mask, HostAccess&);                                                            \
  Handler vector_move(int total_bytes, int element_bytes, bool pack);                                                  \
  Handler warp_handler(const WarpHandlerKey&);                                                                         \
  Handler matrix_handler(MatrixHandler);                                                                               \
  Mask sample_rows(const SampleRowsRequest&, SampledRows&);                                                            \
  bool fetch_sequences(Warp*, const SequenceTable*, SequenceSlot*);                                                    \
  void store_sequences(Warp*, const SequenceTable*, const SequenceSlot*);                                              \
  }
WARPLENS_FOR_EACH_LEVEL
#undef LEVEL
#undef GROUP

// Collects one level's handlers. Compiled here, for any processor: vector types must not come from a level.
#define GROUP(fill) row = fill(row);
#define LEVEL(name)                                                                                                    \
  namespace name {                                                                                                     \
  static const HandlerRows& lane_handlers() {                                                                          \
    static const HandlerRows rows = [] {                                                                               \
      HandlerRows r(isa::table().size());                                                                              \
      HandlerRow* row = r.data();                                                                                      \
      WARPLENS_FOR_EACH_GROUP                                                                                          \
      return r;                                                                                                        \
    }();                                                                                                               \
    return rows;                                                                                                       \
  }                                                                                                                    \
  }
WARPLENS_FOR_EACH_LEVEL
#undef LEVEL
#undef GROUP

std::span<const Level> levels() {
  // Never destroyed: a program may use it during its exit.
  static const std::vector<Level>& available = *new std::vector<Level>([] {
    std::vector<Level> list;
#if defined(__x86_64__)
    __builtin_cpu_init();
#endif
#define LEVEL(name)                                                                                                    \
  if (WARPLENS_RUNS_##name)                                                                                            \
    list.push_back({WARPLENS_NAME_##name, name::lane_handlers, name::memory_handler, name::resolve_access,             \
                    name::vector_move, name::warp_handler, name::matrix_handler, name::sample_rows,                    \
                    name::fetch_sequences, name::store_sequences});
    WARPLENS_FOR_EACH_LEVEL
#undef LEVEL
    return list;
  }());
  return available;
}

} // namespace warplens::exec
