#include <sstream>

#include "base/bytes.h"
#include "base/check.h"
#include "base/names_text.h"
#include "optimizer/passes.h"
#include "query/rows/text_value.h"
#include "session/pipeline.h"
#include "session/state.h"
#include "tessera/cluster.h"

namespace tessera {

using lang::fail_type;

namespace {

struct Setting {
  const char* name;
  const char* description;
  std::string (*get)(const SessionOptions&);
  /// Takes a value, or sees that it is none. Null: what it is when the session begins, it stays.
  bool (*set)(SessionOptions&, const query::Cell&);
  void (*copy)(SessionOptions& to, const SessionOptions& from);
};

bool is_integer(const query::Cell& value) {
  return !value.is_null() && !value.is_text() && value.type() == TileType{DType::i64, {}};
}

bool set_count(const query::Cell& value, std::int64_t least, std::int64_t most, int& into) {
  if (!is_integer(value)) return false;
  TESSERA_REQUIRE(TypeError, value.integer() >= least && value.integer() <= most,
                  "{} is out of range; expected {} to {}", value.integer(), least, most);
  into = static_cast<int>(value.integer());
  return true;
}

bool set_truth(const query::Cell& value, bool& into) {
  if (value.is_null()) return false;
  if (value.is_text()) {
    const bool on = query::same_name(value.text(), "on"),
               off = query::same_name(value.text(), "off");
    if (on || off) into = on;
    return on || off;
  }
  if (value.type() != TileType{DType::boolean, {}}) return false;
  into = value.truth();
  return true;
}

bool is_number(const query::Cell& value) {
  return !value.is_null() && !value.is_text() && value.type().shape.rank() == 0 &&
         value.type().dtype != DType::boolean;
}

/// The names in "a, b".
std::set<std::string> names_in(const std::string& text) {
  std::set<std::string> names;
  std::istringstream rest(text);
  for (std::string name; std::getline(rest, name, ',');) {
    const auto first = name.find_first_not_of(' ');
    if (first != std::string::npos)
      names.insert(name.substr(first, name.find_last_not_of(' ') + 1 - first));
  }
  return names;
}

const Setting all_settings[] = {
    {"memory_limit", "memory limit of a statement, such as '2GB'",
     [](const SessionOptions& o) {
       return o.run.memory_limit == 0 ? std::string("default") : bytes_text(o.run.memory_limit);
     },
     [](SessionOptions& o, const query::Cell& value) {
       if (!is_integer(value) && (value.is_null() || !value.is_text())) return false;
       o.run.memory_limit = parse_memory_limit(query::text_of(value));
       return true;
     },
     [](SessionOptions& to, const SessionOptions& from) {
       to.run.memory_limit = from.run.memory_limit;
     }},
    {"threads", "number of threads; 0: all cores",
     [](const SessionOptions& o) { return std::to_string(o.run.threads); },
     [](SessionOptions& o, const query::Cell& value) {
       return set_count(value, 0, 4096, o.run.threads);
     },
     [](SessionOptions& to, const SessionOptions& from) { to.run.threads = from.run.threads; }},
    {"sites", "number of logical sites that plans are spread over",
     [](const SessionOptions& o) { return std::to_string(o.run.engine->sites(o.run)); },
     [](SessionOptions& o, const query::Cell& value) {
       if (!is_integer(value)) return false;
       const std::string refused = sites_refused(value.integer());
       TESSERA_REQUIRE(TypeError, refused.empty(), "{}", refused);
       o.run.sites = static_cast<int>(value.integer());
       return true;
     },
     [](SessionOptions& to, const SessionOptions& from) { to.run.sites = from.run.sites; }},
    {"optimizer", "optimize plans: on, off",
     [](const SessionOptions& o) { return std::string(o.run.optimize ? "on" : "off"); },
     [](SessionOptions& o, const query::Cell& value) { return set_truth(value, o.run.optimize); },
     [](SessionOptions& to, const SessionOptions& from) { to.run.optimize = from.run.optimize; }},
    {"disabled_optimizers", "rules and passes that are not used, as 'place, fuse'; '': none",
     [](const SessionOptions& o) {
       return o.run.disabled.empty() ? std::string("none")
                                     : fmt::format("{}", fmt::join(o.run.disabled, ", "));
     },
     [](SessionOptions& o, const query::Cell& value) {
       if (value.is_null() || !value.is_text()) return false;
       o.run.disabled = optimizer::as_known_rules(names_in(value.text()), session::pipeline());
       return true;
     },
     [](SessionOptions& to, const SessionOptions& from) { to.run.disabled = from.run.disabled; }},
    {"frame_size", "operators in a frame; larger plans are split into frames",
     [](const SessionOptions& o) {
       return o.frame_size == 0 ? std::string("default") : std::to_string(o.frame_size);
     },
     [](SessionOptions& o, const query::Cell& value) {
       return set_count(value, 1, 1'000'000'000, o.frame_size);
     },
     [](SessionOptions& to, const SessionOptions& from) { to.frame_size = from.frame_size; }},
    {"tile_size", "tile size in every dimension of tensors created without TILE",
     [](const SessionOptions& o) {
       return o.tile_size == 0 ? std::string("default") : std::to_string(o.tile_size);
     },
     [](SessionOptions& o, const query::Cell& value) {
       return set_count(value, 1, 1'000'000'000, o.tile_size);
     },
     [](SessionOptions& to, const SessionOptions& from) { to.tile_size = from.tile_size; }},
    {"lock_seconds", "seconds that a writing statement waits for another writer",
     [](const SessionOptions& o) { return fmt::format("{}", *o.lock_seconds); },
     [](SessionOptions& o, const query::Cell& value) {
       if (!is_number(value)) return false;
       TESSERA_REQUIRE(TypeError, value.number() >= 0,
                       "{} is out of range; expected at least 0 seconds", value.number());
       o.lock_seconds = value.number();
       return true;
     },
     [](SessionOptions& to, const SessionOptions& from) { to.lock_seconds = from.lock_seconds; }},
    {"cluster_timeout", "seconds without a message after which another process counts as lost",
     [](const SessionOptions& o) { return fmt::format("{}", cluster_timeout(o.run)); },
     [](SessionOptions& o, const query::Cell& value) {
       if (!is_number(value)) return false;
       TESSERA_REQUIRE(TypeError, value.number() > 0 && value.number() < 1e9,
                       "{} is out of range; expected more than 0 seconds", value.number());
       set_cluster_timeout(value.number(), o.run);
       return true;
     },
     [](SessionOptions& to, const SessionOptions&) { set_cluster_timeout(0, to.run); }},
    {"by_rows", "evaluate every operator row by row: on, off",
     [](const SessionOptions& o) { return std::string(o.by_rows ? "on" : "off"); },
     [](SessionOptions& o, const query::Cell& value) { return set_truth(value, o.by_rows); },
     [](SessionOptions& to, const SessionOptions& from) { to.by_rows = from.by_rows; }},
    {"external_access",
     "files and servers that statements may access: on, off, or a list of folders",
     [](const SessionOptions& o) { return o.external_access.to_string(); }, nullptr, nullptr},
};

std::vector<std::string> setting_names() {
  std::vector<std::string> names;
  for (const Setting& setting : all_settings) names.emplace_back(setting.name);
  return names;
}

}  // namespace

std::vector<std::vector<std::string>> Session::State::settings_text() const {
  std::vector<std::vector<std::string>> rows;
  for (const Setting& setting : all_settings)
    rows.push_back({setting.name, setting.get(options), setting.description});
  return rows;
}

StatementResult Session::State::set(const sql::Set& statement, lang::Location location) {
  if (!statement.value && query::same_name(statement.name, "all")) {
    for (const Setting& setting : all_settings)
      if (setting.copy != nullptr) setting.copy(options, defaults);
    database = database.with_lock_seconds(*options.lock_seconds);
    return {"SET", {}, "set all settings to their defaults"};
  }
  for (const Setting& setting : all_settings) {
    if (!query::same_name(setting.name, statement.name)) continue;
    if (setting.set == nullptr)
      fail_type(
          location,
          "setting \"{}\" cannot be changed in a running session; start a new session with it",
          setting.name);
    if (!statement.value) {
      setting.copy(options, defaults);
    } else {
      // A word that is no constant stands for itself: SET optimizer = off.
      const auto* word = std::get_if<sql::Name>(&statement.value->node);
      query::Cell value;
      if (word != nullptr && word->table.empty())
        value = query::Cell(word->column);
      else
        value = query::evaluate(*query::bind_constant(*statement.value, {}), {}, {});
      const bool taken =
          lang::at_location(statement.value->location, [&] { return setting.set(options, value); });
      if (!taken)
        fail_type(statement.value->location, "invalid value '{}' for setting \"{}\" ({})",
                  query::text_of(value), setting.name, setting.description);
    }
    database = database.with_lock_seconds(*options.lock_seconds);
    return {"SET", {}, fmt::format("set {} to {}", setting.name, setting.get(options))};
  }
  fail_type(location, "setting \"{}\" not found; {}", statement.name,
            instead_of(statement.name, setting_names()));
}

}  // namespace tessera
