// SPDX-License-Identifier: Apache-2.0
#include "api/session/session.hpp"

#include "api/session/kernel_name.hpp"

#include "emulator/ir/callees.hpp"
#include "emulator/ir/link.hpp"
#include "emulator/ir/liveness.hpp"
#include "emulator/ir/merge.hpp"
#include "emulator/ir/parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <unordered_map>

namespace warplens::api {

std::string_view version() { return WARPLENS_VERSION; }

Expected<std::shared_ptr<Context>> Context::create() {
  Expected<std::unique_ptr<exec::Arena>> arena = exec::Arena::reserve();
  if (!arena) return failure(arena.error());
  return std::shared_ptr<Context>(new Context(std::move(*arena)));
}

exec::Heap* Context::heap() {
  const std::lock_guard lock(mutex_);
  if (heap_) return &*heap_;
  const Expected<std::uint64_t> begin = arena_->allocate(heap_bytes_, "device heap");
  if (!begin) return nullptr;
  touch();
  exec::Heap& heap = heap_.emplace(*begin, heap_bytes_);
  if (checks_memory_) heap.check();
  return &heap;
}

exec::Heap* Context::made_heap() {
  const std::lock_guard lock(mutex_);
  return heap_ ? &*heap_ : nullptr;
}

void Context::check_memory() {
  const std::lock_guard lock(mutex_);
  checks_memory_ = true;
  arena_->keep_freed();
}

bool Context::set_heap_size(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (heap_) return bytes == heap_bytes_;
  heap_bytes_ = bytes;
  return true;
}

void Context::admit(std::uint64_t begin, std::uint64_t size, std::string name, bool host) {
  const std::lock_guard lock(mutex_);
  admitted_[begin] = {begin, begin + size, std::move(name), false, exec::kHostPageBytes, host};
  touch();
}

void Context::withdraw(std::uint64_t begin) {
  const std::lock_guard lock(mutex_);
  admitted_.erase(begin);
  touch();
}

Context::View Context::borrow_view() {
  const std::lock_guard lock(mutex_);
  // Read before the state, so that a change in the meantime only makes the view outdated.
  const std::uint64_t version = version_.load(std::memory_order_acquire);
  while (!spare_views_.empty()) {
    View view = std::move(spare_views_.back());
    spare_views_.pop_back();
    if (view.version == version) return view;
  }
  View view{version, arena_->snapshot(), arena_->freed(), textures_};
  for (const auto& [begin, range] : admitted_) view.allocations.push_back(range);
  if (!admitted_.empty())
    std::sort(view.allocations.begin(), view.allocations.end(),
              [](const exec::Allocation& a, const exec::Allocation& b) { return a.begin < b.begin; });
  return view;
}

void Context::return_view(View view) {
  constexpr std::size_t kMost = 8; // launches at the same time
  const std::lock_guard lock(mutex_);
  if (spare_views_.size() < kMost) spare_views_.push_back(std::move(view));
}

std::uint64_t Context::bind(exec::BoundTexture texture) {
  const std::lock_guard lock(mutex_);
  textures_.set(next_handle_, std::move(texture));
  touch();
  return next_handle_++;
}

void Context::bind_to(std::uint64_t address, exec::BoundTexture texture) {
  texture.is_variable = true;
  const std::lock_guard lock(mutex_);
  textures_.set(address, std::move(texture));
  touch();
}

void Context::unbind(std::uint64_t handle) {
  const std::lock_guard lock(mutex_);
  textures_.erase(handle);
  touch();
}

exec::Textures Context::textures() const {
  const std::lock_guard lock(mutex_);
  return textures_;
}

Expected<std::shared_ptr<Buffer>> Buffer::allocate(std::shared_ptr<Context> context, std::uint64_t size,
                                                   std::string name, exec::Arena::Options options) {
  const Expected<std::uint64_t> address = context->arena().allocate(size, name, options);
  if (!address) return failure(address.error());
  context->touch();
  return std::shared_ptr<Buffer>(new Buffer(std::move(context), *address, size, std::move(name)));
}

Buffer::~Buffer() {
  context_->arena().free(address_);
  context_->touch();
}

Expected<std::shared_ptr<Module>> Module::load(std::shared_ptr<Context> context, std::string_view text,
                                               std::string_view file) {
  const Source source{std::string(text), std::string(file)};
  return load(std::move(context), {&source, 1});
}

Expected<std::shared_ptr<Module>> Module::load(std::shared_ptr<Context> context, std::span<const Source> sources) {
  if (sources.empty()) return failure("the module has no text");
  std::vector<ir::Module> parsed;
  Diagnostics errors;
  ir::Checked checked;
  for (const Source& source : sources) {
    Expected<ir::Module> one = ir::parse(source.text, source.file);
    if (one) checked = ir::check(*one);
    if (one) errors.append(std::move(checked.errors));
    if (one)
      parsed.push_back(std::move(*one));
    else
      errors.append(one.error());
  }
  if (errors.has_errors()) return failure(std::move(errors));
  Expected<ir::Module> merged = ir::merge(std::move(parsed));
  if (!merged) return failure(merged.error());
  if (sources.size() > 1) checked = ir::check(*merged);
  std::shared_ptr<Module> module(new Module(std::move(context), std::move(*merged), std::move(checked)));
  module->sources_ = std::make_shared<const std::vector<Source>>(sources.begin(), sources.end());
  for (ir::Unsupported& u : module->unsupported_)
    if (const std::string_view file = module->module_.functions[u.function].file; !file.empty()) u.why.file = file;
  errors = module->allocate_variables();
  module->warnings_.in_file(module->module_.file);
  if (errors.has_errors()) {
    errors.in_file(module->module_.file);
    return failure(std::move(errors));
  }
  return module;
}

namespace {

bool is_opaque(const ir::Variable& v) {
  return isa::info(v.type).kind == isa::Class::opaque || v.space == isa::Space::texture;
}

// The state in the initialiser of a .samplerref (manual, 5.3).
exec::BoundTexture declared_sampler(const ir::Variable& variable) {
  exec::BoundTexture result;
  result.kind = exec::BoundTexture::Kind::sampler;
  result.name = variable.name;
  result.sampler.normalized = true;
  for (const ir::VariableOption& option : variable.options) {
    if (option.name == "filter_mode") result.sampler.linear = option.value == "linear";
    if (option.name == "force_unnormalized_coords") result.sampler.unnormalized_forced = option.value == "1";
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (option.name != fmt::format("addr_mode_{}", axis)) continue;
      result.sampler.addressing[axis] = option.value == "wrap"              ? exec::Addressing::wrap
                                        : option.value == "mirror"          ? exec::Addressing::mirror
                                        : option.value == "clamp_to_border" ? exec::Addressing::border
                                                                            : exec::Addressing::clamp;
    }
  }
  return result;
}

// The initial value of a variable. `address_of(variable, symbol)` resolves addresses in it.
template <class AddressOf>
void store_initial(const ir::Variable& variable, const Buffer& buffer, AddressOf address_of) {
  const std::span<std::byte> bytes = buffer.bytes();
  std::copy_n(variable.initial.begin(), std::min(variable.initial.size(), bytes.size()), bytes.begin());
  for (const ir::Relocation& r : variable.relocations) {
    const std::uint64_t address = address_of(variable, r.symbol);
    if (address == 0) continue;
    const std::uint64_t value = (address + static_cast<std::uint64_t>(r.addend)) >> r.shift;
    if (r.offset + r.bytes <= bytes.size() && r.bytes <= sizeof value) std::memcpy(&bytes[r.offset], &value, r.bytes);
  }
}

} // namespace

Diagnostics Module::allocate_variables() {
  Diagnostics errors;
  for (const ir::Variable& v : module_.variables) {
    std::shared_ptr<Buffer> buffer;
    if (v.space == isa::Space::global || v.space == isa::Space::constant || v.space == isa::Space::texture) {
      Expected<std::shared_ptr<Buffer>> memory =
          Buffer::allocate(context_, v.size, std::string(v.name),
                           {.alignment = v.alignment, .constant = v.space == isa::Space::constant});
      if (memory)
        buffer = std::move(*memory);
      else
        errors.error(v.where, memory.error().list().front().message);
      if (v.linkage == ir::Linkage::external && !is_opaque(v))
        warnings_.warning(v.where, fmt::format("'{}' is external but not defined: it is initialised to zero", v.name));
    }
    addresses_.push_back(buffer ? buffer->address() : 0);
    if (buffer) variables_by_name_.try_emplace(buffer->name(), buffer.get());
    variables_.push_back(std::move(buffer));
  }
  if (errors.has_errors()) return errors;
  // All addresses are known now; initialisers may refer to later variables.
  std::unordered_map<std::string_view, const Buffer*> by_name;
  for (const auto& buffer : variables_)
    if (buffer) by_name.emplace(buffer->name(), buffer.get());
  const ir::FunctionIndex functions(module_);
  // Address of a symbol in an initialiser, 0 if it has none.
  const auto address_of = [&](const ir::Variable& variable, std::string_view symbol) -> std::uint64_t {
    if (const auto named = by_name.find(symbol); named != by_name.end()) return named->second->address();
    if (const std::uint32_t function = functions.named(symbol); function != ir::kNone)
      return exec::function_address(functions.definition_of(function), module_.address_size);
    warnings_.warning(variable.where, fmt::format("the initialiser of '{}' takes the address of '{}', which has no "
                                                  "address here: 0 is stored",
                                                  variable.name, symbol));
    return 0;
  };
  for (std::size_t i = 0; i < variables_.size(); ++i)
    if (variables_[i]) store_initial(module_.variables[i], *variables_[i], address_of);
  for (std::size_t i = 0; i < variables_.size(); ++i)
    if (module_.variables[i].type == isa::Type::samplerref && variables_[i])
      context_->bind_to(addresses_[i], declared_sampler(module_.variables[i]));
  return errors;
}

Module::~Module() {
  for (const std::uint64_t address : addresses_)
    if (address != 0) context_->unbind(address);
}

bool Module::bind(std::string_view name, exec::BoundTexture texture) {
  for (std::size_t i = 0; i < variables_.size(); ++i) {
    const ir::Variable& v = module_.variables[i];
    if (v.name != name || !is_opaque(v) || !variables_[i]) continue;
    texture.kind = v.type == isa::Type::surfref      ? exec::BoundTexture::Kind::surface
                   : v.type == isa::Type::samplerref ? exec::BoundTexture::Kind::sampler
                                                     : exec::BoundTexture::Kind::texture;
    context_->bind_to(addresses_[i], std::move(texture));
    return true;
  }
  return false;
}

const Buffer* Module::variable(std::string_view name) const {
  const auto found = variables_by_name_.find(name);
  return found != variables_by_name_.end() ? found->second : nullptr;
}

std::vector<const ir::Function*> Module::kernels() const {
  std::vector<const ir::Function*> list;
  for (const ir::Function& f : module_.functions)
    if (f.is_entry && f.has_body) list.push_back(&f);
  return list;
}

Expected<Kernel> Module::kernel(std::string_view name) {
  std::vector<std::string_view> names;
  std::vector<const ir::Function*> in_source;
  for (const ir::Function* f : kernels()) {
    if (f->name == name) return Kernel{shared_from_this(), f};
    if (source_name(f->name) == name) in_source.push_back(f);
    names.push_back(f->name);
  }
  if (in_source.size() == 1) return Kernel{shared_from_this(), in_source.front()};
  const std::string message = fmt::format("no kernel '{}' in '{}'", name, module_.file);
  if (names.empty()) return failure(message, "the module has no kernels (.entry functions with a body)");
  const std::string near = closest(name, names);
  if (!near.empty()) return failure(message, fmt::format("did you mean '{}'?", near));
  constexpr std::size_t kShown = 10;
  const bool more = names.size() > kShown;
  names.resize(std::min(names.size(), kShown));
  return failure(message, fmt::format("kernels: {}{}", fmt::join(names, ", "), more ? ", …" : ""));
}

std::vector<const ir::Unsupported*> Module::blockers(const ir::Function& kernel) const {
  std::vector<const ir::Unsupported*> list;
  if (unsupported_.empty()) return list;
  std::vector<bool> reached(module_.functions.size(), false);
  for (const std::uint32_t f : ir::reachable(module_, kernel)) reached[f] = true;
  for (const ir::Unsupported& u : unsupported_)
    if (reached[u.function]) list.push_back(&u);
  return list;
}

namespace {

Expected<const exec::Level*> find_level(std::string_view name) {
  if (name.empty()) return nullptr;
  std::vector<std::string_view> names;
  for (const exec::Level& level : exec::levels()) {
    if (level.name == name) return &level;
    names.push_back(level.name);
  }
  return failure(fmt::format("this machine has no level '{}'", name),
                 fmt::format("levels: {}", fmt::join(names, ", ")));
}

} // namespace

Expected<std::shared_ptr<const exec::Program>> Module::program(const ir::Function& kernel, bool watched,
                                                               std::string_view level, bool checked) {
  const std::lock_guard lock(mutex_);
  const ProgramKey key{&kernel, watched, checked, std::string(level)};
  if (const auto found = programs_.find(key); found != programs_.end()) return found->second;

  Diagnostics errors;
  for (const ir::Unsupported* u : blockers(kernel)) {
    Diagnostics one;
    one.error(u->why.where, u->why.message, u->why.hint);
    one.in_file(u->why.file);
    errors.append(std::move(one));
  }
  if (errors.has_errors()) {
    errors.error({}, fmt::format("kernel '{}' cannot be launched: {} of its instructions are not supported",
                                 kernel.name, errors.error_count()));
    errors.in_file(module_.file);
    return failure(std::move(errors));
  }
  const Expected<const exec::Level*> chosen = find_level(level);
  if (!chosen) return failure(chosen.error());
  Expected<std::shared_ptr<const exec::Program>> program =
      exec::decode(module_, kernel, addresses_, {.level = *chosen, .watched = watched, .checked = checked});
  if (program) programs_.emplace(key, *program);
  return program;
}

std::uint32_t Module::estimated_registers(const ir::Function& function, int address_bits) {
  const std::lock_guard lock(mutex_);
  const auto [found, added] = registers_.try_emplace({&function, address_bits});
  if (added) found->second = ir::estimated_registers(module_, function, address_bits);
  return found->second;
}

} // namespace warplens::api
