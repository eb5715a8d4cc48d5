// SPDX-License-Identifier: Apache-2.0
// Names and texts of errors, versions: functions that work without cuInit().
#include "runtime/driver/machine/serve.hpp"

namespace {

struct Result {
  CUresult code;
  const char* name;
  const char* text;
};

constexpr Result kResults[] = {
#define X(name, value, text) {name, #name, text},
#include "runtime/abi/driver_errors.def"
#undef X
};

const Result* find(CUresult code) {
  for (const Result& r : kResults)
    if (r.code == code) return &r;
  return nullptr;
}

} // namespace

using namespace warplens::runtime;

extern "C" {

CUresult cuGetErrorName(CUresult error, const char** name) {
  return serve([&] {
    require(name != nullptr);
    const Result* const found = find(error);
    *name = found != nullptr ? found->name : nullptr;
    require(found != nullptr);
  });
}

CUresult cuGetErrorString(CUresult error, const char** text) {
  return serve([&] {
    require(text != nullptr);
    const Result* const found = find(error);
    *text = found != nullptr ? found->text : nullptr;
    require(found != nullptr);
  });
}

CUresult cuInit(unsigned int flags) {
  return serve([&] {
    require(flags == 0);
    return Machine::instance().initialise();
  });
}

CUresult cuDriverGetVersion(int* version) {
  return serve([&] {
    require(version != nullptr);
    *version = 13000;
  });
}

CUresult cuProfilerStart() {
  return serve([](Context&) {});
}

CUresult cuProfilerStop() {
  return serve([](Context&) {});
}

} // extern "C"
