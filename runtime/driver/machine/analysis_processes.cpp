// SPDX-License-Identifier: Apache-2.0
#include "runtime/driver/machine/analysis_processes.hpp"

#include "api/launch/report_archive.hpp"
#include "api/session/environment.hpp"
#include "api/session/watchdog.hpp"
#include "runtime/driver/machine/serve.hpp"

#include <fmt/format.h>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <type_traits>

namespace warplens::runtime {

namespace {

constexpr int kStatusOfCopy = 3;        ///< of a copy that cannot hand over what it has
constexpr double kWorthwhile = 1e7;     ///< warp instructions: about 0.1 s
constexpr std::uint64_t kPatience = 30; ///< seconds in which a copy sleeps without using the processor
constexpr int kTurn = 1000;             ///< milliseconds
constexpr std::uint64_t kComplete = 0x5750'4c43'4f50'59a1; ///< begins the file of a complete result

/// The head of a result; the report or the reason follows.
struct Head {
  std::uint64_t complete = 0, size = 0, failed = 0;
};

/// Calls pread or pwrite until all bytes are transferred. False: an error, or the end of the file.
template <class Void>
bool transfer_all(ssize_t (*transfer)(int, Void*, std::size_t, off_t), int file, Void* data, std::size_t size,
                  std::size_t at) {
  using Byte = std::conditional_t<std::is_const_v<Void>, const char, char>;
  for (Byte* here = static_cast<Byte*>(data); size > 0;) {
    const ssize_t done = transfer(file, here, size, static_cast<off_t>(at));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    here += done;
    at += static_cast<std::size_t>(done);
    size -= static_cast<std::size_t>(done);
  }
  return true;
}
bool write_all(int file, const void* data, std::size_t size, std::size_t at) {
  return transfer_all(&pwrite, file, data, size, at);
}
bool read_all(int file, void* data, std::size_t size, std::size_t at) {
  return transfer_all(&pread, file, data, size, at);
}

void close_if_open(int& file) {
  if (file >= 0) close(file);
  file = -1;
}

/// Handlers of the program must not run in the copy, and a terminal sends its signals to the copy, too: the program
/// decides what they mean.
void reset_signals() {
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) continue;
    const bool is_ours =
        signal == SIGINT || signal == SIGQUIT || signal == SIGHUP || signal == SIGPIPE || signal == SIGXFSZ;
    if (!is_ours && action.sa_handler == SIG_DFL) continue;
    const bool ends = is_ours || !(signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL ||
                                   signal == SIGABRT || signal == SIGTRAP || signal == SIGTERM || signal == SIGIO);
    std::signal(signal, ends ? SIG_IGN : SIG_DFL);
  }
}

std::string ending_of(int status) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == kStatusOfCopy) return "there was no room for its result";
  if (WIFSIGNALED(status)) return fmt::format("signal {} has ended the process that did it", WTERMSIG(status));
  return fmt::format("the process that did it has ended with status {}", WEXITSTATUS(status));
}

/// State and ticks of processor time of a process, from /proc.
std::pair<char, std::uint64_t> state_of(pid_t process) {
  std::ifstream in(fmt::format("/proc/{}/stat", process));
  std::string text;
  std::getline(in, text);
  const std::size_t name_ends = text.rfind(')'); // the name may contain anything
  if (name_ends == text.npos) return {'?', 0};
  std::istringstream rest(text.substr(name_ends + 1));
  char state = '?';
  rest >> state;
  std::string skipped;
  for (int i = 0; i < 10; ++i) rest >> skipped;
  std::uint64_t user = 0, system = 0;
  rest >> user >> system;
  return {state, user + system};
}

} // namespace

AnalysisProcesses* analysis_processes() {
  static AnalysisProcesses* const all = []() -> AnalysisProcesses* {
    const char* const number = std::getenv(api::environment::kAnalyzeProcesses);
    const unsigned long most = number == nullptr ? 0 : std::strtoul(number, nullptr, 10);
    const char* const from = std::getenv(api::environment::kCopyFrom);
    const double steps = from == nullptr ? kWorthwhile : std::strtod(from, nullptr);
    // Used until the process ends.
    return most == 0 ? nullptr : new AnalysisProcesses(static_cast<unsigned>(most), steps);
  }();
  return all;
}

AnalysisProcesses::Running::Running(AnalysisProcesses* all) : all_(all) {
  if (all_ == nullptr) return;
  const std::lock_guard lock(all_->running_mutex_);
  ++all_->running_;
}

AnalysisProcesses::Running::~Running() {
  if (all_ == nullptr) return;
  const std::lock_guard lock(all_->running_mutex_);
  --all_->running_;
}

std::optional<AnalysisProcesses::Number> AnalysisProcesses::copy() {
  const std::lock_guard lock(mutex_);
  wait_for_some(0);
  while (children_.size() >= most_) {
    if (exec::out_of_time) return std::nullopt; // the launch stops, too
    wait_for_some(kTurn);
  }
  // No launch begins while the process is copied.
  const std::lock_guard others(running_mutex_);
  return running_ == 1 ? fork_now() : std::nullopt;
}

std::optional<AnalysisProcesses::Number> AnalysisProcesses::fork_now() {
  Child child;
  int pipe_ends[2] = {-1, -1};
  child.result = memfd_create("warplens", MFD_CLOEXEC);
  sigset_t all_signals, before;
  sigfillset(&all_signals);
  const pid_t parent = getpid();
  if (child.result >= 0 && pipe2(pipe_ends, O_CLOEXEC) == 0) {
    child.here = pipe_ends[0];
    pthread_sigmask(SIG_SETMASK, &all_signals, &before);
    child.process = fork();
    if (child.process == 0) {
      become(child, pipe_ends[1], parent);
      return 0;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (child.process > 0) child.ends = static_cast<int>(syscall(SYS_pidfd_open, child.process, 0));
  }
  if (child.ends >= 0) {
    close(pipe_ends[1]);
    const Number number = ++last_;
    children_.emplace(number, child);
    return number;
  }
  const int error = errno;
  tell(fmt::format("--analyze-processes: cannot start a process ({}): the program itself analyses launches",
                   std::strerror(error)));
  if (child.process > 0) {
    kill(child.process, SIGKILL);
    waitpid(child.process, nullptr, 0);
  }
  close_if_open(child.result);
  close_if_open(pipe_ends[0]);
  close_if_open(pipe_ends[1]);
  return std::nullopt;
}

/// In the copy.
void AnalysisProcesses::become(const Child& own, int there, pid_t parent) {
  for (auto& [number, other] : children_)
    for (int* const file : {&other.ends, &other.here, &other.result}) close_if_open(*file);
  close(own.here);
  own_result_ = own.result;
  reset_signals();
  // SIGIO ends this process when the last reader of the pipe has ended, which is the program.
  fcntl(there, F_SETOWN, getpid());
  fcntl(there, F_SETFL, O_ASYNC);
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
  if (getppid() != parent) _exit(kStatusOfCopy);
}

void AnalysisProcesses::send(const Result& result) {
  const bool failed = !result.failure.empty();
  const void* const data = failed ? static_cast<const void*>(result.failure.data()) : result.report.data();
  const std::size_t size = failed ? result.failure.size() : result.report.size();
  const Head head{kComplete, size, failed ? 1u : 0u};
  const bool sent = write_all(own_result_, data, size, sizeof head) && write_all(own_result_, &head, sizeof head, 0);
  _exit(sent ? 0 : kStatusOfCopy);
}

/// Takes the results of copies that have ended, after waiting for one of them for so long.
void AnalysisProcesses::wait_for_some(int milliseconds) {
  std::vector<pollfd> ends;
  std::vector<Number> numbers;
  for (const auto& [number, child] : children_) {
    ends.push_back({child.ends, POLLIN, 0});
    numbers.push_back(number);
  }
  if (ends.empty()) return;
  const int ready = poll(ends.data(), ends.size(), milliseconds);
  for (std::size_t i = 0; ready > 0 && i < ends.size(); ++i)
    if (ends[i].revents != 0) take(numbers[i]);
  if (ready == 0 && milliseconds == kTurn)
    for (auto& [number, child] : children_) end_if_stuck(child);
}

/// One that sleeps without end waits for a lock that a thread of the program held when it was copied.
void AnalysisProcesses::end_if_stuck(Child& child) {
  const auto [state, ticks] = state_of(child.process);
  const bool sleeps = state == 'S' && ticks == child.ticks;
  child.same_seconds = sleeps ? child.same_seconds + 1 : 0;
  child.ticks = ticks;
  if (child.same_seconds >= kPatience) kill(child.process, SIGKILL);
}

/// `failure`: why its result is not wanted any more.
void AnalysisProcesses::take(Number number, std::string failure, bool out_of_time) {
  Child child = children_.at(number);
  children_.erase(number);
  if (!failure.empty()) kill(child.process, SIGKILL);
  int status = 0;
  pid_t ended = -1;
  while ((ended = waitpid(child.process, &status, 0)) < 0 && errno == EINTR) {
  }
  Result& result = results_[number];
  result.out_of_time = out_of_time;
  Head head;
  if (!failure.empty()) {
    result.failure = std::move(failure);
  } else if (read_all(child.result, &head, sizeof head, 0) && head.complete == kComplete) {
    std::vector<std::byte> bytes(head.size);
    const bool fine = read_all(child.result, bytes.data(), bytes.size(), sizeof head);
    if (!fine)
      result.failure = "its result cannot be read";
    else if (head.failed != 0)
      result.failure.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    else
      result.report = std::move(bytes);
  } else if (child.same_seconds >= kPatience) {
    result.failure = fmt::format("the process that did it waited for {} s", kPatience);
  } else { // a program that ignores SIGCHLD, or waits for any child, takes the status
    result.failure = ended == child.process ? ending_of(status) : "the process that did it has ended";
  }
  for (int* const file : {&child.ends, &child.here, &child.result}) close_if_open(*file);
}

AnalysisProcesses::Result AnalysisProcesses::result_of(Number copy) {
  const std::lock_guard lock(mutex_);
  constexpr int kShort = 100;
  for (int waited = 0; !results_.contains(copy);) {
    if (exec::out_of_time) {
      wait_for_some(0);
      if (!results_.contains(copy)) take(copy, "the time limit was reached", true);
      break;
    }
    waited += kShort;
    wait_for_some(waited % kTurn == 0 ? kTurn : kShort);
  }
  Result result = std::move(results_.at(copy));
  results_.erase(copy);
  return result;
}

void AnalysisProcesses::drop(Number copy) {
  const std::lock_guard lock(mutex_);
  if (!results_.contains(copy)) take(copy, "nobody needs it");
  results_.erase(copy);
}

api::ProcessCopier::Here LaunchCopy::copy() {
  const std::optional<AnalysisProcesses::Number> made = all_.copy();
  if (made) here_ = *made == 0 ? Here::copy : Here::program;
  number_ = made.value_or(0);
  return here_;
}

LaunchCopy::~LaunchCopy() {
  if (number_ != 0) all_.drop(number_);
}

void LaunchCopy::send(Expected<api::LaunchReport>& report) {
  if (!report) fail(report.error().list().front().message);
  if (report->trap) fail("the kernel stopped there, but not in the program: " + report->trap->message);
  all_.send({api::pack(*report), {}});
}

} // namespace warplens::runtime
