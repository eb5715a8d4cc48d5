// SPDX-License-Identifier: Apache-2.0
// Adds the missing lines to tests/data/hardware/times_counted.jsonl, short launches first: ninja -C build
// count-asked-launches. All launches take an hour on two cores; you can interrupt the program and continue later.
#include "tests/hardware/asked_launches.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>

int main(int count, char** values) {
  using warplens::tests::AskedLaunch;
  if (count != 2) {
    std::fputs("usage: count_asked_launches FILE\n", stderr);
    return 2;
  }
  std::vector<AskedLaunch> asked = warplens::tests::asked_launches();
  std::stable_sort(asked.begin(), asked.end(), [](const AskedLaunch& a, const AskedLaunch& b) {
    return a.machine_instructions < b.machine_instructions;
  });
  std::ofstream out(values[1], std::ios::binary | std::ios::app);
  for (const AskedLaunch& one : asked) {
    if (one.counted) continue;
    const auto statistics = warplens::tests::emulate(one);
    if (!statistics) {
      std::fprintf(stderr, "%s: %s\n", one.kernel.c_str(), statistics.error().list().front().message.c_str());
      return 1;
    }
    out << line_of(one, *statistics) << std::endl;
    std::fprintf(stderr, "%s, %s\n", one.kernel.c_str(), one.label.c_str());
  }
  return out ? 0 : 1;
}
