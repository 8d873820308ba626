#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>

#include "store/definition.h"

namespace tessera::store {

/// Strings by the codes that columns of integers hold in their place.
using Strings = std::unordered_map<std::int64_t, std::string>;

/// Codes are hashes. ValueError if these two strings, of one code, are different.
void require_same_string(const std::string& one, const std::string& other);
/// Adds strings to others. ValueError if two different ones have the same code.
void add_strings(Strings& all, Strings&& more);

// A block of strings is a record of numbers in a segment, which belongs to one relation.
std::vector<std::int64_t> to_numbers(const Strings& strings);
/// IoError if the numbers are not those of such a block; `what` says whose they are.
Strings strings_of(const std::vector<std::int64_t>& numbers, const std::string& what);

/// The block at a place of a segment, which belongs to a relation. IoError if it is damaged.
Strings read_block(const File& segment, const Address& block, const std::string& relation);
/// All that a relation keeps. IoError if one is damaged.
Strings read_strings(const std::filesystem::path& database, const Definition& definition);

}  // namespace tessera::store
