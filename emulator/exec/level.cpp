// One level's handlers, put together. Compiled once per level.
#include "emulator/exec/lane_rows.hpp"

namespace warplens::exec::WARPLENS_LEVEL {

const HandlerRows& lane_handlers() {
  static const HandlerRows rows = [] {
    HandlerRows r(isa::table().size());
    fill_integer(r);
    fill_float(r);
    fill_half(r);
    fill_convert(r);
    return r;
  }();
  return rows;
}

} // namespace warplens::exec::WARPLENS_LEVEL
