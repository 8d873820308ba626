#pragma once

#include <random>
#include <string>
#include <vector>

namespace tessera::testing {

/// What random queries know of tables: names, and which kind of values stand there. Each generator
/// has kinds of its own.
template <class Kind>
struct ColumnName {
  std::string name;
  Kind kind;
};

template <class Kind>
struct TableName {
  std::string name;
  std::vector<ColumnName<Kind>> columns;
};

template <class Kind>
std::vector<std::string> names_of(Kind kind, const std::vector<ColumnName<Kind>>& columns) {
  std::vector<std::string> names;
  for (const ColumnName<Kind>& column : columns)
    if (column.kind == kind) names.push_back(column.name);
  return names;
}

/// Choices that are the same on every machine, which the standard's distributions are not.
class Choices {
 public:
  explicit Choices(std::mt19937& chance) : chance_(chance) {}

  int below(int count) { return static_cast<int>(chance_() % static_cast<unsigned>(count)); }
  template <class T>
  const T& one_of(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(below(static_cast<int>(list.size())))];
  }

 private:
  std::mt19937& chance_;
};

}  // namespace tessera::testing
