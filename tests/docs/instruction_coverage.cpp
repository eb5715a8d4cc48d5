// SPDX-License-Identifier: Apache-2.0
#include "tests/docs/instruction_coverage.hpp"

#include "emulator/isa/table.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <vector>

namespace warplens::docs {

namespace {

constexpr int kNewest = 1000; // any version, any target

struct Instruction {
  std::string name;                       ///< "shfl.sync"
  std::vector<std::string> patterns;      ///< spellings of the manual that follow the name
  std::vector<const isa::Entry*> entries; ///< what the table has of it
};

struct Chapter {
  std::string title;
  std::string files; ///< of the table, each between spaces
  std::vector<Instruction> instructions;
};

std::vector<Chapter> manual() {
  std::vector<Chapter> chapters;
  std::ifstream file(WARPLENS_SOURCE_DIR "/tests/docs/manual.txt");
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.starts_with("//")) continue;
    if (line.starts_with("## ")) {
      const std::size_t colon = line.rfind(": ");
      chapters.push_back({line.substr(3, colon - 3), " " + line.substr(colon + 2) + " ", {}});
    } else if (line.starts_with("  ")) {
      chapters.back().instructions.back().patterns.push_back(line.substr(2));
    } else {
      chapters.back().instructions.push_back({line, {}, {}});
    }
  }
  return chapters;
}

// How many words of the name an entry of the table has to have; -1 where it is another instruction.
int names(const std::string& name, const isa::Entry& entry) {
  std::size_t dot = std::min(name.find('.'), name.size());
  if (name.substr(0, dot) != entry.opcode) return -1;
  int words = 0;
  while (dot < name.size()) {
    const std::size_t end = std::min(name.find('.', dot + 1), name.size());
    const isa::Word word = isa::word_named(name.substr(dot + 1, end - dot - 1));
    const auto groups = std::span(entry.pattern.groups).first(static_cast<std::size_t>(entry.pattern.count));
    const bool has = std::any_of(groups.begin(), groups.end(), [&](const isa::Group& g) {
      return !g.optional &&
             std::find(g.options.begin(), g.options.begin() + g.count, word) != g.options.begin() + g.count;
    });
    if (!has) return -1;
    ++words;
    dot = end;
  }
  return words;
}

Instruction* place_of(std::vector<Chapter>& chapters, const isa::Entry& entry) {
  Instruction* best = nullptr;
  int most = -1;
  for (Chapter& chapter : chapters)
    if (chapter.files.find(" " + std::string(entry.file) + " ") != std::string::npos)
      for (Instruction& instruction : chapter.instructions)
        if (const int words = names(instruction.name, entry); words > most) most = words, best = &instruction;
  return best;
}

// Every spelling of a manual's pattern; its words need not be known to the table.
void spell(std::string_view pattern, const std::string& so_far, std::vector<std::string>& spellings) {
  if (pattern.empty()) {
    spellings.push_back(so_far);
    return;
  }
  const bool optional = pattern[0] == '[';
  std::size_t end = optional ? pattern.find(']') : std::string_view::npos;
  std::string_view group = optional ? pattern.substr(1, end - 1) : pattern;
  if (!optional) {
    end = group.size() > 1 && group[1] == '{' ? group.find('}')
                                              : std::min(group.find_first_of(".[", 1), group.size()) - 1;
    group = group.substr(0, end + 1);
  }
  const std::string_view rest = pattern.substr(end + 1);
  if (optional) spell(rest, so_far, spellings);
  std::string_view options = group.substr(1);
  if (options.starts_with('{')) options = options.substr(1, options.size() - 2);
  while (!options.empty()) {
    const std::size_t comma = std::min(options.find(','), options.size());
    spell(rest, so_far + "." + std::string(options.substr(0, comma)), spellings);
    options.remove_prefix(std::min(comma + 1, options.size()));
  }
}

/// Words as in the table, without the marks that are meant for the decoder.
std::string words_of(const isa::Entry& entry) {
  std::string words(entry.pattern_text);
  std::erase(words, '~');
  return words.empty() ? "" : "`" + words + "`";
}

std::string version(int times_ten) { return std::to_string(times_ten / 10) + "." + std::to_string(times_ten % 10); }

std::string row(const isa::Entry& entry) {
  return "| `" + std::string(entry.opcode) + "` | " + words_of(entry) + " | " + version(entry.ptx) + " | " +
         spelled(entry.targets) + (entry.legacy ? ", before sm_20 only" : "") +
         (entry.last_ptx < 1000
              ? ", up to PTX " + version(entry.last_ptx) +
                    (entry.last_from != 0 ? " on targets from sm_" + std::to_string(entry.last_from) : "")
              : "") +
         " |\n";
}

std::string row_of_missing(const std::string& name, const std::string& pattern) {
  std::vector<std::string> spellings;
  spell(pattern, name, spellings);
  const auto run = std::count_if(spellings.begin(), spellings.end(), [](const std::string& s) {
    return isa::lookup(s, kNewest, isa::kEveryTarget).has_value();
  });
  if (run == static_cast<long>(spellings.size())) return {};
  std::string status = "only parsed";
  if (run != 0)
    status = std::to_string(spellings.size() - run) + " of " + std::to_string(spellings.size()) + " only parsed";
  return "| `" + name + "` | " + (pattern.empty() ? "" : "`" + pattern + "`") + " | " + status + " | |\n";
}

} // namespace

std::string instruction_coverage() {
  std::vector<Chapter> chapters = manual();
  std::string strange;
  for (const isa::Entry& entry : isa::table()) {
    Instruction* const place = place_of(chapters, entry);
    if (place == nullptr)
      strange += row(entry);
    else
      place->entries.push_back(&entry);
  }
  std::string tables;
  int whole = 0, part = 0, none = 0;
  for (const Chapter& chapter : chapters) {
    tables += "\n## " + chapter.title + "\n| instruction | words | PTX | target |\n| --- | --- | --- | --- |\n";
    for (const Instruction& instruction : chapter.instructions) {
      std::string missing;
      for (const isa::Entry* entry : instruction.entries) tables += row(*entry);
      for (const std::string& pattern : instruction.patterns) missing += row_of_missing(instruction.name, pattern);
      if (instruction.entries.empty() && missing.empty()) missing = row_of_missing(instruction.name, "");
      tables += missing;
      ++(missing.empty() ? whole : instruction.entries.empty() ? none : part);
    }
  }
  if (!strange.empty()) tables += "\n## Not in the manual\n" + strange;
  return "# Instructions\n"
         "Made from the instruction table (`emulator/isa/instructions.def`) and the manual's contents "
         "(`tests/docs/manual.txt`); do not edit, `ninja -C build docs-instructions` writes it.\n\n"
         "Chapters are those of the PTX manual. `{a,b}` is a choice, `[…]` may be left out. A line with a PTX version "
         "and a "
         "target runs from these on. *Only parsed*: `warplens check` reads it and says so; a kernel that has it is not "
         "launched. Of " +
         std::to_string(whole + part + none) + " instructions " + std::to_string(whole) +
         " run in every spelling that is listed, " + std::to_string(part) + " in part, " + std::to_string(none) +
         " are only parsed.\n" + tables;
}

} // namespace warplens::docs
