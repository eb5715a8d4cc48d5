// The names of kernels as CUDA source has them. Compilers mangle them (Itanium C++ ABI, chapter 5.1).
//
//   source_name("_Z5scaleIfEvPT_i")  ->  "scale<float>"
//   source_name("scale")             ->  "scale"          extern "C"
#pragma once

#include <string>
#include <string_view>

namespace warplens::api {

/// Without parameters and return type; a name that is not mangled as it is.
std::string source_name(std::string_view name);

} // namespace warplens::api
