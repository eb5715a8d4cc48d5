#include "emulator/ir/module.hpp"

#include <algorithm>

namespace warplens::ir {

const Function* Module::find(std::string_view function) const {
  const auto found = std::find_if(functions.begin(), functions.end(),
                                  [&](const Function& f) { return f.name == function && f.has_body; });
  return found == functions.end() ? nullptr : &*found;
}

std::uint32_t Module::function_named(std::string_view name) const {
  for (std::uint32_t i = 0; i < functions.size(); ++i)
    if (functions[i].name == name) return i;
  return kNone;
}

const Variable& Module::variable(const Function& function, std::uint32_t index) const {
  const std::uint32_t position = variable_position(index);
  switch (variable_owner(index)) {
  case VariableOwner::local: return function.variables[position];
  case VariableOwner::parameter: return function.params[position];
  case VariableOwner::result: return function.results[position];
  case VariableOwner::module: break;
  }
  return variables[position];
}

std::string_view Module::Names::keep(std::string_view text) {
  constexpr std::size_t kBlock = 16384;
  if (blocks.empty() || blocks.back().capacity() - blocks.back().size() < text.size())
    blocks.emplace_back().reserve(std::max(kBlock, text.size()));
  std::string& block = blocks.back();
  block += text;
  return std::string_view(block).substr(block.size() - text.size());
}

std::string_view Module::intern(std::string_view text) {
  const auto found = names_->index.find(text);
  if (found != names_->index.end()) return *found;
  return *names_->index.insert(names_->keep(text)).first;
}

std::string_view Module::numbered(std::string_view prefix, std::uint32_t number) {
  std::string text(prefix);
  text += std::to_string(number);
  return names_->keep(text);
}

} // namespace warplens::ir
