#pragma once

#include <functional>

#include "store/definition.h"

namespace tessera::store {

// A checksum tells whether something is as it was written, not who has written it. What is read
// from a database is looked at once where it is read, so that all who use it may rely on it: keys
// below the frontier, tiles of the relation's columns, extents whose products can be counted.

/// More than there can be of anything that is stored, and few enough that sums of them are far from
/// where they do not fit 63 bits.
inline constexpr std::int64_t most_stored = std::int64_t{1} << 56;

/// IoError, with the name of the relation, if what the catalogue says of it does not fit together.
void check_definition(const Definition& definition);
/// Opens the segment, if it is not open yet, and says how long all files are that are open by then.
using OpenSegment = std::function<std::int64_t(std::int64_t segment)>;
/// The directory of a relation of so many columns, which takes no more memory than such tuples in
/// such files can need. IoError if the numbers are not those of one; `what` says whose they are.
Directory directory_of(const std::vector<std::int64_t>& numbers, const std::string& what,
                       std::size_t columns, const OpenSegment& open);
/// The same of its tuples, which are in order of their keys, beside what the catalogue says of it.
void check_entries(const Definition& definition, const std::vector<Entry>& entries);

}  // namespace tessera::store
