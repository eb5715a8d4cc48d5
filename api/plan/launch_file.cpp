// SPDX-License-Identifier: Apache-2.0
// Reads launch files.
#include "api/plan/launch_file.hpp"

#include "api/files/input_file.hpp"
#include "api/plan/launch_override.hpp"
#include "api/plan/launch_tensor_map.hpp"
#include "emulator/base/toml.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warplens::api {

namespace {

Origin origin_of(const toml::source_region& source) {
  return {source.path ? *source.path : std::string(), {source.begin.line, source.begin.column}};
}

std::string kind_of(const toml::node& node) {
  switch (node.type()) {
  case toml::node_type::string: return "a string";
  case toml::node_type::integer: return "an integer";
  case toml::node_type::floating_point: return "a number";
  case toml::node_type::boolean: return "true or false";
  case toml::node_type::array: return "an array";
  case toml::node_type::table: return "a table";
  default: return "a date or time";
  }
}

/// Keys of a [[launch]] table, and of the top level.
const std::vector<std::string_view> kOfLaunch = {"module",    "kernel",      "grid",   "total",
                                                 "block",     "cluster",     "shared", "shared_per_thread",
                                                 "registers", "cooperative", "arg"};

class Reader {
public:
  Reader(std::filesystem::path folder, const SavePolicy& saves) : folder_(std::move(folder)), saves_(saves) {}

  Expected<Plan> read(const toml::table& root) {
    std::vector<std::string_view> keys = kOfLaunch;
    keys.insert(keys.end(), {"launch", "device", "buffer", "texture", "sampler", "tensor_map"});
    known(root, keys);
    if (const toml::node* device = root.get("device")) plan_.device = device_name(*device);
    tables(root, "buffer", plan_.buffers, [this](auto&& name, const toml::table& table) { buffer(name, table); });
    for (const std::string_view kind : {"texture", "sampler"})
      tables(root, kind, plan_.textures, [&](auto&& name, const toml::table& table) { texture(kind, name, table); });
    tables(root, "tensor_map", plan_.tensor_maps, [&](auto&& name, const toml::table& table) { map(name, table); });
    if (const toml::node* launches = root.get("launch")) {
      const toml::array* list = launches->as_array();
      if (list == nullptr)
        wrong(*launches, "launch", "[[launch]] tables");
      else
        for (const toml::node& node : *list) {
          const toml::table* table = node.as_table();
          if (table == nullptr) wrong(node, "launch", "a table");
          if (table == nullptr) continue;
          known(*table, kOfLaunch);
          launch(*table, root);
        }
    } else {
      launch(root, root);
    }
    if (errors_.has_errors()) return failure(std::move(errors_));
    return std::move(plan_);
  }

private:
  void error(const toml::source_region& source, std::string message, std::string hint = {}) {
    const Origin origin = origin_of(source);
    Diagnostics one;
    one.error(origin.where, std::move(message), std::move(hint));
    one.in_file(origin.file);
    errors_.append(std::move(one));
  }
  void wrong(const toml::node& node, std::string_view key, std::string_view expected) {
    error(node.source(), fmt::format("'{}' is {}: expected {}", key, kind_of(node), expected));
  }

  void known(const toml::table& table, const std::vector<std::string_view>& keys) {
    for (const auto& [key, node] : table) {
      if (std::find(keys.begin(), keys.end(), key.str()) != keys.end()) continue;
      const std::string near = closest(key.str(), keys);
      // Keys of overrides have no source position.
      error(key.source().path ? key.source() : node.source(), fmt::format("unknown key '{}'", key.str()),
            near.empty() ? fmt::format("keys: {}", fmt::join(keys, ", ")) : fmt::format("did you mean '{}'?", near));
    }
  }

  std::string text(const toml::node& node, std::string_view key) {
    if (const auto* value = node.as_string()) return value->get();
    wrong(node, key, "a string");
    return {};
  }
  std::filesystem::path path(const toml::node& node, std::string_view key) {
    const std::string name = text(node, key);
    if (name.empty() && node.is_string()) error(node.source(), fmt::format("'{}' is empty", key));
    return folder_ / name;
  }
  std::optional<std::filesystem::path> save(const toml::node& node) {
    const std::string name = text(node, "save");
    if (name.empty() && node.is_string()) error(node.source(), "'save' is empty");
    if (name.empty()) return std::nullopt;
    SavePolicy policy = saves_;
    const std::string from = origin_of(node.source()).file; // empty for an override that is not TOML
    policy.anywhere |= from.empty() || from.starts_with(kOverride);
    const Expected<std::filesystem::path> file = save_path(folder_, name, policy);
    if (file) return *file;
    error(node.source(), file.error().list().front().message, file.error().list().front().hint);
    return std::nullopt;
  }
  // A device file beside the launch file, else a name.
  std::string device_name(const toml::node& node) {
    const std::string name = text(node, "device");
    std::error_code ignored;
    return name.ends_with(".toml") && std::filesystem::exists(folder_ / name, ignored) ? (folder_ / name).string()
                                                                                       : name;
  }
  std::uint64_t natural(const toml::node& node, std::string_view key) {
    const auto* value = node.as_integer();
    if (value == nullptr)
      wrong(node, key, "an integer");
    else if (value->get() < 0)
      error(node.source(), fmt::format("'{}' is {}: expected 0 or more", key, value->get()));
    else
      return static_cast<std::uint64_t>(value->get());
    return 0;
  }
  Number number(const toml::node& node, std::string_view key) {
    if (const auto* integer = node.as_integer()) return integer->get();
    if (const auto* real = node.as_floating_point()) return real->get();
    wrong(node, key, "a number");
    return std::int64_t{0};
  }

  Extent extent(const toml::node& node, std::string_view key) {
    Extent e{1, 1, 1};
    const toml::array* list = node.as_array();
    if (list == nullptr) {
      e[0] = natural(node, key);
    } else if (list->empty() || list->size() > 3) {
      error(node.source(), fmt::format("'{}' has {} extents: expected 1 to 3", key, list->size()));
    } else {
      for (std::size_t i = 0; i < list->size(); ++i) e[i] = natural(*list->get(i), key);
    }
    return e;
  }

  void launch(const toml::table& table, const toml::table& root) {
    LaunchPlan l;
    l.origin = origin_of(table.source());
    const auto find = [&](std::string_view key) {
      const toml::node* own = table.get(key);
      return own != nullptr ? own : root.get(key);
    };
    const auto needed = [&](std::string_view key) {
      const toml::node* node = find(key);
      if (node == nullptr) error(table.source(), fmt::format("missing key '{}'", key));
      return node;
    };
    if (const toml::node* node = needed("module")) modules(*node, l);
    if (const toml::node* node = needed("kernel")) {
      l.kernel = text(*node, "kernel");
      l.origin = origin_of(node->source());
    }
    grid(table, root, l);
    if (const toml::node* node = needed("block")) l.block = extent(*node, "block");
    if (l.total) l.grid = blocks_for(*l.total, l.block);
    if (const toml::node* node = find("cluster")) l.cluster = extent(*node, "cluster");
    if (const toml::node* node = find("shared")) l.shared = natural(*node, "shared");
    if (const toml::node* node = find("shared_per_thread")) l.shared_per_thread = natural(*node, "shared_per_thread");
    if (const toml::node* node = find("registers")) l.registers = registers(*node);
    if (const toml::node* node = find("cooperative")) {
      if (!node->is_boolean()) wrong(*node, "cooperative", "true or false");
      l.cooperative = node->value_or(false);
    }
    if (const toml::node* node = find("arg")) arguments(*node, l);
    plan_.launches.push_back(std::move(l));
  }

  // Blocks, or threads of the grid; a [[launch]] table that gives one of them does not inherit the other.
  void grid(const toml::table& table, const toml::table& root, LaunchPlan& l) {
    const bool own = table.contains("grid") || table.contains("total");
    const toml::table& from = own ? table : root;
    const toml::node *blocks = from.get("grid"), *threads = from.get("total");
    if (blocks == nullptr && threads == nullptr) return error(table.source(), "missing key 'grid'");
    if (blocks != nullptr && threads != nullptr)
      return error(threads->source(), "'total' and 'grid' are both given: expected one of them");
    if (blocks != nullptr)
      l.grid = extent(*blocks, "grid");
    else
      l.total = extent(*threads, "total");
  }

  // Per thread: at least one, at most the maximum of all devices.
  std::uint32_t registers(const toml::node& node) {
    constexpr std::uint64_t kMost = 255;
    const std::uint64_t value = natural(node, "registers");
    if (node.is_integer() && (value < 1 || value > kMost))
      error(node.source(), fmt::format("'registers' is {}: expected 1 to {} per thread", value, kMost));
    return static_cast<std::uint32_t>(std::min(value, kMost));
  }

  // One PTX file, or several files to link.
  void modules(const toml::node& node, LaunchPlan& l) {
    const toml::array* list = node.as_array();
    if (list == nullptr) {
      l.module = path(node, "module");
      return;
    }
    if (list->empty()) return error(node.source(), "'module' is empty: expected at least one file");
    l.module = path(*list->get(0), "module");
    for (std::size_t i = 1; i < list->size(); ++i) l.libraries.push_back(path(*list->get(i), "module"));
  }

  void arguments(const toml::node& node, LaunchPlan& l) {
    const toml::array* list = node.as_array();
    if (list == nullptr) return wrong(node, "arg", "an array of tables such as { u32 = 5 }");
    for (const toml::node& element : *list) {
      const toml::table* table = element.as_table();
      if (table == nullptr || table->size() != 1) {
        error(element.source(), "an argument is a table with one key: { u32 = 5 } or { buffer = \"x\" }");
        continue;
      }
      const toml::key& key = table->cbegin()->first;
      const toml::node& value = table->cbegin()->second;
      const Origin origin = origin_of(value.source());
      if (key.str() == "buffer") {
        l.arguments.push_back({text(value, "buffer"), origin});
        continue;
      }
      if (key.str() == "tensor_map") {
        l.arguments.push_back({TensorMapName{text(value, "tensor_map")}, origin});
        continue;
      }
      using Kind = exec::BoundTexture::Kind;
      constexpr std::pair<std::string_view, Kind> kHandles[] = {
          {"texture", Kind::texture}, {"surface", Kind::surface}, {"sampler", Kind::sampler}};
      const auto* const handle =
          std::find_if(std::begin(kHandles), std::end(kHandles), [&](const auto& h) { return h.first == key.str(); });
      if (handle != std::end(kHandles)) {
        l.arguments.push_back({HandlePlan{handle->second, text(value, key.str())}, origin});
        continue;
      }
      const Expected<Type> type = value_type_named(key.str());
      if (!type)
        error(key.source(), type.error().list().front().message, type.error().list().front().hint);
      else
        l.arguments.push_back({ScalarPlan{*type, checked(*type, value, key.str())}, origin});
    }
  }

  // A number that the type can represent.
  Number checked(Type type, const toml::node& node, std::string_view key) {
    const Number value = number(node, key);
    if (!node.is_number()) return value;
    if (const auto bytes = encode(type, value); !bytes) error(node.source(), bytes.error().list().front().message);
    return value;
  }

  // Reads the tables [kind.x].
  template <class Plans, class Each>
  void tables(const toml::table& root, std::string_view kind, Plans& plans, Each&& each) {
    const toml::node* node = root.get(kind);
    if (node == nullptr) return;
    const toml::table* table = node->as_table();
    if (table == nullptr) return wrong(*node, kind, fmt::format("tables such as [{}.x]", kind));
    for (const auto& [key, value] : *table) {
      const toml::table* content = value.as_table();
      if (content == nullptr)
        wrong(value, fmt::format("{}.{}", kind, key.str()), "a table");
      else
        each(std::string(key.str()), *content);
    }
    // TOML tables are unordered; buffers are allocated in the order of the text.
    std::stable_sort(plans.begin(), plans.end(), [](const auto& a, const auto& b) {
      return a.origin.file == b.origin.file && a.origin.where.line < b.origin.where.line;
    });
  }

  void buffer(std::string name, const toml::table& table) {
    known(table, {"type", "count", "zeros", "fill", "iota", "random", "seed", "file", "save", "expect", "tolerance"});
    BufferPlan b;
    b.name = std::move(name);
    b.origin = origin_of(table.source());
    const toml::node* type = table.get("type");
    if (type == nullptr) return error(table.source(), fmt::format("buffer '{}': missing key 'type'", b.name));
    const Expected<Type> named = value_type_named(text(*type, "type"));
    if (!named) return error(type->source(), named.error().list().front().message, named.error().list().front().hint);
    b.type = *named;
    if (const toml::node* count = table.get("count")) b.count = natural(*count, "count");
    initial(table, b);
    if (const toml::node* save = table.get("save")) b.save = this->save(*save);
    if (const toml::node* expect = table.get("expect")) b.expect = path(*expect, "expect");
    if (const toml::node* tolerance = table.get("tolerance")) {
      const Number value = number(*tolerance, "tolerance");
      b.tolerance = std::visit([](auto v) { return static_cast<double>(v); }, value);
      if (!(b.tolerance >= 0)) error(tolerance->source(), "'tolerance' is negative: expected 0 or more");
      if (!b.expect) error(tolerance->source(), "'tolerance' without 'expect'");
    }
    plan_.buffers.push_back(std::move(b));
  }

  void initial(const toml::table& table, BufferPlan& b) {
    int given = 0;
    const auto take = [&](std::string_view key, Initial::Kind kind) -> const toml::node* {
      const toml::node* node = table.get(key);
      if (node == nullptr) return nullptr;
      ++given;
      b.initial.kind = kind;
      return node;
    };
    if (const toml::node* node = take("zeros", Initial::Kind::zeros))
      if (node->value<bool>() != true) wrong(*node, "zeros", "true");
    if (const toml::node* node = take("fill", Initial::Kind::fill)) b.initial.first = checked(b.type, *node, "fill");
    if (const toml::node* node = take("iota", Initial::Kind::iota)) pair(*node, "iota", b, "[start, step]");
    if (const toml::node* node = take("random", Initial::Kind::random)) {
      pair(*node, "random", b, "[low, high]");
      const auto value = [](const Number& n) { return std::visit([](auto v) { return static_cast<double>(v); }, n); };
      if (!(value(b.initial.first) <= value(b.initial.second))) error(node->source(), "'random': low is above high");
    }
    if (const toml::node* node = take("file", Initial::Kind::file)) b.initial.file = path(*node, "file");
    if (given != 1)
      error(table.source(),
            fmt::format("buffer '{}' has {} initial values: expected one of zeros, fill, iota, random, file", b.name,
                        given == 0 ? "no" : "several"));
    if (!b.count && b.initial.kind != Initial::Kind::file)
      error(table.source(), fmt::format("buffer '{}': missing key 'count'", b.name));
    if (const toml::node* seed = table.get("seed")) {
      b.initial.seed = natural(*seed, "seed");
      if (b.initial.kind != Initial::Kind::random) error(seed->source(), "'seed' without 'random'");
    }
  }

  void pair(const toml::node& node, std::string_view key, BufferPlan& b, std::string_view expected) {
    const toml::array* list = node.as_array();
    if (list == nullptr || list->size() != 2) return wrong(node, key, expected);
    b.initial.first = checked(b.type, *list->get(0), key);
    b.initial.second = checked(b.type, *list->get(1), key);
  }

  void map(const std::string& name, const toml::table& table) {
    known(table, {tensor_map_keys().begin(), tensor_map_keys().end()});
    plan_.tensor_maps.push_back(
        read_tensor_map(table, name, [this](const auto& source, const std::string& why) { error(source, why); }));
    plan_.tensor_maps.back().origin = origin_of(table.source());
  }

  // [texture.x] describes the view of a buffer and its sampling; [sampler.x] only the sampling.
  void texture(std::string_view kind, std::string name, const toml::table& table) {
    const bool image = kind == "texture";
    if (image)
      known(table, {"buffer",     "size",  "channels", "type",       "layers", "cube",    "levels",
                    "samples",    "pitch", "memory",   "fractions",  "depth",  "address", "filter",
                    "normalized", "read",  "border",   "mip_filter", "lod",    "bias",    "srgb"});
    else
      known(table, {"address", "filter", "normalized", "border", "mip_filter", "lod", "bias"});
    TexturePlan t;
    t.name = std::move(name);
    t.origin = origin_of(table.source());
    if (image) this->image(table, t);
    sampler(table, t.sampler);
    const bool taken = std::any_of(plan_.textures.begin(), plan_.textures.end(),
                                   [&](const TexturePlan& other) { return other.name == t.name; });
    if (taken) error(table.source(), fmt::format("texture and sampler '{}' have the same name", t.name));
    plan_.textures.push_back(std::move(t));
  }

  void image(const toml::table& table, TexturePlan& t) {
    for (const std::string_view key : {"buffer", "size"})
      if (table.get(key) == nullptr) error(table.source(), fmt::format("texture '{}': missing key '{}'", t.name, key));
    if (const toml::node* node = table.get("buffer")) t.buffer = text(*node, "buffer");
    if (const toml::node* node = table.get("size")) {
      const Extent size = extent(*node, "size");
      t.image.dimensions = static_cast<std::uint8_t>(node->is_array() ? node->as_array()->size() : 1);
      t.image.width = small(*node, "size", size[0]);
      t.image.height = small(*node, "size", size[1]);
      t.image.depth = small(*node, "size", size[2]);
    }
    if (const toml::node* node = table.get("type")) {
      const Expected<Type> type = value_type_named(text(*node, "type"));
      if (!type) return error(node->source(), type.error().list().front().message);
      t.type = *type;
    }
    const auto take = [&](std::string_view key, std::uint32_t& value) {
      const toml::node* node = table.get(key);
      if (node != nullptr) value = small(*node, key, natural(*node, key));
      return node != nullptr;
    };
    take("channels", t.image.channels);
    take("levels", t.image.levels);
    take("samples", t.image.samples);
    t.image.layered = take("layers", t.image.layers);
    if (const toml::node* node = table.get("pitch")) t.image.pitch = natural(*node, "pitch");
    t.image.cube = flag(table, "cube");
    t.image.memory = flag(table, "memory");
    t.image.depths = flag(table, "depth");
    t.image.normalized = flag(table, "fractions");
  }

  void sampler(const toml::table& table, exec::Sampler& s) {
    if (const toml::node* node = table.get("address")) addressing(*node, s);
    s.linear = chosen(table, "filter", "point", "linear");
    s.linear_levels = chosen(table, "mip_filter", "point", "linear");
    s.read_normalized = chosen(table, "read", "element", "normalized_float");
    s.normalized = flag(table, "normalized");
    s.srgb = flag(table, "srgb");
    if (const toml::node* node = table.get("bias")) s.level_bias = real(*node, "bias");
    if (const toml::node* node = table.get("lod")) {
      const toml::array* list = node->as_array();
      if (list == nullptr || list->size() != 2) return wrong(*node, "lod", "[lowest, highest]");
      s.lowest_level = real(*list->get(0), "lod");
      s.highest_level = real(*list->get(1), "lod");
    }
    if (const toml::node* node = table.get("border")) {
      const toml::array* list = node->as_array();
      if (list == nullptr || list->size() != 4) return wrong(*node, "border", "four numbers");
      for (std::size_t i = 0; i < 4; ++i) s.border[i] = real(*list->get(i), "border");
    }
  }

  // One mode for all axes, or one for each.
  void addressing(const toml::node& node, exec::Sampler& s) {
    constexpr std::string_view kNames[] = {"wrap", "clamp", "mirror", "border"}; // as exec::Addressing
    const toml::array* list = node.as_array();
    if (list != nullptr && list->size() > 3) return wrong(node, "address", "up to three modes");
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const toml::node* const one = list == nullptr ? &node : list->get(axis);
      if (one == nullptr) continue;
      const std::string name = text(*one, "address");
      const auto* const found = std::find(std::begin(kNames), std::end(kNames), name);
      if (found != std::end(kNames))
        s.addressing[axis] = static_cast<exec::Addressing>(found - std::begin(kNames));
      else if (one->is_string())
        error(one->source(), fmt::format("unknown mode '{}': expected {}", name, fmt::join(kNames, ", ")));
    }
  }

  // True if the value is the second of two words.
  bool chosen(const toml::table& table, std::string_view key, std::string_view first, std::string_view second) {
    const toml::node* const node = table.get(key);
    if (node == nullptr) return false;
    const std::string word = text(*node, key);
    if (word != first && word != second && node->is_string())
      error(node->source(), fmt::format("'{}' is '{}': expected {} or {}", key, word, first, second));
    return word == second;
  }
  bool flag(const toml::table& table, std::string_view key) {
    const toml::node* const node = table.get(key);
    if (node != nullptr && !node->is_boolean()) wrong(*node, key, "true or false");
    return node != nullptr && node->value<bool>().value_or(false);
  }
  float real(const toml::node& node, std::string_view key) {
    return std::visit([](auto v) { return static_cast<float>(v); }, number(node, key));
  }
  std::uint32_t small(const toml::node& node, std::string_view key, std::uint64_t value) {
    if (value > 0xffff'ffffu) error(node.source(), fmt::format("'{}' is too large: {}", key, value));
    return static_cast<std::uint32_t>(value);
  }

  std::filesystem::path folder_;
  const SavePolicy& saves_;
  Plan plan_;
  Diagnostics errors_;
};

} // namespace

Expected<Plan> parse_launch_file(std::string_view text, const std::filesystem::path& file,
                                 std::span<const Override> overrides, const SavePolicy& saves) {
  Diagnostics errors;
  std::optional<toml::table> root = parse_toml(text, file.string(), errors);
  if (!root) {
    errors.in_file(file.string());
    return failure(std::move(errors));
  }
  for (const Override& change : overrides)
    if (const Expected<void> applied = apply_override(*root, change); !applied) return failure(applied.error());
  return Reader(file.parent_path(), saves).read(*root);
}

Expected<Plan> read_launch_file(const std::filesystem::path& file, std::span<const Override> overrides,
                                const SavePolicy& saves) {
  const Expected<std::string> text = read_file(file, limits::kSettingsBytes);
  if (!text) return failure(text.error());
  return parse_launch_file(*text, file, overrides, saves);
}

} // namespace warplens::api
