// SPDX-License-Identifier: Apache-2.0
#include "api/report/check_files.hpp"

#include "api/files/output_file.hpp"

namespace warplens::api {

Expected<void> write_check_files(const CheckOptions& options, std::span<const CheckMessage> messages,
                                 const std::string& suffix) {
  struct File {
    const std::string& name;
    std::string (*text)(const CheckOptions&, std::span<const CheckMessage>);
  };
  const File files[] = {
      {options.save, [](const CheckOptions& o, auto list) { return o.xml ? messages_xml(list) : messages_json(list); }},
      {options.sarif, [](const CheckOptions&, auto list) { return sarif_of_messages(list); }},
      {options.junit, [](const CheckOptions& o, auto list) { return junit_of_messages(o.tools, list); }}};
  Expected<void> result;
  for (const File& file : files) {
    if (file.name.empty()) continue;
    const Expected<void> written = write_whole(file.name + suffix, file.text(options, messages));
    if (!written && result) result = failure(written.error());
  }
  return result;
}

} // namespace warplens::api
