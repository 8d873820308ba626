#include "query/versions/referenced_tables.h"

#include <algorithm>

#include "query/binding/references.h"
#include "query/versions/version_range.h"

namespace tessera::query {

using lang::fail_type;

std::vector<std::vector<ReferencedTable>> ReferencedTables::read_by(
    const sql::Query& query, const std::vector<std::string>& names,
    const std::vector<std::int64_t>& values) {
  std::vector<std::vector<ReferencedTable>> read;
  for (const sql::TableReference* reference : references_of(query))
    read.push_back(lang::at_location(reference->location,
                                     [&] { return tables_of(*reference, names, values); }));
  return read;
}

const std::vector<ReferencedTable>* ReferencedTables::of(
    const sql::TableReference& reference, const sql::Query& query,
    const std::vector<std::vector<ReferencedTable>>& read) {
  const auto& list = references_of(query);
  const auto at = std::find(list.begin(), list.end(), &reference);
  return at == list.end() ? nullptr : &read[static_cast<std::size_t>(at - list.begin())];
}

std::vector<ReferencedTable> ReferencedTables::tables_of(const sql::TableReference& reference,
                                                         const std::vector<std::string>& names,
                                                         const std::vector<std::int64_t>& values) {
  const auto* named = std::get_if<sql::TableName>(&reference.source);
  const auto* united = std::get_if<sql::UnionOfVersions>(&reference.source);
  const std::string& name = named != nullptr ? named->name : united->name;
  const auto& ranges = named != nullptr ? named->indices : united->indices;
  if (ranges.empty()) return {{-1, {}, name, reference.location}};
  const std::vector<VersionRule>* rules = definitions_.rules(name);
  if (rules == nullptr && (definitions_.stored(name) || definitions_.view(name)))
    fail_type(reference.location, "\"{}\" has no versions; omit the index",
              definitions_.exact_name(name));
  if (rules == nullptr)
    fail_type(reference.location, "versioned table \"{}\" not found; {}", name,
              definitions_.instead_of(name));
  const std::string& table = rules->front().table();
  const std::size_t arity = static_cast<std::size_t>(rules->front().arity());
  if (ranges.size() != arity)
    fail_type(reference.location, "wrong number of indices for table \"{}\": expected {}, found {}",
              name, arity, ranges.size());
  std::vector<ReferencedTable> found;
  const int number = number_of(table);
  for_each_version(ranges, names, values, reads_, stop_, [&](const Indices& indices) {
    const auto stored = definitions_.materialised(version_name(table, indices));
    if (stored)
      found.push_back({-1, {}, *stored, reference.location});
    else
      found.push_back({number, indices, {}, reference.location});
  });
  if (found.empty())
    fail_type(reference.location, "the union of versions of \"{}\" is empty", name);
  return found;
}

const std::vector<const sql::TableReference*>& ReferencedTables::references_of(
    const sql::Query& query) {
  const auto found = references_.find(&query);
  if (found != references_.end()) return found->second;
  return references_[&query] = references_in(query);
}

int ReferencedTables::number_of(const std::string& table) {
  for (std::size_t t = 0; t < tables_.size(); ++t)
    if (same_name(tables_[t], table)) return static_cast<int>(t);
  tables_.push_back(table);
  return static_cast<int>(tables_.size()) - 1;
}

}  // namespace tessera::query
