#include "analyzers/coalescing.hpp"

#include "analyzers/rule_file.hpp"

#include <algorithm>
#include <bit>

namespace warplens::analyzers {

const WordClass* CoalescingRule::word(std::uint32_t bytes) const {
  const WordClass* found = nullptr;
  for (const WordClass& candidate : words)
    if (candidate.bytes <= bytes) found = &candidate;
  if (order == Order::kth_word) return found && found->bytes == bytes ? found : nullptr;
  return found ? found : &words.front();
}

Expected<CoalescingRule> parse_coalescing_rule(std::string_view text, std::string_view file) {
  RuleTable table(text, file);
  CoalescingRule rule;
  table.word("rule", {"coalescing"});
  rule.name = table.name("name");
  rule.title = table.text("title");
  rule.source = table.text_or("source", "");
  rule.order = static_cast<CoalescingRule::Order>(table.word("order", {"any", "kth_word"}));
  rule.shrink = table.flag("shrink");
  rule.smallest = table.number("smallest", {32, 64, 128});
  if (rule.shrink && rule.order == CoalescingRule::Order::kth_word)
    table.error("shrink goes with order = \"any\" only");
  for (RuleTable& entry : table.tables("word")) {
    WordClass word;
    word.bytes = entry.number("bytes", {1, 2, 4, 8, 16, 32});
    word.lanes = entry.number("lanes", {32, 16, 8});
    word.segment = entry.number("segment", {32, 64, 128});
    if (word.segment < rule.smallest) entry.error("the segment is smaller than the smallest transaction");
    if (!rule.words.empty() && rule.words.back().bytes >= word.bytes) entry.error("words must ascend by bytes");
    if (rule.order == CoalescingRule::Order::kth_word && word.lanes * word.bytes < word.segment)
      entry.error("the words of a request do not fill a segment");
    rule.words.push_back(word);
    entry.finish();
  }
  Diagnostics diagnostics = table.finish();
  if (diagnostics.has_errors()) return failure(std::move(diagnostics));
  return rule;
}

const std::vector<CoalescingRule>& coalescing_rules() {
  // Never destroyed: a program may ask while it ends.
  static const std::vector<CoalescingRule>& rules = *new std::vector<CoalescingRule>([] {
    std::vector<CoalescingRule> result;
    for (const EmbeddedRule& embedded : embedded_rules())
      if (embedded.file.starts_with("coalescing_"))
        if (auto rule = parse_coalescing_rule(embedded.text, embedded.file)) result.push_back(std::move(*rule));
    return result;
  }());
  return rules;
}

const CoalescingRule* find_coalescing_rule(std::string_view name) {
  for (const CoalescingRule& rule : coalescing_rules())
    if (rule.name == name) return &rule;
  return nullptr;
}

namespace {

struct Request {
  const CoalescingRule& rule;
  const std::uint64_t* addresses;
  exec::Mask lanes; // of this request
  std::uint32_t lane_bytes;
  Transactions& result;
  std::vector<Transaction>* list;

  void emit(std::uint32_t bytes, std::uint64_t base, exec::Mask served) const {
    ++result.count[size_index(bytes)];
    if (list) list->push_back({bytes, base, served});
  }

  /// The blocks of `smallest` bytes that the lanes touch, lane after lane.
  struct Block {
    std::uint64_t number;
    exec::Mask lane;
  };
  struct Blocks {
    Block block[exec::kWarpSize * (kLineBytes / 32 + 1)];
    std::size_t count = 0;
  };
  [[nodiscard]] Blocks blocks() const {
    Blocks found;
    for (exec::Mask rest = lanes; rest; rest &= rest - 1) {
      const std::uint64_t address = addresses[std::countr_zero(rest)];
      const std::uint64_t last = (address + lane_bytes - 1) / rule.smallest;
      for (std::uint64_t block = address / rule.smallest; block <= last; ++block)
        found.block[found.count++] = {block, rest & (~rest + 1)};
    }
    return found;
  }

  /// Guide 2.0, section 5.1.2.1, compute capability 1.0 and 1.1.
  [[nodiscard]] bool in_order(const WordClass& word) const {
    const auto lane_in_request = [&](int lane) { return static_cast<std::uint64_t>(lane) % word.lanes; };
    const int first = std::countr_zero(lanes);
    const std::uint64_t base = addresses[first] - lane_in_request(first) * word.bytes;
    if (base % word.segment != 0) return false;
    for (exec::Mask rest = lanes; rest; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      if (addresses[lane] != base + lane_in_request(lane) * word.bytes) return false;
    }
    return true;
  }

  /// Those whose address lies in the segment.
  [[nodiscard]] exec::Mask lanes_in(std::uint64_t base, std::uint32_t bytes) const {
    exec::Mask inside = 0;
    for (exec::Mask rest = lanes; rest; rest &= rest - 1)
      if (addresses[std::countr_zero(rest)] - base < bytes) inside |= rest & (~rest + 1);
    return inside;
  }

  void serve_in_order(const WordClass* word) const {
    if (word && in_order(*word)) {
      const int first = std::countr_zero(lanes);
      const std::uint64_t start = addresses[first] - static_cast<std::uint64_t>(first) % word->lanes * word->bytes;
      for (std::uint32_t offset = 0; offset < word->lanes * word->bytes; offset += word->segment)
        emit(word->segment, start + offset, lanes_in(start + offset, word->segment));
      return;
    }
    const Blocks own = blocks();
    for (std::size_t i = 0; i < own.count; ++i) {
      emit(rule.smallest, own.block[i].number * rule.smallest, own.block[i].lane);
      ++result.uncoalesced;
    }
  }

  /// Guide 2.0, section 5.1.2.1, compute capability 1.2 and higher; without shrinking: distinct segments.
  void serve_any(const WordClass& word) const {
    Blocks waiting = blocks();
    while (waiting.count) {
      const std::uint64_t per_segment = word.segment / rule.smallest;
      const std::uint64_t segment = waiting.block[0].number / per_segment;
      std::uint64_t low = waiting.block[0].number, high = low;
      exec::Mask served = 0;
      const auto end = std::remove_if(waiting.block, waiting.block + waiting.count, [&](const Block& block) {
        if (block.number / per_segment != segment) return false;
        low = std::min(low, block.number);
        high = std::max(high, block.number);
        served |= block.lane;
        return true;
      });
      waiting.count = static_cast<std::size_t>(end - waiting.block);
      std::uint32_t bytes = word.segment;
      while (rule.shrink && bytes > rule.smallest &&
             low * rule.smallest / (bytes / 2) == high * rule.smallest / (bytes / 2))
        bytes /= 2;
      emit(bytes, low * rule.smallest / bytes * bytes, served);
    }
  }
};

} // namespace

Transactions transactions(const CoalescingRule& rule, const std::uint64_t* addresses, exec::Mask mask,
                          std::uint32_t lane_bytes, std::vector<Transaction>* list) {
  Transactions result;
  lane_bytes = std::clamp(lane_bytes, 1u, kLineBytes);
  const WordClass* word = rule.word(lane_bytes);
  const std::uint32_t lanes = word ? word->lanes : exec::kWarpSize;
  for (std::uint32_t first = 0; first < exec::kWarpSize; first += lanes) {
    const exec::Mask part = mask & static_cast<exec::Mask>(((std::uint64_t{1} << lanes) - 1) << first);
    if (!part) continue;
    const Request request{rule, addresses, part, lane_bytes, result, list};
    if (rule.order == CoalescingRule::Order::kth_word)
      request.serve_in_order(word);
    else
      request.serve_any(*word);
  }
  return result;
}

} // namespace warplens::analyzers
