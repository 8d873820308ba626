#pragma once

#include "query/versions/version_rule.h"

namespace tessera::query {

/// What is known of a column of a rule: of one that nobody has computed, perhaps only the name.
struct RuleColumn {
  std::string name;
  std::optional<Type> type = {};
};
using RuleColumns = std::vector<RuleColumn>;

/// The columns as the rule's head says them, or else the names in its SELECT; none if neither
/// tells.
std::optional<RuleColumns> columns_told(const VersionRule& rule);
RuleColumns columns_of(const Schema& schema);

/// All versions of a table have columns of the same names, and of types that fit: numbers, truth
/// values, texts, or tensors with as many dimensions. Extents may differ, as those of weights do
/// from layer to layer. TypeError with both rules if they do not agree.
void refuse_disagreement(const VersionRule& first, const RuleColumns& columns_of_first,
                         const VersionRule& second, const RuleColumns& columns_of_second,
                         Location location);

}  // namespace tessera::query
