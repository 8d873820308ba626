#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tessera::hostile {

/// Makes a small database with some of everything: tensors of all dtypes, dense and sparse in
/// several splits, compressed, ragged and with holes; tables with texts, views, versions, what a
/// stopped job has left, and a history.
void make_seed(const std::filesystem::path& folder);

/// Statements over it: each reads or changes some of it.
const std::vector<std::string>& statements();

}  // namespace tessera::hostile
