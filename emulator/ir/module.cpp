// SPDX-License-Identifier: Apache-2.0
#include "emulator/ir/module.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>
#include <limits>
#include <utility>

namespace warplens::ir {

const Function* Module::find(std::string_view function) const {
  const auto found = std::find_if(functions.begin(), functions.end(),
                                  [&](const Function& f) { return f.name == function && f.has_body; });
  return found == functions.end() ? nullptr : &*found;
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

bool Module::has_samplers() const {
  return std::find(target_options.begin(), target_options.end(), "texmode_independent") != target_options.end();
}

char* Module::Names::room(std::size_t size) {
  constexpr std::size_t kFirst = 512, kMost = 65536;
  if (left < size) {
    const std::size_t wanted =
        blocks.empty() ? kFirst : std::min(2 * block_size, kMost); // small modules need little memory
    block_size = std::max(wanted, size);
    next = blocks.emplace_back(std::make_unique_for_overwrite<char[]>(block_size)).get();
    left = block_size;
  }
  left -= size;
  return std::exchange(next, next + size);
}

std::string_view Module::Names::keep(std::string_view text) {
  return {static_cast<char*>(std::memcpy(room(text.size()), text.data(), text.size())), text.size()};
}

std::string_view Module::intern(std::string_view text) {
  const auto found = names_->index.find(text);
  if (found != names_->index.end()) return *found;
  return *names_->index.insert(names_->keep(text)).first;
}

std::string_view Module::numbered(std::string_view prefix, std::uint32_t number) {
  char digits[std::numeric_limits<std::uint32_t>::digits10 + 1];
  const auto count = static_cast<std::size_t>(std::to_chars(digits, std::end(digits), number).ptr - digits);
  char* const name = names_->room(prefix.size() + count);
  std::copy_n(prefix.data(), prefix.size(), name);
  std::copy_n(digits, count, name + prefix.size());
  return {name, prefix.size() + count};
}

} // namespace warplens::ir
