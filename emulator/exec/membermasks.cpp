#include "emulator/exec/membermasks.hpp"

#include "emulator/exec/control.hpp"
#include "emulator/exec/cta.hpp"

#include <fmt/format.h>

namespace warplens::exec {

namespace {

// "lane 3", "lanes 0-15, 20"
std::string lanes_of(Mask mask) {
  std::string text = __builtin_popcount(mask) == 1 ? "lane" : "lanes";
  const char* separator = " ";
  for (int i = 0; i < kWarpSize; ++i) {
    if ((mask >> i & 1) == 0) continue;
    const int first = i;
    while (i + 1 < kWarpSize && (mask >> (i + 1) & 1) != 0) ++i;
    text += first == i ? fmt::format("{}{}", separator, i) : fmt::format("{}{}-{}", separator, first, i);
    separator = ", ";
  }
  return text;
}

} // namespace

void stop_at_membermask(const Op* op, Warp* warp) {
  const Mask mask = acting(op, warp);
  const std::uint32_t* const masks = row<std::uint32_t>(warp, op->src[3]);
  for (Mask left = mask; left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    const std::uint32_t named = masks[lane];
    Mask group = 0;
    for (int i = 0; i < kWarpSize; ++i) group |= (mask >> i & 1) != 0 && masks[i] == named ? Mask{1} << i : 0;
    const Mask missing = named & warp->live & ~group;
    const Mask elsewhere = missing & ~warp->active, guarded_off = missing & warp->active & ~mask;
    std::string why;
    if ((named >> lane & 1) == 0)
      why = fmt::format("{:#010x} does not name lane {}, which executes the instruction", named, lane);
    else if (elsewhere != 0)
      why =
          fmt::format("{:#010x} names {} of this warp, which went another way at a branch", named, lanes_of(elsewhere));
    else if (guarded_off != 0)
      why = fmt::format("{:#010x} names {} of this warp, whose guard is false", named, lanes_of(guarded_off));
    else if (missing != 0)
      why = fmt::format("{:#010x} of lane {} names {}, where the mask is another one", named, lane, lanes_of(missing));
    else
      continue;
    stop_with(op, warp, Trap::Kind::invalid_membermask, Mask{1} << lane, std::move(why));
    return;
  }
}

} // namespace warplens::exec
