#pragma once

#include <functional>
#include <string>

namespace tessera {

/// A statement that all processes of a cluster make and the first one carries out, which holds the
/// lock and the catalogue: all of them return what it has returned, or throw what it has thrown.
/// IoError if they do not make the same one: `statement` says which it is. Without a cluster the
/// work is just done.
std::string by_first(const std::string& statement, const std::function<std::string()>& work);

}  // namespace tessera
