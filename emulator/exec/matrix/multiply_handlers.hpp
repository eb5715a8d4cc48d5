// SPDX-License-Identifier: Apache-2.0
// mma and wmma.mma, for matrix_handlers.cpp of the same level.
#pragma once

#include "emulator/exec/matrix/matrix_handlers.hpp"

namespace warplens::exec::WARPLENS_LEVEL {

Handler multiply_handler(MatrixHandler kind);
const Op* multiply_floats(const Op* op, Warp* warp);

} // namespace warplens::exec::WARPLENS_LEVEL
