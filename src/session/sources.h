#pragma once

#include "session/catalogue.h"

namespace tessera::session {

/// What a result was computed of: stored tables as they were, and rules. It is kept as a text
/// beside materialised versions and jobs, so that one can tell when it is not so any more.
/// Contents are told by checksums, so that only other contents are a change.
std::string sources_of_all(const query::Unrolled& plan, const std::vector<query::Value>& tables,
                           Catalogue& catalogue);
/// The same for each of what is asked for.
std::vector<std::string> sources_of_each(const query::Unrolled& plan,
                                         const std::vector<query::Value>& tables,
                                         Catalogue& catalogue);

/// Why a version that was computed of these would now be another one, as "people has changed";
/// empty: it would not.
std::string why_outdated(const std::string& sources, Catalogue& catalogue);
/// Why a job that reads these does not go on when its statement is run again. It goes by all rules
/// of its tables, those included that define other versions.
std::string why_job_is_outdated(const std::string& sources, Catalogue& catalogue);

}  // namespace tessera::session
