#include "tra/key_origin.h"

#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "tra/tuple_set.h"

namespace tessera {
namespace {

/// Where each component of a key is found again; -1: it is always 0. Nothing if one is not.
std::optional<std::vector<int>> passed_on(const KeyFunction& function, const Key& frontier) {
  if (function.is_opaque()) return std::nullopt;
  std::vector<int> found(frontier.size(), -1);
  for (std::size_t from = 0; from < frontier.size(); ++from) {
    for (int to = 0; to < function.output_arity(); ++to)
      if (equal(function.components()[to], key(static_cast<int>(from)))) found[from] = to;
    if (found[from] < 0 && frontier[from] != 1) return std::nullopt;
  }
  return found;
}

struct OriginList {
  KeyFunction function;
  Key frontier;
  std::once_flag made = {};
  std::unordered_map<Key, Key, KeyHash> origins = {};

  void make() {
    if (count_below(frontier) == 0) return;
    Key from(frontier.size(), 0);
    do {
      origins.emplace(function.evaluate(from), from);
    } while (advance(from, frontier));
  }
};

}  // namespace

KeyOrigin origin_of(const KeyFunction& function, const Key& frontier) {
  if (const auto found = passed_on(function, frontier))
    return [found = *found](const Key& to) {
      Key from(found.size(), 0);
      for (std::size_t i = 0; i < found.size(); ++i)
        if (found[i] >= 0) from[i] = to[found[i]];
      return from;
    };
  const auto list = std::shared_ptr<OriginList>(new OriginList{function, frontier});
  if (function.is_opaque()) std::call_once(list->made, [&] { list->make(); });
  return [list](const Key& to) {
    std::call_once(list->made, [&] { list->make(); });
    return list->origins.at(to);
  };
}

}  // namespace tessera
