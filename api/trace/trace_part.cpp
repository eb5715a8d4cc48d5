// SPDX-License-Identifier: Apache-2.0
#include "api/trace/trace_part.hpp"

#include "emulator/base/archive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace warplens::api {

namespace trace = analyzers::trace;

namespace {

std::string random_text() {
  std::random_device random;
  std::string text;
  for (int i = 0; i < 4; ++i) text += fmt::format("{:08x}", random());
  return text;
}

/// What a rank has written.
struct Written {
  std::array<std::uint64_t, trace::kTables> rows{};
  std::vector<trace::BlockRow> blocks;
  void fields(Archive& a) { a(rows, blocks); }
};

exec::Bytes bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}
std::string text_of(const exec::Bytes& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

} // namespace

// A link to the trace does not help a program that reads the file that it names.
std::string TracePart::name_of(unsigned rank) const {
  std::error_code ignored;
  const std::filesystem::path target = std::filesystem::weakly_canonical(trace_, ignored);
  return fmt::format("{}.rank{}{}", target.stem().string(), rank, target.extension().string());
}

Expected<void> TracePart::agree(const Expected<void>& own) {
  struct Error {
    std::string message, hint;
    void fields(Archive& a) { a(message, hint); }
  } error;
  if (!own) error = {own.error().list().front().message, own.error().list().front().hint};
  Archive out;
  out(error);
  for (const exec::Bytes& bytes : ranks_.to_first(out.take())) {
    Error of_one;
    Archive in(bytes);
    in(of_one);
    if (error.message.empty()) error = of_one;
  }
  Archive verdict;
  verdict(error);
  const exec::Bytes all = ranks_.from_first(verdict.take());
  Archive in(all);
  in(error);
  if (!error.message.empty()) return failure(error.message, error.hint);
  return {};
}

Expected<void> TracePart::open(std::string_view creator) {
  if (file_) return {};
  ranks_.start();
  run_ = text_of(ranks_.from_first(bytes_of(random_text())));
  std::error_code ignored;
  const std::filesystem::path folder = std::filesystem::weakly_canonical(trace_, ignored).parent_path();
  Expected<PendingFile> pending = PendingFile::create(folder / name_of(ranks_.rank()));
  Expected<void> opened;
  if (pending) {
    pending_ = std::move(*pending);
    auto file = trace::File::create(pending_->temporary(), creator, trace::PartId{run_, ranks_.rank()});
    if (file)
      file_ = std::move(*file);
    else
      opened = failure(file.error());
  } else {
    opened = failure(pending.error());
  }
  return agree(opened);
}

// Kernels that allocate, and their children, run on each rank in the same way.
bool TracePart::records(const exec::Launch& launch) const {
  return ranks_.is_first() || (launch.ranks != nullptr && !launch.program->uses_heap);
}

Expected<void> TracePart::end(trace::Recorder& recorder, std::string_view conclusion) {
  const auto number = static_cast<std::uint32_t>(launches_.size());
  Expected<void> written = recorder.written();
  launches_.push_back(recorder.launch_row());
  if (ranks_.is_first()) {
    Expected<trace::EndRow> row = recorder.conclude(conclusion);
    if (row) {
      ends_.push_back(*row);
      ends_.back().launch = number;
    } else {
      written = failure(row.error());
    }
  }
  for (trace::BlockRow row : recorder.block_rows()) {
    row.launch = number;
    blocks_.push_back(row);
  }
  Expected<void> all = agree(written);
  if (!all) pending_->keep();
  return all;
}

Expected<void> TracePart::join(std::string_view creator, const std::vector<exec::Bytes>& parts) {
  trace::Joined joined{run_, {}, launches_, {}, ends_};
  std::array<std::uint64_t, trace::kTables> before{};
  const auto at = [](trace::Table table) { return static_cast<std::size_t>(table); };
  for (unsigned rank = 0; rank < parts.size(); ++rank) {
    Written of;
    Archive in(parts[rank]);
    in(of);
    if (!in.good()) return failure("what another rank has recorded cannot be read");
    for (trace::BlockRow row : of.blocks) {
      row.first_event += before[at(trace::Table::pattern)];
      row.first_offset += before[at(trace::Table::offsets)];
      row.first_pattern += before[at(trace::Table::patterns)];
      row.first_segment += before[at(trace::Table::segments)];
      joined.blocks.push_back(row);
    }
    for (std::size_t i = 0; i < trace::kTables; ++i) before[i] += of.rows[i];
    joined.parts.push_back({name_of(rank), of.rows});
  }
  std::stable_sort(joined.blocks.begin(), joined.blocks.end(),
                   [](const trace::BlockRow& a, const trace::BlockRow& b) { return a.launch < b.launch; });
  Expected<PendingFile> file = PendingFile::create(trace_);
  if (!file) return failure(file.error());
  if (Expected<void> written = trace::File::join(file->temporary(), creator, joined); !written) return written;
  joined_ = std::move(*file);
  // It would refer to files that are replaced now.
  std::error_code error;
  if (std::filesystem::remove(std::filesystem::weakly_canonical(trace_, error), error); error)
    return failure(fmt::format("cannot replace '{}': {}", trace_.string(), error.message()));
  return {};
}

Expected<void> TracePart::close(std::string_view creator) {
  if (Expected<void> opened = open(creator); !opened) return opened;
  Written own;
  own.blocks = blocks_;
  for (std::size_t i = 0; i < trace::kTables; ++i) own.rows[i] = *file_->rows(static_cast<trace::Table>(i));
  Expected<void> done = agree(file_->close());
  if (done) {
    Archive out;
    out(own);
    const std::vector<exec::Bytes> parts = ranks_.to_first(out.take());
    done = agree(ranks_.is_first() ? join(creator, parts) : Expected<void>());
  }
  if (done) done = agree(pending_->commit());
  if (done) return agree(joined_ ? joined_->commit() : Expected<void>());
  pending_->keep();
  return done;
}

} // namespace warplens::api
