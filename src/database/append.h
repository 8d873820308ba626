#pragma once

#include "database/written_parts.h"
#include "store/stored_relation.h"

namespace tessera {

/// TypeError unless tuples can be added to a stored relation: arity, columns, dtypes and ranks are
/// the same, and their keys are not there.
void refuse_unfit(const store::StoredRelation& base, const Relation& more);

/// What the catalogue is to say of a stored relation to which tuples were added, which processes
/// have written in parts. The tiles and directories that were there stay as they are.
store::Definition append(const store::StoredRelation& base, const Relation& more,
                         const std::vector<StoredPart>& parts);

/// The same where there was no relation, all but its name.
store::Definition first_of(const Relation& more, const std::vector<StoredPart>& parts);

/// Where many appends have left many directories, or blocks of strings, some are written again as
/// one. Tiles are not.
void merge_directories(const std::filesystem::path& database, store::Definition& definition,
                       Appender& appender);
void merge_strings(const std::filesystem::path& database, store::Definition& definition,
                   Appender& appender);

}  // namespace tessera
