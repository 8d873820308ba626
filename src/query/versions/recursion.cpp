#include "query/versions/recursion.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "key/solver.h"
#include "query/binding/references.h"

namespace tessera::query {
namespace {

/// Versions of a rule: all of them, or those from some indices on.
struct Domain {
  const VersionRule* rule;
  std::string table;
  Indices first, last, least;  // that the path has come to
  Indices apart;               // divides how far they are from each other; 0: there is but one
  KeyPredicate within;

  bool grows(std::size_t p) const { return last[p] > first[p]; }

  /// Leaves those that are like what the path has come to: from its least index on, where it grows,
  /// by steps of its length, and of the same index, where that does not change.
  void narrow() {
    for (std::size_t p = 0; p < first.size(); ++p) {
      const KeyExpr from_least = key(static_cast<int>(p)) - KeyExpr(least[p]);
      if (apart[p] == 0)
        within = within && from_least == KeyExpr(0);
      else if (grows(p))
        within = within && from_least >= KeyExpr(0) && from_least % KeyExpr(apart[p]) == KeyExpr(0);
    }
  }
};

/// What the later half of the path has come to, a domain for each rule.
std::vector<Domain> domains_of(const Path& path) {
  std::vector<Domain> domains;
  for (std::size_t s = path.size() / 2; s < path.size(); ++s) {
    const Step& step = path[s];
    const auto known = std::find_if(domains.begin(), domains.end(),
                                    [&](const Domain& domain) { return domain.rule == step.rule; });
    if (known == domains.end()) {
      domains.push_back({step.rule, step.table, step.indices, step.indices, step.indices,
                         Indices(step.indices.size(), 0), step.rule->condition()});
      continue;
    }
    known->last = step.indices;
    for (std::size_t p = 0; p < step.indices.size(); ++p) {
      known->least[p] = std::min(known->least[p], step.indices[p]);
      known->apart[p] = std::gcd(known->apart[p], step.indices[p] - known->first[p]);
    }
  }
  return domains;
}

/// A version that is read, as functions of the indices of the one that reads it.
struct VersionRead {
  std::string table;
  std::vector<KeyExpr> indices;
};

/// What all versions of a rule read for certain. Of UNION t[i-2...i-1], that is not empty, these
/// are the first and the last.
std::vector<VersionRead> reads_of(const VersionRule& rule) {
  std::vector<VersionRead> reads;
  for (const sql::TableReference* reference : references_in(rule.query())) {
    const auto* named = std::get_if<sql::TableName>(&reference->source);
    const auto* united = std::get_if<sql::UnionOfVersions>(&reference->source);
    const std::string& table = named != nullptr ? named->name : united->name;
    const auto& ranges = named != nullptr ? named->indices : united->indices;
    VersionRead first{table, {}}, last{table, {}};
    for (const sql::IndexRange& range : ranges) {
      if (!range.variable.empty()) break;  // ranges inside it may be empty
      const auto from = rule.function_of_indices(*range.from);
      const auto to = range.to ? rule.function_of_indices(*range.to) : from;
      if (!from || !to) break;
      first.indices.push_back(*from);
      last.indices.push_back(*to);
    }
    if (ranges.empty() || first.indices.size() != ranges.size()) continue;
    reads.push_back(std::move(first));
    if (united != nullptr) reads.push_back(std::move(last));
  }
  return reads;
}

/// Whether each version of a domain reads one of the domains by the same reference.
bool stays_within(const Domain& domain, const std::vector<VersionRead>& reads,
                  const std::vector<Domain>& domains, KeySolver& solver) {
  constexpr std::int64_t limit = std::int64_t{1} << 40;
  return std::any_of(reads.begin(), reads.end(), [&](const VersionRead& read) {
    KeyQuery outside(solver);
    const KeyQuery::Point here = outside.unknown_point(
        Bounds(static_cast<std::size_t>(domain.rule->arity()), Interval{-limit, limit}));
    outside.require(outside.holds(domain.within, here));
    std::vector<KeyQuery::Term> indices;
    for (const KeyExpr& index : read.indices) indices.push_back(outside.value(index, here));
    const KeyQuery::Point there = outside.point(indices);
    bool may_stay = false;
    for (const Domain& target : domains) {
      if (!same_name(target.table, read.table) ||
          std::cmp_not_equal(target.rule->arity(), read.indices.size()))
        continue;
      outside.require(outside.negation(outside.holds(target.within, there)));
      may_stay = true;
    }
    return may_stay && outside.satisfiable() == Answer::no;
  });
}

/// The largest set of these domains that nothing leads out of for certain.
std::vector<const VersionRule*> closed_among(std::vector<Domain> domains, KeySolver& solver) {
  std::map<const VersionRule*, std::vector<VersionRead>> reads;
  for (const Domain& domain : domains) reads[domain.rule] = reads_of(*domain.rule);
  for (;;) {
    const auto leaves = std::find_if(domains.begin(), domains.end(), [&](const Domain& domain) {
      return !stays_within(domain, reads[domain.rule], domains, solver);
    });
    if (leaves == domains.end()) break;
    domains.erase(leaves);
  }
  std::vector<const VersionRule*> rules;
  for (const Domain& domain : domains) rules.push_back(domain.rule);
  return rules;
}

}  // namespace

std::string path_text(const Path& path) {
  constexpr std::ptrdiff_t shown = 6;  // at either end
  const std::ptrdiff_t left_out = std::ssize(path) - 2 * shown;
  std::string text;
  for (std::ptrdiff_t s = 0; s < std::ssize(path); ++s) {
    if (left_out > 0 && s == shown) {
      text += fmt::format(" -> ({} more)", left_out);
      s += left_out;
    }
    text += (text.empty() ? "" : " -> ") + version_name(path[static_cast<std::size_t>(s)].table,
                                                        path[static_cast<std::size_t>(s)].indices);
  }
  return text;
}

std::vector<const VersionRule*> endless_rules(const Path& path) {
  std::vector<Domain> domains = domains_of(path);
  const auto grows = [](const Domain& domain) {
    for (std::size_t p = 0; p < domain.first.size(); ++p)
      if (domain.grows(p)) return true;
    return false;
  };
  if (std::none_of(domains.begin(), domains.end(), grows)) return {};
  KeySolver solver{std::chrono::seconds(1)};
  auto rules = closed_among(domains, solver);
  if (!rules.empty()) return rules;
  // Some versions of a rule may lead out, and those from here on not.
  for (Domain& domain : domains) domain.narrow();
  return closed_among(std::move(domains), solver);
}

}  // namespace tessera::query
