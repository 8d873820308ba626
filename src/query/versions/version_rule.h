#pragma once

#include "query/binding/binder.h"
#include "tessera/key.h"

namespace tessera::query {

/// The indices of a version, as t[50][3] has them.
using Indices = std::vector<std::int64_t>;
std::string version_name(const std::string& table,
                         std::span<const std::int64_t> indices);  // "t[50][3]"

/// One of the definitions of a versioned table: CREATE TABLE t[i:2...][j:1...i-1] (val) AS ...
class VersionRule {
 public:
  /// `text` is what was written. ErrorAt if an index is no function of those to its left.
  VersionRule(sql::CreateTable definition, std::string text);

  const std::string& table() const { return definition_.name; }
  const std::string& text() const { return text_; }
  const sql::Query& query() const { return *definition_.query; }
  const std::vector<sql::ColumnDefinition>& columns() const { return definition_.columns; }
  std::vector<std::string> column_names() const;
  int arity() const { return static_cast<int>(definition_.indices.size()); }
  /// The names of indices, which the query may use.
  const std::vector<std::string>& parameters() const { return parameters_; }
  std::string head() const;  // "t[i:2...][j:1...i-1]"

  /// The values of the parameters for a version; none if it is not this rule's.
  std::optional<std::vector<std::int64_t>> match(const Indices& indices) const;
  /// Which versions are this rule's, the indices being the components of a key.
  const KeyPredicate& condition() const { return condition_; }
  /// An expression that the parameters occur in as a function of such keys; none if it is more than
  /// these can be.
  std::optional<KeyExpr> function_of_indices(const sql::Expression& written) const;

 private:
  sql::CreateTable definition_;
  std::string text_;
  std::vector<std::string> parameters_;
  std::vector<int> positions_;  // of the parameters among the indices
  KeyPredicate condition_ = KeyPredicate::always();
};

/// The result of a rule's query under the names, and of the types, that its head says.
NodePtr with_columns(const VersionRule& rule, const NodePtr& root);

/// A version that both rules define; none if there is none.
std::optional<Indices> overlap(const VersionRule& a, const VersionRule& b);

}  // namespace tessera::query
