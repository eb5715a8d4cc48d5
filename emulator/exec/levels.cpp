#include "emulator/exec/levels.hpp"

namespace warplens::exec {

#define LEVEL(name)                                                                                                    \
  namespace name {                                                                                                     \
  const HandlerRows& lane_handlers();                                                                                  \
  Handler memory_handler(const MemoryHandlerKey&);                                                                     \
  Handler vector_move(int total_bytes, int element_bytes, bool pack);                                                  \
  }
WARPLENS_FOR_EACH_LEVEL
#undef LEVEL

std::span<const Level> levels() {
  static const std::vector<Level> available = [] {
    std::vector<Level> list;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
      list.push_back({"x86-64-v4", v4::lane_handlers, v4::memory_handler, v4::vector_move});
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
      list.push_back({"x86-64-v3", v3::lane_handlers, v3::memory_handler, v3::vector_move});
    list.push_back({"x86-64-v2", v2::lane_handlers, v2::memory_handler, v2::vector_move});
#else
    list.push_back({"portable", portable::lane_handlers, portable::memory_handler, portable::vector_move});
#endif
    return list;
  }();
  return available;
}

} // namespace warplens::exec
