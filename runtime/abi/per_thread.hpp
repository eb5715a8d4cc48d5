// SPDX-License-Identifier: Apache-2.0
// Per-thread objects that the destructors of static objects can still use.
//
//   std::vector<Configuration>& pushed() { return PerThread<std::vector<Configuration>>::get(); }
//
// Programs free device memory in such destructors. By then, exit() has already destroyed thread_local objects. Values
// of pthread keys are destroyed when their thread ends, but not when the process exits.
#pragma once

#include <pthread.h>

namespace warplens::runtime {

template <class T> class PerThread {
public:
  static T& get() {
    if (object_ == nullptr) {
      static const pthread_key_t key = make_key();
      object_ = new T;
      pthread_setspecific(key, object_);
    }
    return *object_;
  }

private:
  static pthread_key_t make_key() {
    pthread_key_t key{};
    pthread_key_create(&key, [](void* object) {
      object_ = nullptr;
      delete static_cast<T*>(object);
    });
    return key;
  }

  static inline thread_local T* object_ = nullptr; ///< a pointer has no destructor
};

} // namespace warplens::runtime
