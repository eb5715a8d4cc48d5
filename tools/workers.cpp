// SPDX-License-Identifier: Apache-2.0
#include "tools/workers.hpp"

#include "tools/output.hpp"

#include <fmt/format.h>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <optional>

namespace warplens::tools {

namespace {

/// False: the other end is closed.
bool send(int to, const void* bytes, std::size_t size) {
  const auto* at = static_cast<const char*>(bytes);
  while (size != 0) {
    const ssize_t written = ::write(to, at, size);
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

/// Sends the length, then the text.
bool send(int to, const std::string& text) {
  const std::uint64_t size = text.size();
  return send(to, &size, sizeof size) && send(to, text.data(), text.size());
}

std::optional<std::string> receive(int from) {
  std::uint64_t size = 0;
  if (!receive(from, &size, sizeof size)) return std::nullopt;
  std::string text(size, '\0');
  if (!receive(from, text.data(), text.size())) return std::nullopt;
  return text;
}

} // namespace

Workers::Workers(unsigned count, Job job) : job_(std::move(job)), workers_(count) {
  std::signal(SIGPIPE, SIG_IGN); // from a worker that died; detected when its result is missing
  for (Worker& worker : workers_) start(worker);
}

Workers::~Workers() {
  int ignored = 0;
  for (Worker& worker : workers_) {
    if (worker.busy) kill(worker.process, SIGKILL); // its result is no longer needed
    stop(worker, ignored);
  }
}

void Workers::start(Worker& worker) {
  int jobs[2], results[2];
  if (pipe(jobs) != 0 || pipe(results) != 0) throw UsageError{"cannot start a process: too many open files", ""};
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
  worker = {process, jobs[1], results[0], {}, false, false};
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
  while (receive(jobs, &job, sizeof job))
    if (!send(results, job_(job))) break;
  _exit(0); // without the exit handlers, which belong to the parent
}

void Workers::hand_out(Worker& worker, const Task& job, bool again) {
  worker.job = job;
  worker.again = again;
  worker.busy = true;
  static_cast<void>(send(worker.jobs, &job, sizeof job)); // if this fails, so does the result
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

void Workers::run(const Next& next, const Done& done, const Died& died) {
  const auto give_next = [&](Worker& worker) {
    worker.busy = false;
    if (const std::optional<Task> job = next()) hand_out(worker, *job, false);
  };
  const auto finish = [&](Worker& worker) {
    const Task job = worker.job;
    if (std::optional<std::string> result = receive(worker.results)) {
      give_next(worker); // first, so that it does not wait
      return done(job, std::move(*result));
    }
    const bool again = worker.again;
    const std::string why = replace(worker);
    died(job, why);
    if (!again) return hand_out(worker, job, true);
    give_next(worker);
    done(job, failure(why));
  };
  const auto is_busy = [](const Worker& worker) { return worker.busy; };
  for (Worker& worker : workers_) give_next(worker);
  while (std::any_of(workers_.begin(), workers_.end(), is_busy)) {
    std::vector<pollfd> ends;
    for (const Worker& worker : workers_) ends.push_back({worker.busy ? worker.results : -1, POLLIN, 0});
    if (poll(ends.data(), ends.size(), -1) < 0) continue; // interrupted
    for (std::size_t i = 0; i < workers_.size(); ++i)
      if (ends[i].revents != 0) finish(workers_[i]);
  }
}

} // namespace warplens::tools
