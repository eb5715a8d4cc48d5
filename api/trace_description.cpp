#include "api/trace_description.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstring>

namespace warplens::api {

namespace {

using Json = nlohmann::ordered_json;

// PTX and what a kernel prints may hold bytes that are no UTF-8: such a text is a list of its bytes.
Json text_of(const std::string& text) {
  try {
    static_cast<void>(Json(text).dump());
    return text;
  } catch (const Json::exception&) {
    Json bytes = Json::array();
    for (const char c : text) bytes.push_back(static_cast<unsigned char>(c));
    return bytes;
  }
}

std::string text_from(const Json& json) {
  if (json.is_string()) return json.get<std::string>();
  std::string text;
  for (const Json& byte : json) text += static_cast<char>(byte.get<unsigned char>());
  return text;
}

Json filter_of(const TraceFilter& f) {
  return {{"first_block", f.first_block}, {"last_block", f.last_block}, {"every", f.every}, {"lines", f.lines}};
}

TraceFilter filter_from(const Json& json) {
  TraceFilter f;
  f.first_block = json.at("first_block").get<std::uint64_t>();
  f.last_block = json.at("last_block").get<std::uint64_t>();
  f.every = json.at("every").get<std::uint64_t>();
  f.lines = json.at("lines").get<std::vector<std::uint32_t>>();
  return f;
}

std::vector<Source> sources_from(const Json& json) {
  std::vector<Source> sources;
  for (const Json& s : json) sources.push_back({text_from(s.at("text")), text_from(s.at("file"))});
  return sources;
}

Expected<model::Device> device_from(const Json& json) {
  if (json.contains("device_file")) return model::load_device(text_from(json["device_file"]), "the trace's device");
  return model::find_device(json.at("device").get<std::string>());
}

/// Reads the descriptions in order, as later ones may refer to the module of an earlier one.
class DescriptionReader {
public:
  explicit DescriptionReader(const analyzers::trace::Reader& reader) : reader_(reader) {}

  Expected<std::vector<TracedLaunch>> run() {
    Expected<std::shared_ptr<Context>> context = Context::create();
    if (!context) return failure(context.error());
    context_ = std::move(*context);
    for (const analyzers::trace::Launch& launch : reader_.launches()) {
      try {
        Expected<TracedLaunch> one = read(launch);
        if (!one) return failure(one.error());
        launches_.push_back(std::move(*one));
      } catch (const Json::exception& e) {
        return failure(
            fmt::format("the trace '{}' is damaged: launch {}: {}", reader_.name(), launches_.size(), e.what()));
      }
    }
    return std::move(launches_);
  }

private:
  Expected<TracedLaunch> read(const analyzers::trace::Launch& launch) {
    const Json json = Json::parse(launch.description);
    const Expected<std::shared_ptr<Module>> module = module_of(json);
    if (!module) return failure(module.error());
    Expected<Kernel> kernel = (*module)->kernel(json.at("kernel").get<std::string>());
    if (!kernel) return failure(kernel.error());
    Expected<model::Device> device = device_from(json);
    if (!device) return failure(device.error());
    TracedLaunch result;
    LaunchRequest& r = result.request;
    r.kernel = std::move(*kernel);
    r.grid = json.at("grid").get<Extent>();
    r.block = json.at("block").get<Extent>();
    if (!json.at("cluster").is_null()) r.cluster = json["cluster"].get<Extent>();
    r.dynamic_shared_bytes = json.at("dynamic_shared_bytes").get<std::uint64_t>();
    r.cooperative = json.at("cooperative").get<bool>();
    if (!json.at("registers").is_null()) r.registers = json["registers"].get<std::uint32_t>();
    r.launched_by = json.value("launched_by", std::string()); // older traces do not say
    r.device = std::move(*device);
    // Nobody reads what the arguments hold: they have the right size, and point to as much memory as they did.
    for (const auto& p : r.kernel.function->params)
      r.arguments.push_back(Argument::raw(std::vector<std::byte>(p.size)));
    result.filter = filter_from(json.at("filter"));
    if (!launch.conclusion) return result;
    const Json conclusion = Json::parse(*launch.conclusion);
    conclude(conclusion, result);
    if (const auto bytes = conclusion.value("argument_bytes", std::uint64_t{0}); bytes > 0)
      if (const Expected<void> done = point_to(bytes, result); !done) return failure(done.error());
    return result;
  }

  Expected<void> point_to(std::uint64_t bytes, TracedLaunch& result) {
    auto buffer = Buffer::allocate(context_, bytes, "arguments");
    if (!buffer) return failure(buffer.error());
    const std::uint64_t address = (*buffer)->address();
    for (Argument& a : result.request.arguments) {
      if (a.bytes.size() < sizeof address) continue;
      std::memcpy(a.bytes.data(), &address, sizeof address);
      break;
    }
    result.pointed_to = std::move(*buffer);
    return {};
  }

  static void conclude(const Json& json, TracedLaunch& result) {
    result.complete = true;
    result.printed = text_from(json.at("printed"));
    if (json.at("trap").is_null()) return;
    Diagnostic trap;
    trap.message = text_from(json["trap"].at("message"));
    trap.hint = text_from(json["trap"].at("hint"));
    trap.file = text_from(json["trap"].at("file"));
    trap.where = {json["trap"].at("line").get<std::uint32_t>(), json["trap"].at("column").get<std::uint32_t>()};
    result.trap = std::move(trap);
  }

  Expected<std::shared_ptr<Module>> module_of(const Json& json) {
    if (json.contains("sources")) return Module::load(context_, sources_from(json["sources"]));
    const auto launch = json.at("same_module_as").get<std::size_t>();
    if (launch >= launches_.size())
      return failure(fmt::format("the trace '{}' is damaged: the module of a launch is missing", reader_.name()));
    return launches_[launch].request.kernel.module;
  }

  const analyzers::trace::Reader& reader_;
  std::shared_ptr<Context> context_;
  std::vector<TracedLaunch> launches_;
};

} // namespace

std::string describe_launch(const LaunchRequest& request, const TraceFilter& filter, const std::string& device_text,
                            std::optional<std::size_t> same_module) {
  Json json = {{"kernel", request.kernel.function->name},
               {"grid", request.grid},
               {"block", request.block},
               {"cluster", request.cluster ? Json(*request.cluster) : Json()},
               {"dynamic_shared_bytes", request.dynamic_shared_bytes},
               {"cooperative", request.cooperative},
               {"registers", request.registers ? Json(*request.registers) : Json()},
               {"launched_by", request.launched_by},
               {"device", request.device.id},
               {"filter", filter_of(filter)}};
  if (!device_text.empty()) json["device_file"] = text_of(device_text);
  if (same_module) {
    json["same_module_as"] = *same_module;
  } else {
    json["sources"] = Json::array();
    for (const Source& s : request.kernel.module->sources())
      json["sources"].push_back({{"file", text_of(s.file)}, {"text", text_of(s.text)}});
  }
  return json.dump(1);
}

std::string describe_end(const LaunchReport& report) {
  Json json = {{"printed", text_of(report.printed)},
               {"trap", nullptr},
               {"argument_bytes", static_cast<std::uint64_t>(report.statistics.argument_bytes.value_or(0))}};
  if (report.trap)
    json["trap"] = {{"message", text_of(report.trap->message)},
                    {"hint", text_of(report.trap->hint)},
                    {"file", text_of(report.trap->file)},
                    {"line", report.trap->where.line},
                    {"column", report.trap->where.column}};
  return json.dump(1);
}

Expected<std::vector<TracedLaunch>> read_launches(const analyzers::trace::Reader& reader) {
  return DescriptionReader(reader).run();
}

} // namespace warplens::api
