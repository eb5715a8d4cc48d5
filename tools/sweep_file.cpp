// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep_file.hpp"

#include "api/files/input_file.hpp"
#include "tools/output.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

namespace warplens::tools {

namespace {

/// Nullopt if it is not a regular file.
std::optional<std::string> content(const std::string& name) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(name, ignored)) return std::nullopt;
  Expected<std::string> text = api::read_file(name);
  return text ? std::optional(std::move(*text)) : std::nullopt;
}

/// FNV-1a, 64 bits.
std::string hash(std::string_view text) {
  std::uint64_t h = 0xcbf2'9ce4'8422'2325;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100'0000'01b3;
  return fmt::format("{:016x}", h);
}

} // namespace

SweepFile::SweepFile(std::string name, const api::SweepIdentity& identity) : name_(std::move(name)) {
  file_ = open(name_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file_ < 0) fail(std::strerror(errno));
  if (flock(file_, LOCK_EX | LOCK_NB) != 0) fail("another sweep is using it");
  const std::optional<std::string> text = content(name_);
  if (!text) fail("not a regular file");
  const std::string header = api::sweep_header(identity);
  if (header.starts_with(*text)) // the file is new, or a sweep was killed while it wrote this
    write(std::string_view(header).substr(text->size()));
  else
    read(*text, identity);
}

SweepFile::~SweepFile() {
  if (file_ >= 0) close(file_);
}

void SweepFile::fail(const std::string& why) const { throw UsageError{fmt::format("--resume {}: {}", name_, why), ""}; }

void SweepFile::read(const std::string& text, const api::SweepIdentity& identity) {
  const std::size_t end_of_header = std::min(text.find('\n'), text.size());
  const Expected<api::SweepIdentity> there = api::parse_sweep_header(std::string_view(text).substr(0, end_of_header));
  if (!there) fail("not a table of a sweep: " + there.error().list().front().message);
  if (there->inputs != identity.inputs) {
    for (const auto& [file, content_hash] : identity.inputs)
      if (const auto found = there->inputs.find(file); found != there->inputs.end() && found->second != content_hash)
        fail(fmt::format("belongs to another sweep: '{}' has changed since", file));
    fail(fmt::format("belongs to another sweep: that of {}",
                     there->inputs.empty() ? "nothing" : there->inputs.begin()->first));
  }
  if (there->options != identity.options) fail("belongs to another sweep: its options differ");
  std::size_t good = end_of_header + 1;
  while (good < text.size()) {
    const std::size_t end = text.find('\n', good);
    if (end == text.npos) break; // cut off
    Expected<api::SweepRow> row = api::parse_sweep_line(std::string_view(text).substr(good, end - good));
    if (!row) fail(row.error().list().front().message);
    api::Settings key = row->settings;
    rows_.insert_or_assign(std::move(key), std::move(*row));
    good = end + 1;
  }
  if (ftruncate(file_, static_cast<off_t>(good)) != 0) fail(std::strerror(errno));
}

// A file that becomes too large, or a full disk, first shortens a write, and only the next one tells why.
void SweepFile::write(std::string_view text) const {
  while (!text.empty()) {
    const ssize_t written = ::write(file_, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(std::strerror(errno));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

const api::SweepRow* SweepFile::find(const api::Settings& settings) const {
  const auto found = rows_.find(settings);
  return found == rows_.end() ? nullptr : &found->second;
}

void SweepFile::append(const api::SweepRow& row) { write(api::sweep_line(row)); }

api::SweepIdentity identity_of(const std::vector<api::Settings>& configurations,
                               std::map<std::string, std::string> options) {
  api::SweepIdentity identity{{}, std::move(options)};
  const auto add = [&](const std::string& file) {
    if (identity.inputs.contains(file)) return;
    if (const auto text = content(file)) identity.inputs.emplace(file, hash(*text));
  };
  std::map<std::string, bool> launch_files;
  for (const api::Settings& settings : configurations) {
    for (const char* name : {"device", "rule"})
      if (const auto* value = api::setting(settings, name)) add(*value);
    const std::string& file = *api::setting(settings, "launch");
    if (!launch_files.try_emplace(file, true).second) continue;
    add(file);
    const Expected<api::SweepPlan> plan = api::sweep_plan({{"launch", file}});
    if (!plan) continue;
    for (const api::LaunchPlan& launch : plan->plan.launches) {
      add(launch.module.string());
      for (const auto& library : launch.libraries) add(library.string());
    }
    for (const api::BufferPlan& b : plan->plan.buffers) add(b.initial.file.string());
  }
  return identity;
}

} // namespace warplens::tools
