// SPDX-License-Identifier: Apache-2.0
// warplens: the command line. Each subcommand has its own file.
#include "api/session/environment.hpp"
#include "api/session/freed_memory.hpp"
#include "api/session/limits.hpp"
#include "tools/output.hpp"
#include "tools/ranks.hpp"

#include <boost/program_options/errors.hpp>
#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <new>
#include <system_error>

namespace {

using namespace warplens;
using namespace warplens::tools;

constexpr std::string_view kMainHelp = R"(usage: warplens COMMAND …

Emulates NVIDIA PTX kernels on the CPU and reports how a GPU would execute them.

  run LAUNCH.toml | FILE.ptx …   emulate a kernel, analyse it, predict its run time
  exec PROGRAM …                 run a CUDA program and emulate its kernels
  analyze TRACE.h5 …             analyse a trace that 'run --trace' recorded
  inspect TRACE.h5 …             show the accesses of a trace and their transactions
  convert IN OUT                 convert Accel-Sim traces to Warplens traces, or back
  check FILE.ptx …               parse and check; list kernels and unsupported instructions
  sweep LAUNCH.toml …            run one launch under many configurations: blocks, devices, sizes, …
  compare A.json B.json …        compare reports side by side: what changed, and why
  predict PROFILE …              predict run times from a report or a profiler's table
  calibrate RUNS.csv …           fit a model to measured run times
  occupancy …                    show how many blocks and warps fit on a multiprocessor
  list WHAT                      list devices, rules, analyzers, models or instructions
  explain NAME                   explain a metric, finding, rule, model, device, analyzer or instruction
  demo                           analyse a sample kernel that is built in
  doctor                         check this installation: what is there, and what to do

  --limit NAME=NUMBER COMMAND …  raise a limit for input; error messages name it (docs/limits.md)
  COMMAND --help                 show the options and examples
  --version                      show the version

Exit status: 0 success; 1 the kernel trapped or a check found something; 2 bad usage or input; 3 internal error; 4 a
condition of --fail-on or --fail-on-regression is true.

Examples:
  warplens demo
  warplens run samples/vector_add/launch.toml
  warplens run k.ptx --kernel scale --grid 4 --block 256 --arg x:f32[1024]=iota --arg f32=2
)";

struct Command {
  std::string_view name;
  int (*run)(const std::vector<std::string>&);
};
constexpr Command kCommands[] = {
    {"run", run},         {"exec", execute},        {"analyze", analyze},     {"inspect", inspect},
    {"convert", convert}, {"check", check},         {"predict", predict},     {"sweep", sweep},
    {"compare", compare}, {"calibrate", calibrate}, {"occupancy", occupancy}, {"list", list},
    {"explain", explain}, {"demo", demo},           {"doctor", doctor}};

constexpr std::string_view kFirstScreen =
    R"(Warplens emulates NVIDIA PTX kernels on the CPU and reports how a GPU would execute them.

Try:
  warplens demo                  analyse a sample kernel that is built in
  warplens run FILE.cu …         analyse a kernel of your own; requires nvcc or clang++ (warplens run --help)
  warplens exec PROGRAM …        run a CUDA program without a GPU (warplens exec --help)

All commands: warplens --help. What a name in a report means: warplens explain NAME.
)";

/// No arguments: an overview for a person, an error for a program.
int no_command() {
  if (!is_terminal(STDOUT_FILENO)) throw UsageError{"no command", "warplens --help lists the commands"};
  return write(kFirstScreen), kBadInput;
}

void take_limits(const std::string& text, std::string_view from) {
  if (const std::string wrong = set_limits(text); !wrong.empty())
    throw UsageError{fmt::format("{}: {}", from, wrong), ""};
}

/// The arguments without leading --limit options; programs that `exec` starts get these from the environment.
std::vector<std::string> without_limits(std::vector<std::string> arguments) {
  const char* const given = std::getenv(api::environment::kLimits);
  std::string all = given != nullptr ? given : "";
  take_limits(all, api::environment::kLimits);
  while (!arguments.empty() && arguments.front() == "--limit") {
    if (arguments.size() < 2) throw UsageError{"--limit: expected NAME=NUMBER", ""};
    take_limits(arguments[1], "--limit");
    all += (all.empty() ? "" : ",") + arguments[1];
    arguments.erase(arguments.begin(), arguments.begin() + 2);
  }
  if (!all.empty()) setenv(api::environment::kLimits, all.c_str(), 1);
  return arguments;
}

int dispatch(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return no_command();
  const std::string& first = arguments.front();
  if (first == "--help" || first == "-h" || first == "help") return write(kMainHelp), kFine;
  if (first == "--version") return write(fmt::format("warplens {}\n", api::version())), kFine;
  std::vector<std::string_view> names;
  for (const Command& c : kCommands) {
    if (c.name == first) return c.run({arguments.begin() + 1, arguments.end()});
    names.push_back(c.name);
  }
  const std::string near = closest(first, names);
  throw UsageError{fmt::format("no such command: '{}'", first),
                   near.empty() ? fmt::format("commands: {}", fmt::join(names, ", "))
                                : fmt::format("did you mean '{}'?", near)};
}

void complain(const std::string& message, std::string hint) {
  Diagnostics errors;
  errors.error({}, "warplens: " + message, std::move(hint));
  print(errors);
}

/// Opens what the caller has closed of standard input, output and error, so that no file of ours takes the place of one
/// and receives its text. Reading then ends at once, and writing fails as before.
void occupy_standard_files() {
  while (true) {
    const int file = open("/dev/null", O_RDONLY);
    if (file > STDERR_FILENO || file < 0) {
      if (file >= 0) close(file);
      return;
    }
  }
}

/// Whether the system could not create a thread.
bool is_refused_thread(const std::exception& e) {
  const auto* const error = dynamic_cast<const std::system_error*>(&e);
  return error != nullptr && error->code() == std::errc::resource_unavailable_try_again;
}

int run_command(int count, char** values) {
  try {
    return dispatch(without_limits({values + std::min(count, 1), values + count}));
  } catch (const UsageError& e) {
    complain(e.message, e.hint);
    return kBadInput;
  } catch (const Diagnostics& errors) {
    print(errors);
    return kBadInput;
  } catch (const boost::program_options::error& e) {
    complain(e.what(), "--help shows the options");
    return kBadInput;
  } catch (const std::bad_alloc&) { // input is checked against limits, but a small machine may have less
    complain("out of memory", "");
    return kBadInput;
  } catch (const std::exception& e) {
    if (is_refused_thread(e)) {
      complain(e.what(), "is the number of threads or the memory limited (ulimit -u, -v)?");
      return kBadInput;
    }
    complain(fmt::format("internal error: {}", e.what()), "please report it");
    return kInternal;
  }
}

} // namespace

int main(int count, char** values) {
  occupy_standard_files();
  api::keep_freed_memory();
  std::signal(SIGXFSZ, SIG_IGN); // file size limit (ulimit -f): the write reports the error
  return leave_ranks(run_command(count, values));
}
