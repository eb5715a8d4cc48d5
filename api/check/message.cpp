// SPDX-License-Identifier: Apache-2.0
#include "api/check/message.hpp"

#include "api/session/kernel_name.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <tuple>

namespace warplens::api {

namespace {

using CheckJson = nlohmann::ordered_json;

auto place_key(const CheckMessage& m) {
  const CheckThreads none;
  const CheckThreads& at = m.at ? *m.at : none;
  const CheckFrame no_frame;
  const CheckFrame& frame = at.frames.empty() ? no_frame : at.frames.front();
  return std::tuple(m.order, m.kind, frame.file, frame.line, frame.ptx_line, at.address.value_or(0),
                    m.memory ? m.memory->begin : 0, m.title, m.detail);
}

constexpr std::string_view kRule = "========= ";

std::string frame_text(const CheckFrame& f) {
  const std::string function = f.function.empty() ? "inlined function" : f.function + "()";
  if (f.line != 0) return fmt::format("{} in {}:{}", function, f.file, f.line);
  return fmt::format("{} in {}:{} (PTX)", function, f.file, f.ptx_line);
}

class Lines {
public:
  template <class... T> void add(fmt::format_string<T...> format, T&&... values) {
    text_ += std::string(kRule) + fmt::format(format, std::forward<T>(values)...) + "\n";
  }
  void threads(const CheckThreads& t) {
    for (std::size_t i = 0; i < t.frames.size(); ++i)
      add("    {}{}", i == 0 ? "at " : "Device Frame: ", frame_text(t.frames[i]));
    if (t.thread.empty()) return;
    add("    by thread {} in block {}", t.thread, t.block);
    others(t);
  }
  void frames(std::string_view title, const std::vector<std::string>& host) {
    if (host.empty()) return;
    add("    {}", title);
    for (const std::string& frame : host) add("        Host Frame: {}", frame);
  }
  // All threads, if there are others than the first one.
  void others(const CheckThreads& t) {
    constexpr std::size_t kMostBlocks = 4;
    const bool several = t.of_blocks.size() > 1 ||
                         (!t.of_blocks.empty() && t.of_blocks.front().second.find_first_of("-,") != std::string::npos);
    if (!several) return;
    std::string list;
    for (std::size_t i = 0; i < std::min(kMostBlocks, t.of_blocks.size()); ++i)
      list += fmt::format("{}threads {} of block {}", i == 0 ? "" : ", ", t.of_blocks[i].second, t.of_blocks[i].first);
    if (t.of_blocks.size() > kMostBlocks) list += fmt::format(", and of {} more", t.of_blocks.size() - kMostBlocks);
    add("    all: {}", list);
  }
  std::string take() && { return std::move(text_); }

private:
  std::string text_;
};

void add_memory(Lines& lines, const CheckMessage& m) {
  const CheckMemory& memory = *m.memory;
  const std::string which =
      fmt::format("allocation at {:#x} of size {} bytes ('{}')", memory.begin, memory.size, memory.name);
  if (m.kind == exec::ToolFinding::Kind::leak || !m.at || !m.at->address)
    lines.add("    {}{}", m.kind == exec::ToolFinding::Kind::leak ? "of the " : "in the ", which);
  else if (memory.where == CheckMemory::Where::inside)
    lines.add("    and is {} bytes inside the {}{}", memory.distance, memory.freed_by.empty() ? "" : "freed ", which);
  else if (memory.where == CheckMemory::Where::behind)
    lines.add("    and is {} bytes after the nearest {}", memory.distance + 1, which);
  else
    lines.add("    and is {} bytes before the nearest {}", -memory.distance, which);
  if (!memory.allocated_by.empty()) lines.add("    Allocated by {}", memory.allocated_by);
  for (const std::string& frame : memory.allocated_at) lines.add("        Host Frame: {}", frame);
  if (!memory.freed_by.empty()) lines.add("    Freed by {}", memory.freed_by);
  for (const std::string& frame : memory.freed_at) lines.add("        Host Frame: {}", frame);
}

std::string_view address_remark(exec::ToolFinding::Kind kind) {
  using Kind = exec::ToolFinding::Kind;
  switch (kind) {
  case Kind::out_of_bounds: return "is out of bounds";
  case Kind::misaligned: return "is misaligned";
  case Kind::use_after_free: return "is in memory that has been freed";
  case Kind::exited_block: return "is in the shared memory of a block that has exited";
  default: return "";
  }
}

} // namespace

void sort_messages(std::vector<CheckMessage>& messages) {
  std::stable_sort(messages.begin(), messages.end(),
                   [](const CheckMessage& a, const CheckMessage& b) { return place_key(a) < place_key(b); });
}

std::string message_text(const CheckMessage& m) {
  Lines lines;
  lines.add("{}", m.title);
  if (!m.detail.empty()) lines.add("    {}", m.detail);
  if (m.at) lines.threads(*m.at);
  if (m.at && m.at->address)
    lines.add("    Address {:#x}{}{}", *m.at->address, address_remark(m.kind).empty() ? "" : " ",
              address_remark(m.kind));
  if (m.memory) add_memory(lines, m);
  if (m.other) {
    if (m.other->access.empty()) // it accesses tensor memory
      lines.add("    Other instruction:");
    else
      lines.add("    Other access: {}{} of size {} bytes", m.other->space.empty() ? "" : "__" + m.other->space + "__ ",
                m.other->access, m.other->bytes);
    lines.threads(*m.other);
  }
  if (m.count > 1) lines.add("    {} errors", m.count);
  lines.frames(m.call.empty() ? "Saved host backtrace up to driver entry point at kernel launch time"
                              : "Saved host backtrace up to driver entry point at error",
               m.host_frames);
  return std::move(lines).take() + "=========\n";
}

std::string summary_text(const CheckSummary& s, std::string_view tools) {
  Lines lines;
  if (s.leaks != 0) lines.add("LEAK SUMMARY: {} bytes leaked in {} allocations", s.leaked_bytes, s.leaks);
  lines.add("ERROR SUMMARY: {} error{} ({})", s.errors, s.errors == 1 ? "" : "s", tools);
  if (s.suppressed != 0) lines.add("{} error{} suppressed", s.suppressed, s.suppressed == 1 ? " was" : "s were");
  if (s.printed < s.messages)
    lines.add("ERROR SUMMARY: {} messages were not printed. Use --print-limit option to adjust the number of printed "
              "errors",
              s.messages - s.printed);
  return std::move(lines).take();
}

namespace {

CheckJson json_of(const CheckFrame& f) {
  return {{"function", f.function}, {"file", f.file}, {"line", f.line}, {"ptx_line", f.ptx_line}};
}

CheckJson json_of(const CheckThreads& t) {
  CheckJson j = {{"kernel", t.kernel}, {"thread", t.thread}, {"block", t.block}};
  j["threads"] = CheckJson::array();
  for (const auto& [block, threads] : t.of_blocks) j["threads"].push_back({{"block", block}, {"threads", threads}});
  j["frames"] = CheckJson::array();
  for (const CheckFrame& f : t.frames) j["frames"].push_back(json_of(f));
  if (!t.access.empty()) j["access"] = t.access;
  if (!t.space.empty()) j["space"] = t.space;
  if (t.bytes != 0) j["bytes"] = t.bytes;
  if (t.address) j["address"] = *t.address;
  return j;
}

CheckJson json_of(const CheckMemory& m) {
  return {{"name", m.name},
          {"begin", m.begin},
          {"size", m.size},
          {"where", m.where == CheckMemory::Where::inside   ? "inside"
                    : m.where == CheckMemory::Where::behind ? "behind"
                                                            : "before"},
          {"distance", m.distance},
          {"allocated_by", m.allocated_by},
          {"allocated_at", m.allocated_at},
          {"freed_by", m.freed_by},
          {"freed_at", m.freed_at}};
}

CheckJson json_of(const CheckMessage& m) {
  CheckJson j = {{"tool", exec::name_of(exec::tool_of(m.kind))},
                 {"kind", exec::id_of(m.kind)},
                 {"title", m.title},
                 {"detail", m.detail},
                 {"count", m.count}};
  if (m.at) {
    j["kernel"] = m.at->kernel;
    if (!m.at->frames.empty()) {
      j["function"] = m.at->frames.front().function;
      j["file"] = m.at->frames.front().file;
      j["line"] = m.at->frames.front().line;
    }
    j["at"] = json_of(*m.at);
  }
  if (m.other) j["other"] = json_of(*m.other);
  if (m.memory) j["memory"] = json_of(*m.memory);
  if (!m.call.empty()) j["call"] = m.call;
  if (m.error != 0) j["error"] = m.error;
  if (!m.host_frames.empty()) j["host_frames"] = m.host_frames;
  return j;
}

} // namespace

std::string messages_json(std::span<const CheckMessage> messages) {
  CheckJson list = CheckJson::array();
  for (const CheckMessage& m : messages) list.push_back(json_of(m));
  return CheckJson{{"messages", std::move(list)}}.dump(1, ' ', false, CheckJson::error_handler_t::replace) + "\n";
}

Expected<Suppressions> Suppressions::read(const std::string& text, const std::string& file) {
  const CheckJson json = CheckJson::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object() || !json.contains("messages") || !json["messages"].is_array())
    return failure(fmt::format("'{}' has no list of messages", file), "write one with --save FILE");
  Suppressions result;
  for (const CheckJson& one : json["messages"]) {
    if (!one.is_object()) return failure(fmt::format("'{}': expected an object for each message", file));
    const auto word = [&](const char* name) {
      const auto found = one.find(name);
      return found != one.end() && found->is_string() ? found->get<std::string>() : std::string();
    };
    Entry entry{word("kind"), word("kernel"), word("function"), word("file"), word("call"), 0};
    if (const auto line = one.find("line"); line != one.end() && line->is_number_unsigned())
      entry.line = line->get<std::uint32_t>();
    if (entry.kind.empty()) return failure(fmt::format("'{}': a message has no kind", file));
    result.entries_.push_back(std::move(entry));
  }
  return result;
}

bool Suppressions::covers(const CheckMessage& m) const {
  const CheckThreads no_threads;
  const CheckThreads& at = m.at ? *m.at : no_threads;
  const CheckFrame no_frame;
  const CheckFrame& frame = at.frames.empty() ? no_frame : at.frames.front();
  const auto fits = [](const std::string& wanted, const std::string& is) { return wanted.empty() || wanted == is; };
  return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& e) {
    return e.kind == exec::id_of(m.kind) && fits(e.kernel, at.kernel) && fits(e.function, frame.function) &&
           fits(e.file, frame.file) && fits(e.call, m.call) && (e.line == 0 || e.line == frame.line);
  });
}

} // namespace warplens::api
