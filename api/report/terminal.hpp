// SPDX-License-Identifier: Apache-2.0
// How text is written to an open file: with colours, bars and its width on a terminal; plainly otherwise, so that a
// file or a pipe gets the same bytes in every environment.
#pragma once

#include "api/report/report_text.hpp"

namespace warplens::api {

bool is_terminal(int file_descriptor);
/// From now on, no file is a terminal: a launcher reads what this process writes, and may use a terminal for that.
void without_terminal();

/// No colours if the output is not a terminal or NO_COLOR is set (https://no-color.org).
Style style_for(int file_descriptor);

/// Sets the width and whether to draw bars; with hints about further options.
TextOptions text_options_for(int file_descriptor);

} // namespace warplens::api
