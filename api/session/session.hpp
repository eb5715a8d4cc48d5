// The façade: device memory, modules and kernels. Launches are in api/launch/launch.hpp.
//
//   auto context = *Context::create();
//   auto module = *Module::load(context, ptx_text, "saxpy.ptx");
//   auto kernel = *module->kernel("saxpy");
//   auto x = *Buffer::allocate(context, 4096, "x");
//   std::memcpy(x->bytes().data(), …);
//
// Everything may be used from several threads at once; launches that touch the same memory are ordered by the caller.
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

/// "0.1.0"
std::string_view version();

/// Device memory, and the modules that live in it.
class Context {
public:
  static Expected<std::shared_ptr<Context>> create();
  exec::Arena& arena() { return *arena_; }
  /// What kernels allocate from: 8 MiB unless set, taken from the arena when first asked for; null: there was no room.
  exec::Heap* heap();
  /// False: it is in use already.
  bool set_heap_size(std::uint64_t bytes);
  /// Held by launches that allocate, one after the other.
  std::unique_lock<std::mutex> lock_heap() { return std::unique_lock(heap_mutex_); }

  /// Memory outside the arena that kernels may access, until it is withdrawn; the caller's.
  void admit(std::uint64_t begin, std::uint64_t size, std::string name);
  void withdraw(std::uint64_t begin);

  /// What kernels may access and name: a copy for one launch. Launches give theirs back, and while nothing changes the
  /// next one takes it as it is.
  struct View {
    std::uint64_t version = 0; ///< 0: of no state
    std::vector<exec::Allocation> allocations;
    exec::Textures textures;
  };
  View borrow_view();
  void return_view(View view);
  /// Something in the arena or among the textures has changed.
  void touch() { version_.fetch_add(1, std::memory_order_release); }

  /// Gives a texture, surface or sampler a handle; `bind_to` binds it to the variable of a module at that address.
  std::uint64_t bind(exec::BoundTexture texture);
  void bind_to(std::uint64_t address, exec::BoundTexture texture);
  void unbind(std::uint64_t handle);
  /// Everything that is bound now.
  [[nodiscard]] exec::Textures textures() const;

private:
  explicit Context(std::unique_ptr<exec::Arena> arena) : arena_(std::move(arena)) {}
  std::unique_ptr<exec::Arena> arena_;
  mutable std::mutex mutex_;
  std::mutex heap_mutex_;
  std::uint64_t heap_bytes_ = 8 << 20; // cudaLimitMallocHeapSize is this by default
  std::optional<exec::Heap> heap_;
  std::map<std::uint64_t, exec::Allocation> admitted_; ///< by begin
  std::atomic<std::uint64_t> version_{1};
  std::vector<View> spare_views_;
  exec::Textures textures_;
  std::uint64_t next_handle_ = 1; ///< far below the arena, where the addresses of variables are
};

/// A named piece of device memory; zeros at first; freed with its last owner.
class Buffer {
public:
  /// `size` in bytes. Error: out of memory.
  static Expected<std::shared_ptr<Buffer>> allocate(std::shared_ptr<Context> context, std::uint64_t size,
                                                    std::string name, exec::Arena::Options options = {});
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  [[nodiscard]] std::uint64_t address() const { return address_; } ///< as kernels see it
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

/// PTX, and how diagnostics name it.
struct Source {
  std::string text, file;
};

/// An entry function of a module; keeps the module alive.
struct Kernel {
  std::shared_ptr<Module> module;
  const ir::Function* function = nullptr;
};

/// A parsed and checked module, its variables in memory.
class Module : public std::enable_shared_from_this<Module> {
public:
  /// Parses, checks, and initialises the module's variables. `file` is the name that diagnostics give the text.
  /// Errors: whatever ptxas would refuse too. Instructions that cannot be run are no errors here: the kernels that
  /// contain them refuse to launch.
  static Expected<std::shared_ptr<Module>> load(std::shared_ptr<Context> context, std::string_view text,
                                                std::string_view file);
  /// Several files, linked: what one declares .extern another defines.
  static Expected<std::shared_ptr<Module>> load(std::shared_ptr<Context> context, std::span<const Source> sources);

  /// By its name in the PTX or, where only one kernel has it, in the CUDA source: "scale<float>" (see kernel_name.hpp).
  /// Error: no such kernel; the hint says which one may have been meant, or which there are.
  Expected<Kernel> kernel(std::string_view name);
  /// Kernels with a body, in the order of the text.
  [[nodiscard]] std::vector<const ir::Function*> kernels() const;

  [[nodiscard]] const ir::Module& ir() const { return module_; }
  /// What it was loaded from.
  [[nodiscard]] const std::vector<Source>& sources() const { return sources_; }
  [[nodiscard]] const std::shared_ptr<Context>& context() const { return context_; }
  [[nodiscard]] const std::vector<ir::Unsupported>& unsupported() const { return unsupported_; }
  /// What keeps a kernel from being launched: in itself, and in the functions that it may reach.
  [[nodiscard]] std::vector<const ir::Unsupported*> blockers(const ir::Function& kernel) const;
  /// What loading had to leave out, such as the address of something unknown in an initialiser.
  [[nodiscard]] const Diagnostics& warnings() const { return warnings_; }
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  /// Binds the .texref, .surfref or .samplerref variable of that name, as whichever of them it is. False: there is
  /// none.
  bool bind(std::string_view name, exec::BoundTexture texture);
  /// The memory of a .global or .const variable; null: no such variable.
  [[nodiscard]] const Buffer* variable(std::string_view name) const;

  /// The decoded kernel, made once for each way of running. `level`: "x86-64-v3", …; empty: the best. Errors: an
  /// instruction that cannot be run, a level that this machine has not.
  Expected<std::shared_ptr<const exec::Program>> program(const ir::Function& kernel, bool watched,
                                                         std::string_view level);
  /// What ir::estimated_registers() says of a function that lives as long as the module, such as that of a program();
  /// found once, for that takes longer than a launch.
  std::uint32_t estimated_registers(const ir::Function& function, int address_bits);

private:
  Module(std::shared_ptr<Context> context, ir::Module module, ir::Checked checked)
      : context_(std::move(context)), module_(std::move(module)), unsupported_(std::move(checked.unsupported)) {}
  Diagnostics allocate_variables();

  std::shared_ptr<Context> context_;
  ir::Module module_;
  std::vector<Source> sources_;
  std::vector<ir::Unsupported> unsupported_;
  Diagnostics warnings_;
  std::vector<std::shared_ptr<Buffer>> variables_; ///< by index into ir::Module::variables; null: needs none
  std::unordered_map<std::string_view, const Buffer*> variables_by_name_;
  exec::VariableAddresses addresses_;

  using ProgramKey = std::tuple<const ir::Function*, bool, std::string>;
  std::mutex mutex_;
  std::map<ProgramKey, std::shared_ptr<const exec::Program>> programs_;
  std::map<std::pair<const ir::Function*, int>, std::uint32_t> registers_; ///< by function and bits of an address
};

} // namespace warplens::api
