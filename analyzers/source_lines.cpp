// SPDX-License-Identifier: Apache-2.0
#include "analyzers/source_lines.hpp"

#include <algorithm>
#include <vector>

namespace warplens::analyzers {

void set_source(InstructionRow& row, const ir::SourcePosition& source, const ir::Module& module,
                const std::map<std::uint32_t, std::string_view>& files) {
  const auto frame = [&](const ir::SourcePosition& p) {
    const auto file = files.find(p.file);
    return SourceFrame{file == files.end() ? std::string() : std::string(file->second), p.line};
  };
  std::vector<SourceFrame> chain = {frame(source)};
  for (std::uint32_t at = source.inlined_at; at != ir::kNone; at = module.call_sites[at].where.inlined_at)
    chain.push_back(frame(module.call_sites[at].where));
  const auto own = std::find_if(chain.begin(), chain.end(),
                                [&](const SourceFrame& f) { return f.line != 0 && f.file == chain.back().file; });
  const SourceFrame& blamed = own == chain.end() ? chain.front() : *own;
  row.source_file = blamed.file;
  row.source_line = blamed.line;
  if (chain.size() > 1) row.inlined = std::move(chain);
}

} // namespace warplens::analyzers
