// SPDX-License-Identifier: Apache-2.0
// The output of `cuobjdump -ptx`: PTX modules, each after header lines such as "Fatbin ptx code:" and "arch = sm_75".
//
//   listed_modules("Fatbin ptx code:\n====\narch = sm_75\n\n.version 8.0\n…")  ->  {"\n\n\n\n.version 8.0\n…"}
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::tools {

/// The modules, each on the lines that it has in the text; empty if the text lists only machine code. Nullopt if the
/// text is not such a list.
std::optional<std::vector<std::string>> listed_modules(std::string_view text);

} // namespace warplens::tools
