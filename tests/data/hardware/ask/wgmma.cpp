// Asks a GPU of compute capability 9.0 what wgmma answers: writes wgmma.jsonl.
//
//   g++ -std=c++20 -O2 -I. -o ask_wgmma tests/data/hardware/ask/wgmma.cpp tests/hardware/wgmma_forms.cpp
//   tests/hardware/matrix_inputs.cpp -ldl
//   ./ask_wgmma > tests/data/hardware/wgmma.jsonl
//   ./ask_wgmma --print FOLDER   writes the kernels instead, for ptxas to check; that needs no GPU
//   ./ask_wgmma --many FILE      also writes sums themselves: of forms with n <= 32, the first test of each mode
//
// A line per form: its key() in `form`, which decides what is in the matrices; `hashes`, one for each mode of the
// inputs: 64-bit FNV-1a over the words of D of all tests of the mode, by test, register and thread.
#include "tests/hardware/wgmma_forms.hpp"
#include "tests/programs/hopper/gpu.hpp"

using namespace warplens::tests;
using Words = std::vector<std::uint32_t>;

namespace {

void append(Words& to, const Words& from) { to.insert(to.end(), from.begin(), from.end()); }

Words answers(const WgmmaForm& form) {
  WgmmaInput all;
  for (int test = 0; test < form.tests; ++test) {
    const WgmmaInput one = wgmma_input(form, test);
    append(all.a, one.a);
    append(all.b, one.b);
    append(all.c, one.c);
    append(all.e, one.e);
  }
  const std::string text = wgmma_kernel(form);
  void *module = nullptr, *function = nullptr;
  gpu::must("cuModuleLoadData", &module, static_cast<const void*>(text.c_str()));
  gpu::must("cuModuleGetFunction", &function, module, "k");
  const unsigned shared = static_cast<unsigned>(form.image_a() + form.image_b());
  gpu::must("cuFuncSetAttribute", function, 8, static_cast<int>(shared));
  const std::size_t count = all.c.size();
  gpu::Pointer p[] = {gpu::Gpu::zeros(4 * count), gpu::Gpu::copied(all.a), gpu::Gpu::copied(all.b),
                      gpu::Gpu::copied(all.c), gpu::Gpu::copied(all.e)};
  std::uint64_t a = form.in_a.descriptor(), b = form.in_b.descriptor();
  void* arguments[] = {&p[0], &p[1], &p[2], &p[3], &p[4], &a, &b};
  gpu::must("cuLaunchKernel", function, static_cast<unsigned>(form.tests), 1u, 1u, 128u, 1u, 1u, shared,
            static_cast<void*>(nullptr), static_cast<void**>(arguments), static_cast<void**>(nullptr));
  gpu::must("cuCtxSynchronize");
  Words found = gpu::Gpu::back<std::uint32_t>(p[0], count);
  for (const gpu::Pointer pointer : p) gpu::Gpu::release(pointer);
  gpu::must("cuModuleUnload", module);
  return found;
}

void print(const WgmmaForm& form, const Words& found) {
  const std::size_t each = found.size() / static_cast<std::size_t>(form.tests);
  std::printf("{\"form\": \"%s\", \"hashes\": [", form.key().c_str());
  for (std::size_t mode = 0; mode < kMatrixModes; ++mode) {
    WordHash hash;
    for (std::size_t test = mode; test < static_cast<std::size_t>(form.tests); test += kMatrixModes)
      for (std::size_t i = 0; i < each; ++i) hash.take(found[test * each + i]);
    std::printf("%s\"%s\"", mode == 0 ? "" : ", ", hash.text().c_str());
  }
  std::printf("]}\n");
}

} // namespace

int main(int count, char** arguments) {
  const std::string option = count > 2 ? arguments[1] : "";
  const std::vector<WgmmaForm> forms = wgmma_forms();
  if (option == "--print") {
    for (std::size_t i = 0; i < forms.size(); ++i)
      std::ofstream(std::string(arguments[2]) + "/" + std::to_string(i) + ".ptx") << wgmma_kernel(forms[i]);
    return 0;
  }
  std::ofstream many;
  if (option == "--many") many.open(arguments[2], std::ios::binary);
  gpu::Gpu::make_context();
  for (const WgmmaForm& form : forms) {
    const Words found = answers(form);
    const std::size_t kept = found.size() / static_cast<std::size_t>(form.tests) * kMatrixModes;
    if (many.is_open() && form.n <= 32)
      many.write(reinterpret_cast<const char*>(found.data()), static_cast<std::streamsize>(4 * kept));
    print(form, found);
  }
}
