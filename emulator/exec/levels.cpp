#include "emulator/exec/levels.hpp"

namespace warplens::exec {

#define LEVEL(name)                                                                                                    \
  namespace name {                                                                                                     \
  void fill_integer(HandlerRows&);                                                                                     \
  void fill_float(HandlerRows&);                                                                                       \
  void fill_half(HandlerRows&);                                                                                        \
  void fill_convert(HandlerRows&);                                                                                     \
  Handler memory_handler(const MemoryHandlerKey&);                                                                     \
  Handler vector_move(int total_bytes, int element_bytes, bool pack);                                                  \
  }
WARPLENS_FOR_EACH_LEVEL
#undef LEVEL

namespace {

// One level's handlers, put together. Compiled here, for any processor: what a vector needs must not come from a level.
template <auto... fill> const HandlerRows& lane_handlers() {
  static const HandlerRows rows = [] {
    HandlerRows r(isa::table().size());
    (fill(r), ...);
    return r;
  }();
  return rows;
}

#define LEVEL_OF(name, level)                                                                                          \
  Level {                                                                                                              \
    name, lane_handlers<level::fill_integer, level::fill_float, level::fill_half, level::fill_convert>,                \
        level::memory_handler, level::vector_move                                                                      \
  }

} // namespace

std::span<const Level> levels() {
  static const std::vector<Level> available = [] {
    std::vector<Level> list;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("x86-64-v4")) list.push_back(LEVEL_OF("x86-64-v4", v4));
    if (__builtin_cpu_supports("x86-64-v3")) list.push_back(LEVEL_OF("x86-64-v3", v3));
    list.push_back(LEVEL_OF("x86-64-v2", v2));
#else
    list.push_back(LEVEL_OF("portable", portable));
#endif
    return list;
  }();
  return available;
}

#undef LEVEL_OF

} // namespace warplens::exec
