// The pieces that lane_rows.cpp is compiled into, per level: each fills the rows of some units.
#pragma once

#include "emulator/exec/levels.hpp"

namespace warplens::exec::WARPLENS_LEVEL {
void fill_integer(HandlerRows&);
void fill_float(HandlerRows&);
void fill_half(HandlerRows&);
void fill_convert(HandlerRows&);
} // namespace warplens::exec::WARPLENS_LEVEL
