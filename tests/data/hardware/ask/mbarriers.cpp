// Asks a GPU of compute capability 9.0 how mbarriers count bytes, and what setmaxnreg accepts: writes mbarriers.txt.
//
//   g++ -std=c++20 -O1 -I. -o ask_mbarriers tests/data/hardware/ask/mbarriers.cpp -ldl
//   ./ask_mbarriers > tests/data/hardware/mbarriers.txt
//
// A line per question: the operations of one thread on one barrier, each followed, after "=", by what test_wait.parity
// said then of the even and of the odd phase, as two digits; or "error" and the CUresult of the kernel. A `copy` is a
// bulk copy, given ten microseconds. Questions of setmaxnreg: the registers at launch, then the operations of four
// warps.
#include "tests/programs/hopper/gpu.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <sstream>

namespace {

const char* const kQuestions[] = {
    "init 1; arrive; arrive; arrive",
    "init 1; arrive_expect 16; complete 16",
    "init 1; arrive_expect 0; arrive_expect 0",
    "init 1; complete 16; arrive_expect 16",
    "init 1; complete 16; arrive; expect 16",
    "init 1; complete 16; expect 16; arrive",
    "init 1; expect 16; arrive; complete 8; complete 8",
    "init 1; arrive_expect 16; complete 32; expect 16",
    "init 1; arrive_expect 16; complete 32; expect 32; complete 16",
    "init 2; expect 16; complete 16; arrive; arrive",
    "init 2; arrive; arrive_expect 16; copy 16",
    "init 1; arrive_expect 32; copy 16; copy 16",
    "init 1; copy 16; arrive_expect 16",
    "init 1; copy 16; arrive; expect 16",
    "init 1; arrive_expect 16; copy 32",
    "init 1; arrive_expect 1048575; complete 1048575",
    "init 1; expect 1048575; expect 1; arrive; complete 1048575; complete 1",
    "init 1; expect 1048575; expect 1048575; arrive; complete 1048575; complete 1048575",
    "init 1; arrive_expect 1048576; complete 1048575; complete 1",
    "init 1; arrive_expect 2097152",
    "init 1; arrive_expect 4294967280; expect 16",
    "init 1; complete 1048575; complete 1; arrive; expect 1048575; expect 1",
    "init 0; arrive",
    "init 1048575; arrive_count 1048575",
    "init 1048576; arrive",
    "init 3; arrive_count 2; arrive_count 2; arrive; arrive",
    "init 2; drop; arrive; arrive; arrive",
    "init 1; drop; arrive",
    "init 1; drop; complete 16; expect 16",
    "arrive",
    "init 1; inval; arrive",
    "init 1; init 2; arrive; arrive",
    "setmaxnreg 64; dec 24; inc 64",
    "setmaxnreg 64; dec 64",
    "setmaxnreg 64; inc 64",
    "setmaxnreg 64; dec 128",
    "setmaxnreg 64; inc 40",
    "setmaxnreg 168; dec 24; inc 240",
    "setmaxnreg 168; inc 256; dec 24",
};

std::vector<std::string> parts(const std::string& question) {
  std::vector<std::string> list;
  std::istringstream text(question);
  for (std::string part; std::getline(text >> std::ws, part, ';');) list.push_back(part);
  return list;
}

std::string statement(const std::string& operation) {
  const std::string name = operation.substr(0, operation.find(' '));
  const std::string n = name.size() == operation.size() ? "" : operation.substr(name.size() + 1);
  if (name == "init") return "mov.u32 %n, " + n + "; mbarrier.init.shared.b64 [%b], %n;\n";
  if (name == "inval") return "mbarrier.inval.shared.b64 [%b];\n";
  if (name == "arrive") return "mbarrier.arrive.shared.b64 %s, [%b];\n";
  if (name == "arrive_count") return "mov.u32 %n, " + n + "; mbarrier.arrive.shared.b64 %s, [%b], %n;\n";
  if (name == "drop") return "mbarrier.arrive_drop.shared.b64 %s, [%b];\n";
  if (name == "arrive_expect") return "mov.u32 %n, " + n + "; mbarrier.arrive.expect_tx.shared.b64 %s, [%b], %n;\n";
  if (name == "expect") return "mov.u32 %n, " + n + "; mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%b], %n;\n";
  if (name == "complete")
    return "mov.u32 %n, " + n + "; mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%b], %n;\n";
  if (name == "copy")
    return "fence.proxy.async; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%to], [%in], " + n +
           ", [%b];\nmov.u32 %n, 10000; nanosleep.u32 %n;\n";
  return "setmaxnreg." + name + ".sync.aligned.u32 " + n + ";\n";
}

std::string kernel(const std::string& question) {
  std::vector<std::string> list = parts(question);
  const bool registers = question.starts_with("setmaxnreg");
  std::string text = ".version 9.0\n.target sm_90a\n.address_size 64\n"
                     ".visible .entry k(.param .u64 out, .param .u64 in)";
  if (registers) {
    text += " .maxntid 128 .minnctapersm 1 .maxnreg " + list[0].substr(11);
    list.erase(list.begin());
  }
  text += " {\n.shared .align 128 .b8 s[128]; .shared .align 8 .b64 bar;\n.reg .b32 %b, %to, %n, %t, %r; .reg .b64 %s, "
          "%in, %out; .reg .pred %p;\n"
          "mov.u32 %b, bar; mov.u32 %to, s; ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x;\n";
  if (!registers) text += "setp.ne.u32 %p, %t, 0; @%p bra end;\n";
  for (std::size_t i = 0; i < list.size(); ++i) {
    text += statement(list[i]);
    if (registers) continue;
    text += "mov.u32 %r, 1;\nmbarrier.test_wait.parity.shared.b64 %p, [%b], 0; @%p add.u32 %r, %r, 10;\n"
            "mbarrier.test_wait.parity.shared.b64 %p, [%b], 1; @%p add.u32 %r, %r, 1;\n";
    if (list[i] == "inval") text += "mov.u32 %r, 0;\n";
    text += "st.global.u32 [%out+" + std::to_string(4 * i) + "], %r;\n";
  }
  if (registers) text += "mov.u32 %r, 99; st.global.u32 [%out], %r;\n";
  return text + "end:\nret;\n}\n";
}

std::string answer(const std::string& question) {
  gpu::Gpu::make_context();
  void *module = nullptr, *function = nullptr;
  const std::string text = kernel(question);
  if (const int error = gpu::call("cuModuleLoadData", &module, static_cast<const void*>(text.c_str())); error != 0)
    return question + ": refused " + std::to_string(error);
  gpu::must("cuModuleGetFunction", &function, module, "k");
  gpu::Pointer out = gpu::Gpu::zeros(256), in = gpu::Gpu::zeros(256);
  void* arguments[] = {&out, &in};
  int error = gpu::call("cuLaunchKernel", function, 1u, 1u, 1u, 128u, 1u, 1u, 0u, static_cast<void*>(nullptr),
                        static_cast<void**>(arguments), static_cast<void**>(nullptr));
  if (error == 0) error = gpu::call("cuCtxSynchronize");
  if (error != 0) return question + ": error " + std::to_string(error);
  const auto found = gpu::Gpu::back<std::uint32_t>(out, 64);
  if (question.starts_with("setmaxnreg")) return question + ": " + (found[0] == 99 ? "passed" : "nothing");
  std::string line;
  std::size_t i = 0;
  for (const std::string& part : parts(question)) {
    const unsigned bits = found[i++] - 1;
    line += (line.empty() ? "" : "; ") + part +
            (bits > 11 ? "" : " = " + std::to_string(bits / 10) + std::to_string(bits % 10));
  }
  return line;
}

} // namespace

int main(int count, char** arguments) {
  if (count > 2 && std::string(arguments[1]) == "--print") { // the kernels, for ptxas to check
    int i = 0;
    for (const char* question : kQuestions)
      std::ofstream(std::string(arguments[2]) + "/" + std::to_string(i++) + ".ptx") << kernel(question);
    return 0;
  }
  for (const char* question : kQuestions) { // each in a process of its own: an error ends a context
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      std::puts(answer(question).c_str());
      std::fflush(stdout);
      std::_Exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) std::printf("%s: no end in 20 seconds\n", question);
  }
}
