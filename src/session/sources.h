#pragma once

#include "session/stored_definitions.h"

namespace tessera::session {

/// What a result was computed of: the contents of stored tables, and rules. It is kept as a text
/// beside materialised versions and jobs, so that one can tell when it is not so any more.
/// Contents are told by checksums, so that only other contents are a change.

/// Of a statement: all that it reads, stored versions too.
std::string sources_of_all(const query::Unrolled& plan, const std::vector<query::Value>& tables,
                           StoredDefinitions& catalogue);
/// Of each result that is asked for. In the place of a stored version stands what that was computed
/// of: so it may go, and one that was outdated makes the result outdated.
std::vector<std::string> sources_of_each(const query::Unrolled& plan,
                                         const std::vector<query::Value>& tables,
                                         StoredDefinitions& catalogue);

/// Tells what is outdated. It looks at each table once.
class SourceCheck {
 public:
  explicit SourceCheck(StoredDefinitions& catalogue) : catalogue_(catalogue) {}

  /// Why a stored version would now be another one, as "people has changed"; empty: it would not.
  std::string why_outdated(const std::string& version);
  /// Why a job that reads these does not go on when its statement is run again. It goes by all
  /// rules of its tables, those included that define other versions.
  std::string why_job_is_outdated(const std::string& sources);

 private:
  std::string changed_table(const std::string& sources);
  const std::optional<std::string>& contents(const std::string& table);

  StoredDefinitions& catalogue_;
  std::map<std::string, std::optional<std::string>> contents_;  // of tables; none: it is gone
};

}  // namespace tessera::session
