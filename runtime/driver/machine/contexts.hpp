// SPDX-License-Identifier: Apache-2.0
// The contexts of a process by their handles. Those that were destroyed stay known, because programs ask about them,
// but take no part in what concerns all contexts: a program may make and destroy thousands.
//
//   contexts.add(context);  contexts.find(handle)  ->  also a destroyed one;  contexts.all()  ->  those in use
#pragma once

#include "runtime/driver/machine/context.hpp"
#include "runtime/driver/machine/registry.hpp"

namespace warplens::runtime {

class Contexts {
public:
  CUcontext add(std::shared_ptr<Context> context) { return used_.add(std::move(context)); }
  std::shared_ptr<Context> find(CUcontext handle) const {
    std::shared_ptr<Context> found = used_.find(handle);
    return found ? found : destroyed_.find(handle);
  }
  /// Those that are not destroyed.
  [[nodiscard]] std::vector<std::shared_ptr<Context>> all() const { return used_.all(); }

  void destroyed(const Context& context) { move(context, used_, destroyed_); }
  void revived(const Context& context) { move(context, destroyed_, used_); }

private:
  using List = Registry<Context, CUcontext>;
  static void move(const Context& context, List& from, List& to) {
    if (std::shared_ptr<Context> found = from.find(List::handle(&context))) { // in one of them at any time
      to.add(found);
      from.remove(List::handle(&context));
    }
  }
  List used_, destroyed_;
};

} // namespace warplens::runtime
