// What `cuobjdump -ptx` writes: PTX modules, each after a head of lines such as "Fatbin ptx code:" and "arch = sm_75".
//
//   listed_modules("Fatbin ptx code:\n====\narch = sm_75\n\n.version 8.0\n…")  ->  {"\n\n\n\n.version 8.0\n…"}
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::tools {

/// The modules, each on the lines that it has in the text: none where only machine code is listed. Nothing where the
/// text is no such list.
std::optional<std::vector<std::string>> listed_modules(std::string_view text);

} // namespace warplens::tools
