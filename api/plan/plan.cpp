// SPDX-License-Identifier: Apache-2.0
#include "api/plan/plan.hpp"

#include "api/files/input_file.hpp"
#include "api/files/npy.hpp"
#include "api/files/output_file.hpp"
#include "api/plan/launch_tensor_map.hpp"
#include "emulator/base/checked.hpp"
#include "emulator/base/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace warplens::api {

namespace {

/// Gives diagnostics without a place the place of their part of the plan.
Diagnostics placed(Diagnostics errors, const Origin& origin) {
  if (origin.file.empty()) return errors;
  Diagnostics result;
  for (const Diagnostic& d : errors.list()) {
    Diagnostics one;
    const bool nowhere = d.file.empty() && d.where.line == 0;
    if (d.severity == Severity::error)
      one.error(nowhere ? origin.where : d.where, d.message, d.hint);
    else
      one.warning(nowhere ? origin.where : d.where, d.message, d.hint);
    one.in_file(nowhere ? origin.file : d.file);
    result.append(std::move(one));
  }
  return result;
}

Expected<std::vector<Source>> read_ptx(const std::filesystem::path& file) {
  Expected<std::string> text = read_file(file);
  if (!text) return failure(text.error());
  return std::vector<Source>{{std::move(*text), file.string()}};
}

class Runner {
public:
  Runner(const Plan& plan, const PlanOptions& options) : plan_(plan), options_(options) {}

  Expected<PlanReport> run() {
    if (!prepare()) return failure(std::move(errors_));
    for (std::size_t i = 0; i < plan_.launches.size(); ++i) {
      const LaunchPlan& launch_plan = plan_.launches[i];
      if (options_.before_launch) options_.before_launch(i, launch_plan);
      if (options_.only == i) {
        report_.targets = launch(requests_[i], targets_);
        return std::move(report_);
      }
      Expected<LaunchReport> report = launch(requests_[i]);
      if (!report) return failure(placed(report.error(), launch_plan.origin));
      for (LaunchReport& one : with_children(std::move(*report))) report_.launches.push_back(std::move(one));
      if (report_.trapped()) return std::move(report_);
    }
    if (!has_results()) return std::move(report_);
    for (std::size_t i = 0; i < plan_.buffers.size(); ++i) finish(plan_.buffers[i], *report_.contents[i]);
    if (errors_.has_errors()) return failure(std::move(errors_));
    return std::move(report_);
  }

private:
  [[nodiscard]] bool has_results() const {
    return options_.launch.ranks == nullptr || options_.launch.ranks->is_first();
  }
  void fail(const Diagnostics& errors, const Origin& origin) { errors_.append(placed(errors, origin)); }
  void fail(std::string message, const Origin& origin, std::string hint = {}) {
    Diagnostics one;
    one.error({}, std::move(message), std::move(hint));
    fail(one, origin);
  }

  // Does everything that can fail before the first launch, so that no launch runs in vain. False: see errors_.
  bool prepare() {
    if (plan_.launches.empty()) fail("the plan contains no launch", {});
    Expected<std::shared_ptr<Context>> context = Context::create();
    if (!context) errors_.append(context.error());
    if (errors_.has_errors()) return false;
    context_ = std::move(*context);
    std::vector<std::shared_ptr<Module>> modules;
    for (const LaunchPlan& l : plan_.launches) modules.push_back(module(l));
    if (errors_.has_errors() || !choose_device(*modules.front())) return false;
    if (options_.targets) targets_ = options_.targets(report_.device);
    report_.buffers = plan_.buffers;
    if (!options_.only && has_results()) check_saves();
    if (errors_.has_errors()) return false;
    for (const BufferPlan& b : plan_.buffers) buffer(b);
    for (const TexturePlan& t : plan_.textures) bind(t);
    if (errors_.has_errors()) return false;
    for (std::size_t i = 0; i < plan_.launches.size(); ++i) request(plan_.launches[i], *modules[i]);
    return !errors_.has_errors();
  }

  std::shared_ptr<Module> module(const LaunchPlan& l) {
    std::vector<std::filesystem::path> files{l.module};
    files.insert(files.end(), l.libraries.begin(), l.libraries.end());
    if (const auto found = modules_.find(files); found != modules_.end()) return found->second;
    std::shared_ptr<Module>& result = modules_[files];
    std::vector<Source> sources;
    for (const std::filesystem::path& file : files) {
      Expected<std::vector<Source>> read = options_.read_module ? options_.read_module(file) : read_ptx(file);
      if (!read) {
        fail(read.error(), l.origin);
        return result;
      }
      std::move(read->begin(), read->end(), std::back_inserter(sources));
    }
    Expected<std::shared_ptr<Module>> loaded = Module::load(context_, sources);
    if (!loaded)
      fail(loaded.error(), l.origin);
    else
      result = std::move(*loaded);
    if (result) report_.warnings.append(result->warnings());
    return result;
  }

  bool choose_device(const Module& first) {
    Expected<model::Device> device = plan_.device.empty() ? default_device(first.ir()) : load_device(plan_.device);
    if (device)
      report_.device = std::move(*device);
    else
      errors_.append(device.error());
    return device.has_value();
  }

  /// All files that the plan reads.
  [[nodiscard]] std::vector<std::filesystem::path> inputs() const {
    std::vector<std::filesystem::path> files{plan_.device};
    for (const LaunchPlan& l : plan_.launches) {
      files.insert(files.end(), {l.module, l.origin.file});
      files.insert(files.end(), l.libraries.begin(), l.libraries.end());
    }
    for (const BufferPlan& b : plan_.buffers) {
      if (b.initial.kind == Initial::Kind::file) files.push_back(b.initial.file);
      if (b.expect) files.push_back(*b.expect);
    }
    return files;
  }

  // Checks before the run that results can be written and overwrite no input file.
  void check_saves() {
    const std::vector<std::filesystem::path> read = inputs();
    std::vector<std::filesystem::path> saved;
    for (const BufferPlan& b : plan_.buffers) {
      if (!b.save) continue;
      const auto is_save = [&](const std::filesystem::path& other) {
        std::error_code ignored;
        return other.lexically_normal() == b.save->lexically_normal() ||
               std::filesystem::equivalent(other, *b.save, ignored);
      };
      if (std::any_of(read.begin(), read.end(), is_save))
        fail(fmt::format("saving buffer '{}' would overwrite '{}', which is an input file", b.name, b.save->string()),
             b.origin);
      else if (std::any_of(saved.begin(), saved.end(), is_save))
        fail(fmt::format("saving buffer '{}' would overwrite another buffer, in '{}'", b.name, b.save->string()),
             b.origin);
      else if (const Expected<void> possible = check_output(*b.save); !possible)
        fail(possible.error(), b.origin);
      saved.push_back(*b.save);
    }
  }

  void buffer(const BufferPlan& b) {
    Array content;
    if (b.initial.kind == Initial::Kind::file) {
      Expected<Array> array = read_npy(b.initial.file, b.type);
      if (!array) return fail(array.error(), b.origin);
      content = std::move(*array);
      if (b.count && *b.count != content.count)
        return fail(fmt::format("buffer '{}' has {} elements, but '{}' has {}", b.name, *b.count,
                                b.initial.file.string(), content.count),
                    b.origin);
    } else {
      content.count = b.count.value_or(0);
    }
    const Checked size = Checked(content.count) * isa::bytes(b.type);
    buffer_bytes_ += size;
    if (const Limit& limit = limits::kBufferBytes; !limit.admits(buffer_bytes_))
      return fail(limit.exceeded(fmt::format("with buffer '{}' the plan", b.name), buffer_bytes_), b.origin,
                  limit.hint());
    Expected<std::shared_ptr<Buffer>> memory = Buffer::allocate(context_, size.saturated(), b.name);
    if (!memory) return fail(memory.error(), b.origin);
    report_.contents.push_back(*memory);
    fill(b, content, (*memory)->bytes());
  }

  static void fill(const BufferPlan& b, const Array& content, std::span<std::byte> bytes) {
    switch (b.initial.kind) {
    case Initial::Kind::zeros: break;
    case Initial::Kind::fill: fill_iota(b.type, bytes, b.initial.first, zero_like(b.initial.first)); break;
    case Initial::Kind::iota: fill_iota(b.type, bytes, b.initial.first, b.initial.second); break;
    case Initial::Kind::random: fill_random(b.type, bytes, b.initial.first, b.initial.second, b.initial.seed); break;
    case Initial::Kind::file: std::copy(content.bytes.begin(), content.bytes.end(), bytes.begin()); break;
    }
  }
  static Number zero_like(const Number& n) { return n.index() == 0 ? Number{std::int64_t{0}} : Number{0.0}; }

  void request(const LaunchPlan& l, Module& from) {
    Expected<Kernel> kernel = from.kernel(l.kernel);
    if (!kernel) return fail(kernel.error(), l.origin);
    LaunchRequest r;
    r.kernel = std::move(*kernel);
    r.grid = l.grid;
    r.block = l.block;
    r.cluster = l.cluster;
    const Checked shared = Checked(l.shared) + Checked(l.shared_per_thread) * l.block[0] * l.block[1] * l.block[2];
    if (!shared.valid()) return fail("a block needs more than 2^64 - 1 bytes of dynamic shared memory", l.origin);
    r.dynamic_shared_bytes = *shared.value();
    r.cooperative = l.cooperative;
    r.device = report_.device;
    r.options = options_.launch;
    r.options.analyze = r.options.analyze && (!options_.only || options_.only == requests_.size());
    if (!r.options.registers) r.options.registers = l.registers;
    for (const ArgumentPlan& a : l.arguments) argument(a, r);
    requests_.push_back(std::move(r));
  }

  void argument(const ArgumentPlan& a, LaunchRequest& r) {
    if (const auto* scalar = std::get_if<ScalarPlan>(&a.value)) {
      Expected<Argument> argument = Argument::scalar(scalar->type, scalar->value);
      if (!argument) return fail(argument.error(), a.origin);
      r.arguments.push_back(std::move(*argument));
      return;
    }
    if (const auto* map = std::get_if<TensorMapName>(&a.value)) return tensor_map(map->name, a.origin, r);
    if (const auto* handle = std::get_if<HandlePlan>(&a.value)) return this->handle(*handle, a.origin, r);
    if (const std::shared_ptr<Buffer> b = buffer_named(std::get<std::string>(a.value), a.origin))
      r.arguments.push_back(Argument::buffer(*b));
  }

  void tensor_map(const std::string& name, const Origin& origin, LaunchRequest& r) {
    const auto plan = std::find_if(plan_.tensor_maps.begin(), plan_.tensor_maps.end(),
                                   [&](const TensorMapPlan& m) { return m.name == name; });
    if (plan == plan_.tensor_maps.end()) return fail(fmt::format("there is no tensor map '{}'", name), origin);
    const std::shared_ptr<Buffer> memory = buffer_named(plan->buffer, plan->origin);
    if (!memory) return;
    const auto of = std::find_if(plan_.buffers.begin(), plan_.buffers.end(),
                                 [&](const BufferPlan& b) { return b.name == plan->buffer; });
    const Expected<exec::TensorMap> map = made(*plan, memory->address(), of->type);
    if (!map) return fail(map.error(), plan->origin);
    const exec::TensorMap::Words words = map->encoded();
    r.arguments.push_back(Argument::raw(std::as_bytes(std::span(words))));
  }

  // Null, with an error, if there is none.
  std::shared_ptr<Buffer> buffer_named(const std::string& name, const Origin& origin) {
    std::vector<std::string_view> names;
    for (const auto& b : report_.contents) {
      if (b->name() == name) return b;
      names.push_back(b->name());
    }
    const std::string near = closest(name, names);
    fail(fmt::format("there is no buffer '{}'", name), origin,
         near.empty() ? "" : fmt::format("did you mean '{}'?", near));
    return nullptr;
  }

  static exec::BoundTexture described(const TexturePlan& t) {
    const auto kind = t.buffer.empty() ? exec::BoundTexture::Kind::sampler : exec::BoundTexture::Kind::texture;
    return {kind, t.name, false, t.image, t.sampler};
  }

  // Creates the texture, and binds the modules' variables of the same name.
  void bind(const TexturePlan& t) {
    exec::BoundTexture description = described(t);
    std::shared_ptr<Buffer> memory;
    if (!t.buffer.empty()) {
      memory = buffer_named(t.buffer, t.origin);
      if (!memory) return;
      const auto plan = std::find_if(plan_.buffers.begin(), plan_.buffers.end(),
                                     [&](const BufferPlan& b) { return b.name == t.buffer; });
      description.image.type = t.type.value_or(plan->type);
      if (isa::bits(description.image.type) > 32 || isa::info(description.image.type).kind == isa::Class::untyped)
        return fail(
            fmt::format("texture '{}' cannot have channels of type {}", t.name, isa::name(description.image.type)),
            t.origin);
    }
    Expected<std::shared_ptr<Texture>> made = Texture::create(context_, std::move(description), memory);
    if (!made) return fail(made.error(), t.origin);
    for (const auto& [file, module] : modules_) module->bind(t.name, (*made)->description());
    textures_[t.name] = {std::move(*made), memory};
  }

  void handle(const HandlePlan& h, const Origin& origin, LaunchRequest& r) {
    const auto found = textures_.find(h.name);
    if (found == textures_.end()) return fail(fmt::format("there is no texture '{}'", h.name), origin);
    std::shared_ptr<Texture> texture = found->second.first;
    if (texture->description().kind != h.kind) { // a surface of the same texels
      exec::BoundTexture other = texture->description();
      if (found->second.second == nullptr || h.kind == exec::BoundTexture::Kind::sampler)
        return fail(fmt::format("'{}' is {}", h.name, found->second.second ? "a texture" : "a sampler"), origin);
      other.kind = h.kind;
      Expected<std::shared_ptr<Texture>> made = Texture::create(context_, std::move(other), found->second.second);
      if (!made) return fail(made.error(), origin);
      texture = std::move(*made);
      surfaces_.push_back(texture);
    }
    r.arguments.push_back(Argument::texture(*texture));
  }

  void finish(const BufferPlan& b, const Buffer& memory) {
    if (b.save)
      if (Expected<void> saved = write_npy(*b.save, b.type, memory.bytes()); !saved) fail(saved.error(), b.origin);
    if (!b.expect) return;
    const Expected<Array> expected = read_npy(*b.expect, b.type);
    if (!expected) return fail(expected.error(), b.origin);
    const std::span<const std::byte> got = memory.bytes();
    if (expected->bytes.size() != got.size())
      return fail(fmt::format("buffer '{}' has {} elements, but '{}' has {}", b.name,
                              got.size() / static_cast<std::size_t>(isa::bytes(b.type)), b.expect->string(),
                              expected->count),
                  b.origin);
    const Comparison c = compare(b.type, got, expected->bytes, b.tolerance);
    if (c.differing == 0) return;
    const std::size_t at = c.first * static_cast<std::size_t>(isa::bytes(b.type));
    report_.mismatches.push_back({b.name, b.expect->string(), c.differing, expected->count, c.first,
                                  format(b.type, &expected->bytes[at]), format(b.type, &got[at])});
  }

  const Plan& plan_;
  const PlanOptions& options_;
  PlanReport report_;
  Diagnostics errors_;
  std::shared_ptr<Context> context_;
  std::map<std::vector<std::filesystem::path>, std::shared_ptr<Module>> modules_; ///< by their files
  std::map<std::string, std::pair<std::shared_ptr<Texture>, std::shared_ptr<Buffer>>> textures_;
  std::vector<std::shared_ptr<Texture>> surfaces_; ///< that arguments name
  std::vector<LaunchRequest> requests_;
  Checked buffer_bytes_; ///< of those allocated
  std::vector<TargetDevice> targets_;
};

} // namespace

Extent blocks_for(const Extent& total, const Extent& block) {
  Extent grid{};
  for (std::size_t i = 0; i < 3; ++i)
    grid[i] = total[i] / std::max<std::uint64_t>(block[i], 1) + (block[i] != 0 && total[i] % block[i] != 0);
  return grid;
}

Expected<PlanReport> run_plan(const Plan& plan, const PlanOptions& options) { return Runner(plan, options).run(); }

} // namespace warplens::api
