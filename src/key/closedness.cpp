#include "key/closedness.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "key/enumeration.h"
#include "key/expression.h"
#include "key/reasoning.h"

namespace tessera {

std::int64_t volume(const Key& extents) {
  if (std::find(extents.begin(), extents.end(), 0) != extents.end()) return 0;
  std::int64_t product = 1;
  for (const std::int64_t extent : extents)
    if (__builtin_mul_overflow(product, extent, &product))
      return std::numeric_limits<std::int64_t>::max();
  return product;
}

Verdict certain() { return {.answer = Answer::yes}; }

Verdict undecided(std::string reason) {
  return {.answer = Answer::unknown, .reason = std::move(reason)};
}

Verdict repeated_key(const Key& point, const Key& other_point, const Key& key) {
  return {Answer::no, key,
          fmt::format("keys {} and {} both map to {}", to_string(point), to_string(other_point),
                      to_string(key))};
}

Verdict missing_key(const Key& key, const Key& frontier) {
  return {
      Answer::no, key,
      fmt::format("key {} below the frontier {} is missing", to_string(key), to_string(frontier))};
}

Verdict negative_key(const Key& point, const Key& key) {
  return {Answer::no, key,
          fmt::format("key {} maps to {}, which is negative", to_string(point), to_string(key))};
}

Closedness nothing_there(int arity, std::string method) {
  return {.non_negative = certain(),
          .unique = certain(),
          .continuous = certain(),
          .frontier = Key(static_cast<std::size_t>(arity), 0),
          .frontier_known = true,
          .cardinality = 0,
          .method = std::move(method)};
}

Closedness without_value(const Key& point, const std::string& error, std::string method) {
  const Verdict open = undecided(fmt::format("key {} has no value: {}", to_string(point), error));
  return {.non_negative = {Answer::no, point, open.reason},
          .unique = open,
          .continuous = open,
          .frontier = {},
          .method = std::move(method)};
}

namespace {

void require_well_formed(const KeySet& keys) {
  TESSERA_REQUIRE(
      TypeError,
      std::all_of(keys.extents.begin(), keys.extents.end(), [](auto e) { return e >= 0; }),
      "a box of keys cannot have the extents {}: they must not be negative",
      to_string(keys.extents));
  const auto arity = static_cast<int>(keys.extents.size());
  const int used = std::max(keys.where.arity(), keys.map.input_arity());
  TESSERA_REQUIRE(TypeError, used <= arity,
                  "key component k{} does not exist in the points below {}", used - 1,
                  to_string(keys.extents));
  TESSERA_REQUIRE(TypeError, keys.map.components().size() <= Key::capacity,
                  "a key has at most {} components, not {}", Key::capacity,
                  keys.map.components().size());
}

Closedness plain_box(const Key& extents) {
  const std::int64_t count = volume(extents);
  return {.non_negative = certain(),
          .unique = certain(),
          .continuous = certain(),
          .frontier = extents,
          .frontier_known = true,
          .cardinality = count < std::numeric_limits<std::int64_t>::max() ? count : -1,
          .method = "box"};
}

Closedness too_large_to_look(const ClosednessOptions& options) {
  const Verdict open = undecided(
      fmt::format("an opaque function is evaluated on at most {} points", options.enumerate_up_to));
  return {.non_negative = open, .unique = open, .continuous = open, .method = "none"};
}

}  // namespace

Closedness decide_closedness(const KeySet& keys, const ClosednessOptions& options) {
  require_well_formed(keys);
  const std::int64_t points = volume(keys.extents);
  if (points == 0) return nothing_there(keys.map.output_arity(), "box");
  if (is_always(keys.where) && is_identity(keys.map, keys.extents.size()))
    return plain_box(keys.extents);
  if (points <= std::min(options.enumerate_up_to, maximum_enumeration))
    return enumerate_closedness(keys);
  if (keys.where.is_opaque() || keys.map.is_opaque()) return too_large_to_look(options);
  return reason_about_closedness(keys, options.solver_milliseconds);
}

}  // namespace tessera
