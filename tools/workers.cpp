// SPDX-License-Identifier: Apache-2.0
#include "tools/workers.hpp"

#include "tools/output.hpp"

#include <fmt/format.h>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <optional>
#include <thread>

namespace warplens::tools {

namespace {

/// False: the other end is closed, without SIGPIPE, which is for the program's output.
bool send(int to, const void* bytes, std::size_t size) {
  const auto* at = static_cast<const char*>(bytes);
  while (size != 0) {
    const ssize_t written = ::send(to, at, size, MSG_NOSIGNAL);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    at += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

bool receive(int from, void* bytes, std::size_t size) {
  auto* at = static_cast<char*>(bytes);
  while (size != 0) {
    const ssize_t got = ::read(from, at, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

/// The length, then the text.
std::string framed(const std::string& text) {
  const std::uint64_t size = text.size();
  std::string all(sizeof size, '\0');
  std::memcpy(all.data(), &size, sizeof size);
  return all += text;
}

/// Removes a complete text from the front.
std::optional<std::string> take_framed(std::string& all) {
  std::uint64_t size = 0;
  if (all.size() < sizeof size) return std::nullopt;
  std::memcpy(&size, all.data(), sizeof size);
  if (all.size() - sizeof size < size) return std::nullopt;
  std::string text = all.substr(sizeof size, size);
  all.erase(0, sizeof size + size);
  return text;
}

} // namespace

Workers::Workers(unsigned count, Job job) : job_(std::move(job)), workers_(count) {
  for (Worker& worker : workers_) start(worker);
}

Workers::~Workers() {
  int ignored = 0;
  for (Worker& worker : workers_) {
    if (!worker.given.empty()) kill(worker.process, SIGKILL); // its result is no longer needed
    stop(worker, ignored);
  }
}

void Workers::start(Worker& worker) {
  int jobs[2], results[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, jobs) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, results) != 0)
    throw UsageError{"cannot start a process: too many open files", ""};
  const pid_t process = fork();
  if (process < 0) throw UsageError{"cannot start a process", "use --jobs to start fewer processes"};
  if (process == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL); // the workers end with the sweep
    // Also closes the pipes to the others: they would not notice otherwise that the sweep has ended.
    for (const Worker& other : workers_)
      if (other.process > 0) close(other.jobs), close(other.results);
    close(jobs[1]);
    close(results[0]);
    work(jobs[0], results[1]);
  }
  close(jobs[0]);
  close(results[1]);
  worker = {process, jobs[1], results[0], {}};
}

void Workers::stop(Worker& worker, int& status) {
  if (worker.process <= 0) return;
  close(worker.jobs);
  close(worker.results);
  while (waitpid(worker.process, &status, 0) < 0 && errno == EINTR) {
  }
  worker = {};
}

void Workers::work(int jobs, int results) const {
  Task job;
  while (receive(jobs, &job, sizeof job)) {
    const std::string result = framed(job_(job));
    if (!send(results, result.data(), result.size())) break;
  }
  _exit(0); // without the exit handlers, which belong to the parent
}

void Workers::hand_out(Worker& worker, const Given& given) {
  if (worker.given.empty()) worker.begin = std::chrono::steady_clock::now();
  worker.given.push_back(given);
  static_cast<void>(send(worker.jobs, &given.task, sizeof given.task)); // if this fails, so does the result
}

void Workers::give_next(Worker& worker, const Next& next) {
  while (worker.given.size() < worker.most) {
    const std::optional<Task> task = next();
    if (!task) return;
    hand_out(worker, {*task, false});
  }
}

/// Starts another process in place of one that died. Returns why it died.
std::string Workers::replace(Worker& worker) {
  int status = 0;
  stop(worker, status);
  start(worker);
  if (!WIFSIGNALED(status)) return fmt::format("its process ended with status {}", WEXITSTATUS(status));
  return fmt::format("its process was killed by signal {}{}", WTERMSIG(status),
                     WTERMSIG(status) == SIGKILL ? ": out of memory?" : "");
}

/// Where jobs are short, some wait in the pipe, so that the worker does not wait for this process. Of long jobs, each
/// goes to the worker that is free first.
void Workers::collect(Worker& worker, const Died& died, std::vector<Result>& results) {
  constexpr std::size_t kPart = 1 << 16, kMost = 8;
  constexpr auto kQueued = std::chrono::milliseconds(20);
  const std::size_t kept = worker.received.size(), before = results.size();
  worker.received.resize(kept + kPart);
  ssize_t got = 0;
  do got = ::read(worker.results, worker.received.data() + kept, kPart);
  while (got < 0 && errno == EINTR);
  worker.received.resize(kept + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  if (got <= 0) return lose(worker, died, results);
  while (std::optional<std::string> text = take_framed(worker.received)) {
    results.push_back({worker.given.front().task, std::move(*text)});
    worker.given.pop_front();
  }
  const std::size_t count = results.size() - before;
  if (count == 0) return;
  const auto now = std::chrono::steady_clock::now(), begin = std::exchange(worker.begin, now);
  const auto each = (now - begin) / static_cast<std::int64_t>(count) + std::chrono::nanoseconds(1);
  worker.most = std::min<std::size_t>(kMost, 1 + static_cast<std::size_t>(kQueued / each));
}

void Workers::lose(Worker& worker, const Died& died, std::vector<Result>& results) {
  std::deque<Given> lost = std::move(worker.given);
  const Given first = lost.front(); // it ran
  const std::string why = replace(worker);
  died(first.task, why);
  lost.front().again = true;
  if (first.again) {
    lost.pop_front();
    results.push_back({first.task, failure(why)});
  }
  for (const Given& one : lost) hand_out(worker, one);
}

/// Results of short jobs are collected for a while, because each look at them takes time from the workers.
void Workers::wait_for_results() {
  const auto has_enough = [](const Worker& w) { return w.given.empty() || w.given.size() > 4; };
  if (std::all_of(workers_.begin(), workers_.end(), has_enough))
    std::this_thread::sleep_for(std::chrono::milliseconds(4));
}

void Workers::run(const Next& next, const Done& done, const Died& died) {
  const auto is_busy = [](const Worker& worker) { return !worker.given.empty(); };
  for (Worker& worker : workers_) give_next(worker, next);
  std::vector<Result> results;
  while (std::any_of(workers_.begin(), workers_.end(), is_busy)) {
    wait_for_results();
    std::vector<pollfd> ends;
    for (const Worker& worker : workers_) ends.push_back({is_busy(worker) ? worker.results : -1, POLLIN, 0});
    if (poll(ends.data(), ends.size(), -1) < 0) continue; // interrupted
    results.clear();
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      if (ends[i].revents == 0) continue;
      collect(workers_[i], died, results);
      give_next(workers_[i], next); // before the results are saved, so that it does not wait
    }
    if (!results.empty()) done(results);
  }
}

} // namespace warplens::tools
