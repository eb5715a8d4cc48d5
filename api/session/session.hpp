// SPDX-License-Identifier: Apache-2.0
// The façade: device memory, modules and kernels. Launches are in api/launch/launch.hpp.
//
//   auto context = *Context::create();
//   auto module = *Module::load(context, ptx_text, "saxpy.ptx");
//   auto kernel = *module->kernel("saxpy");
//   auto x = *Buffer::allocate(context, 4096, "x");
//   std::memcpy(x->bytes().data(), …);
//
// All functions are thread-safe. The caller must order launches that access the same memory.
#pragma once

#include "emulator/base/expected.hpp"
#include "emulator/exec/decode/decode.hpp"
#include "emulator/exec/grid/grid.hpp"
#include "emulator/ir/check.hpp"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace warplens::api {

/// "0.2.0"
std::string_view version();

/// Device memory and the modules in it.
class Context {
public:
  static Expected<std::shared_ptr<Context>> create();
  exec::Arena& arena() { return *arena_; }
  /// The heap of kernels: 8 MiB unless set, allocated from the arena on first use; null: out of memory.
  exec::Heap* heap();
  /// Null: no kernel has used it yet.
  exec::Heap* made_heap();
  /// For memcheck: memory that is freed from now on is not used again for a while, and the heap has gaps.
  void check_memory();
  /// False: the heap is already in use.
  bool set_heap_size(std::uint64_t bytes);
  /// Held by launches that allocate, so that they run one after the other.
  std::unique_lock<std::mutex> lock_heap() { return std::unique_lock(heap_mutex_); }

  /// Allows kernels to access memory of the caller outside the arena, until it is withdrawn.
  void admit(std::uint64_t begin, std::uint64_t size, std::string name, bool host);
  void withdraw(std::uint64_t begin);

  /// The memory and textures that kernels may access: a copy for one launch. A launch returns its copy, and the next
  /// one reuses it if nothing has changed.
  struct View {
    std::uint64_t version = 0; ///< 0: not valid
    std::vector<exec::Allocation> allocations, freed;
    exec::Textures textures;
  };
  View borrow_view();
  void return_view(View view);
  /// Call this after a change of the arena or the textures.
  void touch() { version_.fetch_add(1, std::memory_order_release); }

  /// Returns a handle for a texture, surface or sampler; `bind_to` binds it to the module's variable at that address.
  std::uint64_t bind(exec::BoundTexture texture);
  void bind_to(std::uint64_t address, exec::BoundTexture texture);
  void unbind(std::uint64_t handle);
  /// Everything that is currently bound.
  [[nodiscard]] exec::Textures textures() const;

private:
  explicit Context(std::unique_ptr<exec::Arena> arena) : arena_(std::move(arena)) {}
  std::unique_ptr<exec::Arena> arena_;
  mutable std::mutex mutex_;
  std::mutex heap_mutex_;
  std::uint64_t heap_bytes_ = 8 << 20; // the default of cudaLimitMallocHeapSize
  std::optional<exec::Heap> heap_;
  bool checks_memory_ = false;
  std::map<std::uint64_t, exec::Allocation> admitted_; ///< by begin
  std::atomic<std::uint64_t> version_{1};
  std::vector<View> spare_views_;
  exec::Textures textures_;
  std::uint64_t next_handle_ = 1; ///< far below the addresses of variables, which are in the arena
};

/// A named block of device memory, initially zero; freed with its last owner.
class Buffer {
public:
  /// `size` in bytes. Error: out of memory.
  static Expected<std::shared_ptr<Buffer>> allocate(std::shared_ptr<Context> context, std::uint64_t size,
                                                    std::string name, exec::Arena::Options options = {});
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  [[nodiscard]] std::uint64_t address() const { return address_; } ///< as seen by kernels
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::span<std::byte> bytes() const { return {reinterpret_cast<std::byte*>(address_), size_}; }

private:
  Buffer(std::shared_ptr<Context> context, std::uint64_t address, std::uint64_t size, std::string name)
      : context_(std::move(context)), address_(address), size_(size), name_(std::move(name)) {}
  std::shared_ptr<Context> context_;
  std::uint64_t address_, size_;
  std::string name_;
};

class Module;

/// PTX, and its name in diagnostics.
struct Source {
  std::string text, file;
};

/// An entry function of a module; keeps the module alive.
struct Kernel {
  std::shared_ptr<Module> module;
  const ir::Function* function = nullptr;
};

/// A parsed and checked module with its variables in memory.
class Module : public std::enable_shared_from_this<Module> {
public:
  /// Parses, checks, and initialises the module's variables. `file` is the name of the text in diagnostics.
  /// Errors: PTX that ptxas would refuse too. Unsupported instructions are not errors here; only launches of kernels
  /// that contain them fail.
  static Expected<std::shared_ptr<Module>> load(std::shared_ptr<Context> context, std::string_view text,
                                                std::string_view file);
  /// Links several files: one file defines what another declares .extern.
  static Expected<std::shared_ptr<Module>> load(std::shared_ptr<Context> context, std::span<const Source> sources);

  /// Finds a kernel by its name in the PTX or, if unique, in the CUDA source: "scale<float>" (see kernel_name.hpp).
  /// Error: no such kernel; the hint suggests a similar name or lists the kernels.
  Expected<Kernel> kernel(std::string_view name);
  /// Kernels with a body, in the order of the text.
  [[nodiscard]] std::vector<const ir::Function*> kernels() const;

  [[nodiscard]] const ir::Module& ir() const { return module_; }
  /// The sources of the module.
  [[nodiscard]] const std::vector<Source>& sources() const { return *sources_; }
  /// The same, for reports that outlive the module.
  [[nodiscard]] const std::shared_ptr<const std::vector<Source>>& shared_sources() const { return sources_; }
  [[nodiscard]] const std::shared_ptr<Context>& context() const { return context_; }
  [[nodiscard]] const std::vector<ir::Unsupported>& unsupported() const { return unsupported_; }
  /// The instructions that prevent a launch of the kernel, in it and in the functions that it may call.
  [[nodiscard]] std::vector<const ir::Unsupported*> blockers(const ir::Function& kernel) const;
  /// What loading could not do, such as resolve the address of an unknown symbol in an initialiser.
  [[nodiscard]] const Diagnostics& warnings() const { return warnings_; }
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  /// Binds the .texref, .surfref or .samplerref variable of that name, according to its kind. False: no such variable.
  bool bind(std::string_view name, exec::BoundTexture texture);
  /// The memory of a .global or .const variable; null: no such variable.
  [[nodiscard]] const Buffer* variable(std::string_view name) const;

  /// The decoded kernel, cached for each combination of arguments. `level`: "x86-64-v3", …; empty: the best. Errors: an
  /// unsupported instruction, a level that this machine does not have.
  Expected<std::shared_ptr<const exec::Program>> program(const ir::Function& kernel, bool watched,
                                                         std::string_view level, bool checked = false);
  /// The cached result of ir::estimated_registers(), which takes longer than a launch. The function must live as long
  /// as the module, such as that of a program().
  std::uint32_t estimated_registers(const ir::Function& function, int address_bits);

private:
  Module(std::shared_ptr<Context> context, ir::Module module, ir::Checked checked)
      : context_(std::move(context)), module_(std::move(module)), unsupported_(std::move(checked.unsupported)) {}
  Diagnostics allocate_variables();

  std::shared_ptr<Context> context_;
  ir::Module module_;
  std::shared_ptr<const std::vector<Source>> sources_;
  std::vector<ir::Unsupported> unsupported_;
  Diagnostics warnings_;
  std::vector<std::shared_ptr<Buffer>> variables_; ///< by index into ir::Module::variables; null: needs no memory
  std::unordered_map<std::string_view, const Buffer*> variables_by_name_;
  exec::VariableAddresses addresses_;

  using ProgramKey = std::tuple<const ir::Function*, bool, bool, std::string>;
  std::mutex mutex_;
  std::map<ProgramKey, std::shared_ptr<const exec::Program>> programs_;
  std::map<std::pair<const ir::Function*, int>, std::uint32_t> registers_; ///< by function and address bits
};

} // namespace warplens::api
