// SPDX-License-Identifier: Apache-2.0
// The arguments of a launch: Python objects are checked against the parameters of the kernel, and arrays are copied to
// device memory and back.
//
//   BoundArguments bound(kernel, arguments);          // with the interpreter's lock
//   bound.copy_in();                                  // without it
//   request.arguments = bound.take_arguments();  launch(request);
//   bound.copy_out();
//   bound.check_read_only();
//
// Arrays that already lie in device memory, such as those of a DeviceArray, are not copied.
#pragma once

#include "api/launch/launch.hpp"
#include "python/core/session.hpp"

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <vector>

namespace warplens::python {

class BoundArguments {
public:
  /// Throws ArgumentError, which names the argument and the parameter, or ClosedError.
  BoundArguments(const LoadedKernel& kernel, const pybind11::tuple& arguments);
  BoundArguments(const BoundArguments&) = delete;
  BoundArguments& operator=(const BoundArguments&) = delete;
  ~BoundArguments(); ///< needs the interpreter's lock

  void copy_in();
  void copy_out();
  /// Throws ArgumentError if the kernel has written to the copy of a read-only array. After copy_out().
  void check_read_only() const;
  /// Once.
  std::vector<api::Argument> take_arguments() { return std::move(arguments_); }

private:
  /// An array of the host, and its copy.
  struct Staged {
    Py_buffer view{};
    std::size_t argument = 0;
    bool is_const = false; ///< the kernel promises not to write
    std::shared_ptr<api::Buffer> copy;
  };
  void bind(std::size_t index, const Parameter& parameter, pybind11::handle value);
  bool bind_memory(std::size_t index, const Parameter& parameter, pybind11::handle value);
  bool bind_number(std::size_t index, const Parameter& parameter, pybind11::handle value);
  void bind_value(std::size_t index, const Parameter& parameter, const Py_buffer& view);
  void bind_array(std::size_t index, const Parameter& parameter, std::unique_ptr<Staged> staged);
  void bind_address(std::uint64_t address, const std::string& name);
  void check_address(std::size_t index, const Parameter& parameter, const Py_buffer& view,
                     const std::string& found) const;
  void check_pointer(std::size_t index, const Parameter& parameter, std::string_view format, std::uint64_t item) const;
  void release();

  std::vector<api::Argument> arguments_;
  std::vector<std::unique_ptr<Staged>> staged_;
  std::vector<std::shared_ptr<void>> kept_; ///< memory and textures of the arguments
  std::vector<pybind11::object> objects_;   ///< that own memory of the arguments
};

} // namespace warplens::python
