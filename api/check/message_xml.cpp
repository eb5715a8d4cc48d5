// SPDX-License-Identifier: Apache-2.0
#include "api/check/message.hpp"
#include "api/files/xml.hpp"

#include <fmt/format.h>

namespace warplens::api {

namespace {

std::string frame_element(const CheckFrame& f) {
  return fmt::format("      <frame><func>{}</func><file>{}</file><line>{}</line></frame>\n", xml_text(f.function),
                     xml_text(f.file), f.line != 0 ? f.line : f.ptx_line);
}

std::string threads_element(const CheckThreads& t, std::string_view name) {
  std::string text = fmt::format("    <{}>\n", name);
  for (const CheckFrame& f : t.frames) text += frame_element(f);
  if (!t.thread.empty())
    text += fmt::format("      <threadId>{}</threadId><blockId>{}</blockId>\n", xml_text(t.thread), xml_text(t.block));
  return text + fmt::format("    </{}>\n", name);
}

} // namespace

std::string messages_xml(std::span<const CheckMessage> messages) {
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ComputeSanitizerOutput>\n";
  for (const CheckMessage& m : messages) {
    text += fmt::format("  <record>\n    <kind>{}</kind>\n    <level>Error</level>\n    <count>{}</count>\n",
                        exec::id_of(m.kind), m.count);
    text += fmt::format("    <what><text>{}</text></what>\n",
                        xml_text(m.title + (m.detail.empty() ? "" : ": ") + m.detail));
    if (m.at) text += threads_element(*m.at, "where");
    if (m.other) text += threads_element(*m.other, "other");
    if (m.memory)
      text += fmt::format("    <allocation><name>{}</name><address>{:#x}</address><size>{}</size></allocation>\n",
                          xml_text(m.memory->name), m.memory->begin, m.memory->size);
    if (!m.host_frames.empty()) {
      text += "    <hostStack>\n";
      for (const std::string& frame : m.host_frames) text += fmt::format("      <frame>{}</frame>\n", xml_text(frame));
      text += "    </hostStack>\n";
    }
    text += "  </record>\n";
  }
  return text + "</ComputeSanitizerOutput>\n";
}

} // namespace warplens::api
