// SPDX-License-Identifier: Apache-2.0
#include "python/core/arguments.hpp"

#include "python/core/array_interface.hpp"
#include "python/core/element.hpp"
#include "python/core/texture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace warplens::python {

namespace py = pybind11;

namespace {

constexpr std::uint64_t kPointerBytes = 8;

[[noreturn]] void refuse(std::size_t index, const Parameter& parameter, const std::string& expected,
                         const std::string& found, std::string hint = {}) {
  throw Failure("ArgumentError",
                fmt::format("argument {}, {}: expected {}, found {}", index, parameter.text(), expected, found),
                std::move(hint));
}

std::string type_name(py::handle value) { return Py_TYPE(value.ptr())->tp_name; }

/// Whether the parameter can be a pointer.
bool may_be_pointer(const Parameter& p) {
  if (!p.source_type.empty() && p.pointee.empty() && !p.source_type.ends_with('&') && element_of_source(p.source_type))
    return false; // the kernel's name says that it is a number
  return !p.is_struct && isa::bytes(p.type) >= 4 && !isa::is_float(p.type);
}

/// A view of an array whose elements Python's buffers cannot describe, such as numpy.datetime64: its bytes.
py::object as_bytes(py::handle value) {
  if (!py::hasattr(value, "dtype") || !py::hasattr(value, "view")) return {};
  try {
    return value.attr("view")("V" + std::string(py::str(value.attr("dtype").attr("itemsize"))));
  } catch (py::error_already_set&) {
    return {};
  }
}

/// "an array or a number".
std::string expected_text(const Parameter& p) {
  if (p.is_struct) return fmt::format("a structure of {} bytes", p.size);
  return may_be_pointer(p) ? "an array or a number" : "a number";
}

std::string hint_for(py::handle value, const Parameter& p) {
  if (p.is_struct) return "pass a structured scalar of numpy, bytes, or a ctypes.Structure";
  if (!may_be_pointer(p)) return "";
  const std::optional<Element> element = element_of_source(p.pointee);
  const std::string dtype = element ? ", numpy." + element->text : "";
  if (py::isinstance<py::list>(value) || py::isinstance<py::tuple>(value)) return "numpy.array(x" + dtype + ")";
  return py::hasattr(value, "__array__") ? "numpy.asarray(x)" : "";
}

/// Whether a value is a pointer of ctypes, which is to memory of the host.
bool is_ctypes_pointer(const Py_buffer& view) {
  const std::string_view format = view.format != nullptr ? view.format : "B";
  return format == "P" || format == "z" || format == "Z" || format.starts_with('&');
}

/// Whether an object without dimensions is memory for a pointer, as an array of numpy and a field of one are, and not a
/// number, as scalars of numpy and ctypes are. Those have no elements to assign to.
bool is_memory(py::handle value, const Py_buffer& view, const Parameter& p) {
  if (!may_be_pointer(p)) return false;
  if (PyBytes_Check(value.ptr())) return !p.pointee.empty();
  if (view.ndim != 0 || is_ctypes_pointer(view) || !py::hasattr(value, "__setitem__")) return false;
  return !p.pointee.empty() || static_cast<std::uint64_t>(view.len) != p.size;
}

/// Of a number; PTX has types of bits alone, which may be anything.
Element::Kind kind_of(isa::Type type, const Element& given) {
  if (isa::is_float(type)) return Element::Kind::real;
  if (isa::name(type).starts_with('b') || given.kind == Element::Kind::boolean) return given.kind;
  return Element::Kind::integer;
}

std::string numpy_name(isa::Type type) {
  const char* const kind = isa::is_float(type) ? "float" : "int";
  return fmt::format("numpy.{}{}", kind, isa::bits(type));
}

template <class Value> std::vector<std::byte> bytes_of(Value value, std::uint64_t size) {
  std::vector<std::byte> bytes(size);
  std::memcpy(bytes.data(), &value, std::min<std::uint64_t>(size, sizeof value));
  return bytes;
}

bool inside(const exec::AddressRange& range, std::uint64_t address) {
  return address >= range.begin && address < range.end;
}

/// Whether the address is one of device memory.
bool is_device_address(std::uint64_t address) {
  const std::array<exec::AddressRange, 2> ranges = context()->arena().ranges();
  return inside(ranges[0], address) || inside(ranges[1], address);
}

} // namespace

BoundArguments::BoundArguments(const LoadedKernel& kernel, const py::tuple& arguments) {
  const std::vector<Parameter>& parameters = kernel.parameters();
  if (arguments.size() != parameters.size()) {
    std::string list;
    for (const Parameter& p : parameters)
      list += (list.empty() ? "" : ", ") +
              (p.source_type.empty() ? fmt::format("{} ({} bytes)", p.name, p.size) : p.source_type);
    throw Failure("ArgumentError",
                  fmt::format("kernel {} has {} parameter{}, found {} argument{}", kernel.name(), parameters.size(),
                              parameters.size() == 1 ? "" : "s", arguments.size(), arguments.size() == 1 ? "" : "s"),
                  list.empty() ? "" : "the parameters are: " + list);
  }
  arguments_.reserve(parameters.size());
  try {
    for (std::size_t i = 0; i < parameters.size(); ++i) bind(i, parameters[i], arguments[i]);
  } catch (...) {
    release();
    throw;
  }
}

BoundArguments::~BoundArguments() { release(); }

void BoundArguments::release() {
  for (const auto& one : staged_) PyBuffer_Release(&one->view);
  staged_.clear();
}

void BoundArguments::bind(std::size_t index, const Parameter& parameter, py::handle value) {
  if (bind_memory(index, parameter, value) || bind_number(index, parameter, value)) return;
  auto staged = std::make_unique<Staged>(); // a view may contain pointers into itself
  staged->argument = index;
  if (PyObject_GetBuffer(value.ptr(), &staged->view, PyBUF_FORMAT | PyBUF_STRIDES) != 0) {
    PyErr_Clear();
    const py::object bytes = as_bytes(value);
    if (!bytes || PyObject_GetBuffer(bytes.ptr(), &staged->view, PyBUF_FORMAT | PyBUF_STRIDES) != 0) {
      PyErr_Clear();
      refuse(index, parameter, expected_text(parameter), "an object of type " + type_name(value),
             hint_for(value, parameter));
    }
  }
  if (staged->view.format != nullptr && holds_objects(staged->view.format)) {
    PyBuffer_Release(&staged->view);
    refuse(index, parameter, "an array of numbers", "an array of objects of Python");
  }
  const bool by_value = (staged->view.ndim == 0 || PyBytes_Check(value.ptr()) || parameter.is_struct) &&
                        !is_memory(value, staged->view, parameter);
  if (!by_value) return bind_array(index, parameter, std::move(staged)); // which owns the view now
  try {
    bind_value(index, parameter, staged->view);
  } catch (...) {
    PyBuffer_Release(&staged->view);
    throw;
  }
  PyBuffer_Release(&staged->view);
}

/// Device memory, textures, and objects of other libraries that say where their device memory is.
bool BoundArguments::bind_memory(std::size_t index, const Parameter& parameter, py::handle value) {
  if (py::isinstance<DeviceMemory>(value)) {
    const auto& memory = value.cast<const DeviceMemory&>();
    check_pointer(index, parameter, memory.format(), memory.item_bytes());
    kept_.push_back(memory.share());
    bind_address(memory.open().address(), memory.open().name());
    return true;
  }
  if (py::isinstance<TextureObject>(value)) {
    const auto& texture = value.cast<const TextureObject&>();
    if (parameter.size != kPointerBytes) refuse(index, parameter, "a number", "a texture");
    arguments_.push_back(api::Argument::texture(texture.open()));
    kept_.push_back(texture.share());
    return true;
  }
  if (PyObject_CheckBuffer(value.ptr()) != 0 || PyLong_Check(value.ptr()) || PyFloat_Check(value.ptr()) ||
      !py::hasattr(value, "__cuda_array_interface__"))
    return false;
  const ArrayInterface array = array_interface(value);
  if (!array.wrong.empty())
    refuse(index, parameter, "a valid __cuda_array_interface__",
           array.wrong + " of an object of type " + type_name(value));
  if (array.bytes != 0 && !is_device_address(array.address))
    refuse(index, parameter, "device memory of Warplens",
           fmt::format("an object of type {} with memory at 0x{:x}", type_name(value), array.address),
           "copy it to an array of numpy, or to a warplens.DeviceArray");
  if (array.is_strided) refuse(index, parameter, "a contiguous array", "one with strides");
  if (array.is_masked) refuse(index, parameter, "an array", "one with a mask");
  check_pointer(index, parameter, array.format, array.item_bytes);
  objects_.push_back(py::reinterpret_borrow<py::object>(value));
  bind_address(array.address, "");
  return true;
}

/// Numbers of Python become the type of the parameter; None is a null pointer.
bool BoundArguments::bind_number(std::size_t index, const Parameter& parameter, py::handle value) {
  const bool is_int = PyLong_Check(value.ptr()) != 0, is_float = PyFloat_CheckExact(value.ptr()) != 0;
  if (value.is_none()) {
    if (!may_be_pointer(parameter)) refuse(index, parameter, "a number", "None");
    bind_address(0, "");
    return true;
  }
  if (!is_int && !is_float) return false;
  if (parameter.is_struct)
    refuse(index, parameter, fmt::format("a structure of {} bytes", parameter.size), "a number of Python",
           "pass a scalar of numpy of that size, bytes, or a ctypes.Structure");
  if (is_float || isa::is_float(parameter.type)) {
    if (!isa::is_float(parameter.type)) refuse(index, parameter, "an integer", "a float of Python");
    const double number = PyFloat_AsDouble(value.ptr());
    if (number == -1.0 && PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      refuse(index, parameter, "a number", "an integer that no float can hold");
    }
    const Expected<api::Argument> made = api::Argument::scalar(parameter.type, api::Number{number});
    if (!made) throw Failure("ArgumentError", made.error());
    arguments_.push_back(*made);
    return true;
  }
  const int bits = static_cast<int>(8 * parameter.size);
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  unsigned long long pattern = static_cast<unsigned long long>(number);
  bool is_wide = overflow != 0;
  if (overflow > 0) {
    pattern = PyLong_AsUnsignedLongLong(value.ptr());
    is_wide = PyErr_Occurred() != nullptr;
    PyErr_Clear();
  }
  if (bits < 64) is_wide = is_wide || number < -(1ll << (bits - 1)) || number >= (1ll << bits);
  if (is_wide) refuse(index, parameter, fmt::format("an integer of {} bits", bits), std::string(py::str(value)));
  arguments_.push_back({api::Argument::Kind::raw, isa::Type::none, bytes_of(pattern, parameter.size), {}});
  return true;
}

/// A scalar of numpy, bytes, or a structure.
void BoundArguments::bind_value(std::size_t index, const Parameter& parameter, const Py_buffer& view) {
  const auto size = static_cast<std::uint64_t>(view.len);
  const std::optional<Element> given =
      parse_element(view.format != nullptr ? view.format : "B", static_cast<std::uint64_t>(view.itemsize));
  if (!given) refuse(index, parameter, "a little-endian value", "a big-endian one");
  if (PyBuffer_IsContiguous(&view, 'C') == 0) refuse(index, parameter, "contiguous bytes", "bytes with strides");
  const std::string found = view.ndim == 0 ? given->text : fmt::format("{} bytes", size);
  if (!parameter.pointee.empty()) check_address(index, parameter, view, found);
  const bool is_raw = parameter.is_struct || given->kind == Element::Kind::other || view.ndim != 0;
  if (!is_raw) {
    std::optional<Element> wanted = element_of_source(parameter.source_type);
    if (!wanted || wanted->bytes != parameter.size)
      wanted = Element{kind_of(parameter.type, *given), parameter.size, ""};
    if (!fits(*wanted, *given) || size != parameter.size)
      refuse(index, parameter, wanted->text.empty() ? numpy_name(parameter.type) : wanted->text, found,
             "pass a number of Python, or " + numpy_name(parameter.type) + "(x)");
  } else if (size != parameter.size) {
    refuse(index, parameter,
           fmt::format("{} of {} bytes", parameter.is_struct ? "a structure" : "a number", parameter.size), found,
           parameter.is_struct ? "numpy.dtype(…, align=True) has the layout of C" : "");
  }
  arguments_.push_back(api::Argument::raw({static_cast<const std::byte*>(view.buf), size}));
}

/// Of a pointer that is given as a number.
void BoundArguments::check_address(std::size_t index, const Parameter& parameter, const Py_buffer& view,
                                   const std::string& found) const {
  const std::string_view format = view.format != nullptr ? view.format : "B";
  if (static_cast<std::uint64_t>(view.len) != kPointerBytes || (view.itemsize > 1 && format.ends_with('d')))
    refuse(index, parameter, "an array or an address", found);
  std::uint64_t address = 0;
  std::memcpy(&address, view.buf, sizeof address);
  if (is_ctypes_pointer(view) && address != 0 && !is_device_address(address))
    refuse(index, parameter, "device memory", fmt::format("a pointer of ctypes to 0x{:x}", address),
           "pass the array itself: Warplens copies it to device memory and back");
}

void BoundArguments::check_pointer(std::size_t index, const Parameter& parameter, std::string_view format,
                                   std::uint64_t item) const {
  if (!may_be_pointer(parameter))
    refuse(index, parameter, expected_text(parameter), "an array",
           parameter.is_struct ? "" : "of an array with one element: x.item()");
  const std::optional<Element> given = parse_element(format, item);
  if (!given)
    refuse(index, parameter, "little-endian elements", "big-endian ones", "x.astype(x.dtype.newbyteorder(\"<\"))");
  const std::optional<Element> wanted = element_of_source(parameter.pointee);
  if (wanted && !fits(*wanted, *given))
    refuse(index, parameter, "an array of " + wanted->text, "one of " + given->text,
           fmt::format("x.astype(numpy.{})", wanted->text));
}

void BoundArguments::bind_array(std::size_t index, const Parameter& parameter, std::unique_ptr<Staged> staged) {
  staged->is_const = parameter.is_const;
  staged_.push_back(std::move(staged)); // released from now on
  Staged& mine = *staged_.back();
  const Py_buffer& view = mine.view;
  check_pointer(index, parameter, view.format != nullptr ? view.format : "B",
                static_cast<std::uint64_t>(view.itemsize));
  if (PyBuffer_IsContiguous(&view, 'C') == 0)
    refuse(index, parameter, "a contiguous array", "one with strides", "numpy.ascontiguousarray(x)");
  const auto begin = reinterpret_cast<std::uint64_t>(view.buf);
  const auto size = static_cast<std::uint64_t>(view.len);
  if (is_device_address(begin)) return bind_address(begin, "");
  for (const auto& other : staged_) { // the same array twice is one array for the kernel, too
    if (other.get() == &mine || !other->copy) continue;
    const auto other_begin = reinterpret_cast<std::uint64_t>(other->view.buf);
    const auto other_end = other_begin + static_cast<std::uint64_t>(other->view.len);
    if (begin == other_begin && begin + size == other_end) {
      other->is_const &= mine.is_const;
      other->view.readonly &= view.readonly;
      const std::shared_ptr<api::Buffer> shared = other->copy;
      PyBuffer_Release(&mine.view);
      staged_.pop_back();
      return bind_address(shared->address(), shared->name());
    }
    if (begin < other_end && other_begin < begin + size && !(mine.is_const && other->is_const))
      throw Failure(
          "ArgumentError",
          fmt::format("arguments {} and {} overlap in memory, but are not the same array", other->argument, index),
          "keep them in one warplens.DeviceArray, and pass parts of its numpy()");
  }
  mine.copy = value_or_throw(api::Buffer::allocate(context(), size, fmt::format("argument {}", index)), "Error");
  bind_address(mine.copy->address(), mine.copy->name());
}

void BoundArguments::bind_address(std::uint64_t address, const std::string& name) {
  arguments_.push_back({api::Argument::Kind::buffer, isa::Type::b64, bytes_of(address, sizeof address), name});
}

void BoundArguments::copy_in() {
  for (const auto& one : staged_)
    if (one->copy) std::memcpy(one->copy->bytes().data(), one->view.buf, static_cast<std::size_t>(one->view.len));
}

void BoundArguments::copy_out() {
  for (const auto& one : staged_)
    if (one->copy && !one->is_const && one->view.readonly == 0)
      std::memcpy(one->view.buf, one->copy->bytes().data(), static_cast<std::size_t>(one->view.len));
}

void BoundArguments::check_read_only() const {
  for (const auto& one : staged_)
    if (one->copy && !one->is_const && one->view.readonly != 0 &&
        std::memcmp(one->view.buf, one->copy->bytes().data(), static_cast<std::size_t>(one->view.len)) != 0)
      throw Failure("ArgumentError",
                    fmt::format("argument {}: the kernel has written to this array, which is read-only", one->argument),
                    "pass a writable array: x.copy()");
}

} // namespace warplens::python
