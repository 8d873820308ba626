#include "session/sources.h"

#include <xxhash.h>

#include <algorithm>
#include <set>

#include "store/hidden_names.h"
#include "store/json_fields.h"

namespace tessera::session {
namespace {

using nlohmann::json;

/// Tells contents apart.
std::string contents_of(const query::Value& value) {
  if (!value.table) return "no rows";
  const auto* input = std::get_if<op::Input>(&operator_of(value.table->plan));
  return input == nullptr ? "" : fmt::format("{:016x}", input->facts.version);
}

json rules_of(const std::string& table, StoredDefinitions& catalogue) {
  json hashes = json::array();
  if (const auto* rules = catalogue.rules(table))
    for (const query::VersionRule& rule : *rules)
      hashes.push_back(fmt::format("{:016x}", XXH3_64bits(rule.text().data(), rule.text().size())));
  return hashes;
}

json rules_of_all(const query::Unrolled& plan, StoredDefinitions& catalogue) {
  json rules = json::object();
  for (const std::string& table : plan.tables) rules[table] = rules_of(table, catalogue);
  return rules;
}

/// For each instance the stored tables that it is computed of, as the number of a set. There are
/// few sets and many instances.
class StoredBelow {
 public:
  using Set = std::set<int>;

  explicit StoredBelow(const query::Unrolled& plan) {
    for (std::size_t k = 0; k < plan.instances.size(); ++k) {
      int all = number_of({});
      for (const int input : plan.instances[k].inputs)
        all =
            united(all, input < 0 ? number_of({-1 - input}) : of_[static_cast<std::size_t>(input)]);
      of_.push_back(all);
    }
  }
  const Set& of(int instance) const { return *sets_[of_[static_cast<std::size_t>(instance)]]; }

 private:
  int number_of(Set set) {
    const auto [known, is_new] = numbers_.emplace(std::move(set), static_cast<int>(sets_.size()));
    if (is_new) sets_.push_back(&known->first);
    return known->second;
  }
  int united(int a, int b) {
    if (a == b) return a;
    const auto known = unions_.find({a, b});
    if (known != unions_.end()) return known->second;
    Set both = *sets_[a];
    both.insert(sets_[b]->begin(), sets_[b]->end());
    return unions_[{a, b}] = number_of(std::move(both));
  }

  std::map<Set, int> numbers_;
  std::vector<const Set*> sets_;
  std::map<std::pair<int, int>, int> unions_;
  std::vector<int> of_;
};

/// What a text says that was made here: of tables and of rules, lists of texts by name.
json sources_in(const std::string& text, const std::string& whose) {
  return store::read_stored(whose, [&] {
    json read = json::parse(text);
    for (const char* of : {"tables", "rules"})
      for (const auto& [name, texts] : read.at(of).items())
        (void)texts.get<std::vector<std::string>>();
    return read;
  });
}

/// Adds what is not there yet to a list of texts, by name.
void merge(const json& from, json& into) {
  for (const auto& [name, texts] : from.items())
    for (const json& text : texts) {
      json& known = into[name];
      if (std::find(known.begin(), known.end(), text) == known.end()) known.push_back(text);
    }
}

}  // namespace

std::string sources_of_all(const query::Unrolled& plan, const std::vector<query::Value>& tables,
                           StoredDefinitions& catalogue) {
  json read = json::object();
  for (std::size_t t = 0; t < tables.size(); ++t)
    read[plan.stored[t]] = json::array({contents_of(tables[t])});
  return json{{"tables", read}, {"rules", rules_of_all(plan, catalogue)}}.dump();
}

std::vector<std::string> sources_of_each(const query::Unrolled& plan,
                                         const std::vector<query::Value>& tables,
                                         StoredDefinitions& catalogue) {
  const json rules = rules_of_all(plan, catalogue);
  std::vector<json> stored;  // the sources of each table
  for (std::size_t t = 0; t < tables.size(); ++t) {
    const std::string& name = plan.stored[t];
    const std::string below = is_version(name) ? catalogue.table(name).sources : "";
    if (!below.empty())
      stored.push_back(sources_in(below, name));
    else
      stored.push_back(
          {{"tables", {{name, json::array({contents_of(tables[t])})}}}, {"rules", json::object()}});
  }
  const StoredBelow below(plan);
  std::vector<std::string> sources;
  for (const int wanted : plan.wanted) {
    json all{{"tables", json::object()}, {"rules", rules}};
    for (const int t : below.of(wanted)) {
      merge(stored[t].at("tables"), all["tables"]);
      merge(stored[t].at("rules"), all["rules"]);
    }
    sources.push_back(all.dump());
  }
  return sources;
}

const std::optional<std::string>& SourceCheck::contents(const std::string& table) {
  const auto known = contents_.find(table);
  if (known != contents_.end()) return known->second;
  const auto kind = catalogue_.kind(table);
  const bool has_rows =
      kind ? *kind != StoredDefinitions::Kind::view && *kind != StoredDefinitions::Kind::versions
           : catalogue_.has_version(table);
  return contents_[table] =
             has_rows ? std::optional(contents_of(catalogue_.value(table))) : std::nullopt;
}

/// The first table that is not as it was.
std::string SourceCheck::changed_table(const std::string& sources) {
  const json read = sources_in(sources, "what a result was computed of");
  for (const auto& [table, then] : read.at("tables").items()) {
    const auto& now = contents(table);
    if (!now) return store::shown_name(table) + " was dropped";
    for (const json& one : then)
      if (one != *now) return store::shown_name(table) + " has changed";
  }
  return {};
}

std::string SourceCheck::why_outdated(const std::string& version) {
  const std::string sources = catalogue_.table(version).sources;
  if (sources.empty()) return {};
  if (std::string why = changed_table(sources); !why.empty()) return why;
  const json read = sources_in(sources, version);
  for (const auto& [table, hashes] : read.at("rules").items()) {
    const json now = rules_of(table, catalogue_);
    for (const json& hash : hashes)
      if (std::find(now.begin(), now.end(), hash) == now.end())
        return fmt::format("the rules of {} have changed", table);
  }
  return {};
}

std::string SourceCheck::why_job_is_outdated(const std::string& sources) {
  if (sources.empty()) return {};
  if (std::string why = changed_table(sources); !why.empty()) return why;
  const json read = sources_in(sources, "a job");
  for (const auto& [table, hashes] : read.at("rules").items())
    if (rules_of(table, catalogue_) != hashes)
      return fmt::format("the rules of {} have changed", table);
  return {};
}

}  // namespace tessera::session
