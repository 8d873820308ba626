#include "session/sources.h"

#include <xxhash.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

namespace tessera::session {
namespace {

using nlohmann::json;

/// Tells contents apart.
std::string contents_of(const query::Value& value) {
  if (!value.table) return "no rows";
  const auto* input = std::get_if<op::Input>(&operator_of(value.table->plan));
  return input == nullptr ? "" : fmt::format("{:016x}", input->facts.version);
}

json rules_of(const std::string& table, Catalogue& catalogue) {
  json hashes = json::array();
  if (const auto* rules = catalogue.rules(table))
    for (const query::VersionRule& rule : *rules)
      hashes.push_back(fmt::format("{:016x}", XXH3_64bits(rule.text().data(), rule.text().size())));
  return hashes;
}

json rules_of_all(const query::Unrolled& plan, Catalogue& catalogue) {
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

/// The first of the tables that is not as it was.
std::string changed_table(const json& sources, Catalogue& catalogue) {
  for (const auto& [name, contents] : sources.at("tables").items()) {
    const bool is_there = catalogue.materialised(name) || catalogue.kind(name);
    if (!is_there) return name + " is gone";
    if (contents_of(catalogue.value(name)) != contents) return name + " has changed";
  }
  return {};
}

}  // namespace

std::string sources_of_all(const query::Unrolled& plan, const std::vector<query::Value>& tables,
                           Catalogue& catalogue) {
  json read = json::object();
  for (std::size_t t = 0; t < tables.size(); ++t) read[plan.stored[t]] = contents_of(tables[t]);
  return json{{"tables", read}, {"rules", rules_of_all(plan, catalogue)}}.dump();
}

std::vector<std::string> sources_of_each(const query::Unrolled& plan,
                                         const std::vector<query::Value>& tables,
                                         Catalogue& catalogue) {
  const StoredBelow stored(plan);
  const json rules = rules_of_all(plan, catalogue);
  std::vector<std::string> sources;
  for (const int wanted : plan.wanted) {
    json read = json::object();
    for (const int t : stored.of(wanted)) read[plan.stored[t]] = contents_of(tables[t]);
    sources.push_back(json{{"tables", read}, {"rules", rules}}.dump());
  }
  return sources;
}

std::string why_outdated(const std::string& sources, Catalogue& catalogue) {
  if (sources.empty()) return {};
  const json read = json::parse(sources);
  if (std::string changed = changed_table(read, catalogue); !changed.empty()) return changed;
  for (const auto& [table, hashes] : read.at("rules").items()) {
    const json now = rules_of(table, catalogue);
    for (const json& hash : hashes)
      if (std::find(now.begin(), now.end(), hash) == now.end())
        return fmt::format("the rules of {} have changed", table);
  }
  // What was read of other stored versions is as old as they are.
  for (const auto& [name, contents] : read.at("tables").items())
    if (catalogue.materialised(name))
      if (const std::string why = why_outdated(catalogue.table(name).sources, catalogue);
          !why.empty())
        return why;
  return {};
}

std::string why_job_is_outdated(const std::string& sources, Catalogue& catalogue) {
  if (sources.empty()) return {};
  const json read = json::parse(sources);
  if (std::string changed = changed_table(read, catalogue); !changed.empty()) return changed;
  for (const auto& [table, hashes] : read.at("rules").items())
    if (rules_of(table, catalogue) != hashes)
      return fmt::format("the rules of {} have changed", table);
  return {};
}

}  // namespace tessera::session
