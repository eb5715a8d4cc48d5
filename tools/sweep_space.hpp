// SPDX-License-Identifier: Apache-2.0
// The configurations of a sweep. They have numbers, in the order of the table, and are made from their number: a sweep
// of many configurations stores none of them.
//
//   SweepSpace space;
//   space.add({{"launch", "l.toml"}}, {block, device});
//   space.at(3)              ->  launch l.toml, block 64, device a100
//   space.groups()           ->  the number of blocks: the devices of a block share an emulation
#pragma once

#include "tools/sweep_axes.hpp"

#include <boost/program_options/variables_map.hpp>

namespace warplens::tools {

class SweepSpace {
public:
  /// Every combination of the values, each appended to `first`; the last axis varies fastest. `device_matters`: the
  /// devices do not share an emulation. UsageError: over 1 000 000 configurations.
  void add(api::Settings first, std::vector<Axis> axes, bool device_matters = false);

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] api::Settings at(std::size_t index) const;

  /// Groups of configurations that may share an emulation. A large group is divided, so that its parts run at the same
  /// time and a part that is lost costs little.
  [[nodiscard]] std::size_t groups() const { return groups_; }
  /// The configurations of a group, in ascending order.
  [[nodiscard]] std::vector<std::size_t> group(std::size_t number) const;

  /// A configuration for each value of each axis; the other axes have their first value. Until `visit` throws.
  void each_value(const std::function<void(const api::Settings&)>& visit) const;

private:
  /// The configurations of a launch file.
  struct Part {
    api::Settings first;
    std::vector<Axis> axes;
    std::vector<bool> shared; ///< of each axis: its values share an emulation
    std::size_t size = 1, sharing = 1;
    std::size_t pieces = 1; ///< into which a group is divided
    [[nodiscard]] std::size_t groups() const { return size / sharing * pieces; }
  };
  std::vector<Part> parts_;
  std::size_t size_ = 0, groups_ = 0;
};

/// The configurations that a command line asks for. UsageError, Diagnostics: an input or an axis is invalid.
SweepSpace sweep_space(const boost::program_options::variables_map& values, const std::vector<Axis>& axes);

} // namespace warplens::tools
