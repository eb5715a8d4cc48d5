// SPDX-License-Identifier: Apache-2.0
// {fmt} for the bundle: Debian has only the shared library, but the header contains the code.
#include <fmt/format-inl.h>

// The templates that callers expect to find instantiated.
template fmt::detail::dragonbox::decimal_fp<float> fmt::detail::dragonbox::to_decimal(float);
template fmt::detail::dragonbox::decimal_fp<double> fmt::detail::dragonbox::to_decimal(double);
template fmt::detail::thousands_sep_result<char> fmt::detail::thousands_sep_impl(locale_ref);
template char fmt::detail::decimal_point_impl(locale_ref);
