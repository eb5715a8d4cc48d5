// SPDX-License-Identifier: Apache-2.0
// warplens._core: the façade for Python. The package in python/warplens/ makes it pleasant to use.
#include "analyzers/metrics.hpp"
#include "api/launch/inspect.hpp"
#include "api/session/kernel_name.hpp"
#include "python/core/callbacks.hpp"
#include "python/core/catalogue.hpp"
#include "python/core/interrupts.hpp"
#include "python/core/launch.hpp"
#include "python/core/texture.hpp"
#include "python/core/traces.hpp"
#include "tools/module_file.hpp"

#include <pybind11/stl.h>

namespace warplens::python {

namespace py = pybind11;

namespace {

/// The PTX of each module in a file, and notes for the user.
py::tuple read_code(const std::string& file, py::handle device) {
  const model::Device d =
      device.is_none() ? value_or_throw(api::device_or_default({}), "InputError") : device_of(device);
  const tools::CodeOfFile code = [&] {
    const Unlocked unlocked; // a compiler may run
    return value_or_throw(tools::read_code(file, d.capability), "InputError");
  }();
  py::list modules;
  for (const std::vector<api::Source>& sources : code.modules) {
    py::list parts;
    for (const api::Source& s : sources) parts.append(py::make_tuple(py::bytes(s.text), s.file));
    modules.append(parts);
  }
  return py::make_tuple(modules, code.notes);
}

LoadedModule load(const std::vector<std::pair<py::bytes, std::string>>& sources) {
  std::vector<api::Source> list;
  for (const auto& [text, file] : sources) list.push_back({text, file});
  const Unlocked unlocked;
  return LoadedModule::load(list);
}

/// What keeps kernels from a launch, as messages.
py::list summary(const LoadedModule& module) {
  py::list list;
  for (const api::KernelSummary& k : api::summarise(module.open())) {
    py::dict one;
    one["name"] = std::string(k.function->name);
    one["registers"] = k.resources.registers;
    one["static_shared_bytes"] = k.resources.static_shared_bytes;
    one["local_bytes"] = k.resources.local_bytes;
    one["blocked_by"] = rendered(k.blocked_by, module.open().sources());
    list.append(one);
  }
  return list;
}

void add_modules(py::module_& module) {
  py::class_<LoadedModule>(module, "Module", "A module: PTX with its variables in device memory.")
      .def_static("load", &load, py::arg("sources"))
      .def("kernel", &LoadedModule::kernel, py::arg("name"))
      .def("kernel_names", &LoadedModule::kernel_names)
      .def("summary", &summary)
      .def("warnings", [](const LoadedModule& m) { return rendered(m.open().warnings(), m.open().sources()); })
      .def(
          "bind",
          [](LoadedModule& m, const std::string& name, const TextureObject& texture) {
            if (!m.open().bind(name, texture.open().description()))
              throw Failure("InputError", "no texture, surface or sampler variable '" + name + "'");
          },
          py::arg("name"), py::arg("texture"))
      .def_property_readonly("closed", [](const LoadedModule& m) { return !m.is_open(); })
      .def("close", &LoadedModule::close);
  py::class_<LoadedKernel, std::shared_ptr<LoadedKernel>>(module, "Kernel", "A kernel of a module.")
      .def_property_readonly("name", [](const LoadedKernel& k) { return k.name(); })
      .def_property_readonly("source_name", [](const LoadedKernel& k) { return api::source_name(k.name()); })
      .def_property_readonly(
          "parameters",
          [](const LoadedKernel& k) {
            py::list list;
            for (const Parameter& p : k.parameters())
              list.append(py::make_tuple(p.name, std::string(isa::name(p.type)), p.size, p.is_struct, p.source_type));
            return list;
          })
      .def("launch", &launch, py::arg("grid"), py::arg("block"), py::arg("arguments"), py::arg("options"));
}

/// Memory that Python sees as a buffer: of a DeviceMemory, or of a variable of a module.
struct View {
  std::shared_ptr<void> owner; ///< keeps the memory: a buffer or a module
  std::uint64_t address = 0, size = 0;
};

void add_memory(py::module_& module) {
  py::class_<View>(module, "View", py::buffer_protocol(), "Device memory as bytes.").def_buffer([](View& v) {
    return py::buffer_info(reinterpret_cast<std::byte*>(v.address), 1, "B", 1, {static_cast<py::ssize_t>(v.size)}, {1});
  });
  py::class_<DeviceMemory>(module, "DeviceMemory", "A block of device memory.")
      .def(py::init<std::uint64_t, std::string, std::string, std::uint64_t>(), py::arg("bytes"), py::arg("name"),
           py::arg("format"), py::arg("item_bytes"))
      .def_property_readonly("address", [](const DeviceMemory& m) { return m.open().address(); })
      .def_property_readonly("bytes", [](const DeviceMemory& m) { return m.open().bytes().size(); })
      .def_property_readonly("name", [](const DeviceMemory& m) { return m.open().name(); })
      .def_property_readonly("closed", [](const DeviceMemory& m) { return !m.is_open(); })
      .def("view",
           [](const DeviceMemory& m) {
             return py::memoryview(py::cast(View{m.share(), m.open().address(), m.open().bytes().size()}));
           })
      .def("close", &DeviceMemory::close);
  module.def(
      "variable_view",
      [](const LoadedModule& owner, const std::string& name) {
        const api::Buffer* const found = owner.open().variable(name);
        if (found == nullptr) throw Failure("InputError", "no variable '" + name + "'");
        return py::memoryview(py::cast(View{owner.open().shared_from_this(), found->address(), found->bytes().size()}));
      },
      py::arg("module"), py::arg("name"));
}

} // namespace

void add_all(py::module_& module) {
  translate_failures();
  Interrupts::prepare();
  add_catalogue(module); // types before the functions that use them
  add_textures(module);
  add_modules(module);
  add_memory(module);
  add_columns(module);
  add_reports(module);
  add_plans(module);
  add_traces(module);
  module.def("space_names", [] {
    std::map<std::string, int> names;
    for (const isa::Space space : {isa::Space::constant, isa::Space::global, isa::Space::local, isa::Space::param,
                                   isa::Space::shared, isa::Space::texture})
      names[std::string(isa::name(space))] = static_cast<int>(space);
    return names;
  });
  module.def(
      "source_name", [](const std::string& name) { return api::source_name(name); }, py::arg("name"));
  module.def(
      "suggest_metric", [](const std::string& name) { return analyzers::did_you_mean_metric(name); }, py::arg("name"));
  module.def("stop_launches", &Interrupts::stop);
  module.def("resume_launches", &Interrupts::resume);
  module.def("read_code", &read_code, py::arg("file"), py::arg("device"));
}

} // namespace warplens::python

PYBIND11_MODULE(_core, module) { warplens::python::add_all(module); }
