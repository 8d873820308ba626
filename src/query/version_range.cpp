#include "query/version_range.h"

namespace tessera::query {
namespace {

using lang::fail_type;

std::int64_t index_value(const sql::Expression& written, const std::vector<std::string>& names,
                         Parameters values) {
  const ExpressionPtr bound = bind_constant(written, names);
  if (!is_integer(bound->type))
    fail_type(written.place, "an index is an integer, and this is {}", sql::to_string(bound->type));
  const Cell cell = evaluate(*bound, {}, values);
  if (cell.is_null()) fail_type(written.place, "an index is NULL");
  return cell.integer();
}

/// All indices that a reference stands for, the last one changing fastest.
void collect_indices(const std::vector<sql::IndexRange>& ranges, std::size_t position,
                     std::vector<std::string>& names, std::vector<std::int64_t>& values,
                     Indices& indices, const std::function<void(const Indices&)>& receive) {
  if (position == ranges.size()) return receive(indices);
  const sql::IndexRange& range = ranges[position];
  const std::int64_t from = index_value(*range.from, names, values);
  const std::int64_t to = range.to ? index_value(*range.to, names, values) : from;
  constexpr std::int64_t most = 10'000'000;
  if (to - from >= most)
    fail_type(range.place, "{}...{}: a union of more than {} versions", from, to, most);
  for (std::int64_t index = from; index <= to; ++index) {
    if (!range.variable.empty()) {
      names.push_back(range.variable);
      values.push_back(index);
    }
    indices.push_back(index);
    collect_indices(ranges, position + 1, names, values, indices, receive);
    indices.pop_back();
    if (!range.variable.empty()) {
      names.pop_back();
      values.pop_back();
    }
  }
}

}  // namespace

void for_each_version(const std::vector<sql::IndexRange>& ranges, std::vector<std::string> names,
                      std::vector<std::int64_t> values,
                      const std::function<void(const Indices&)>& receive) {
  Indices indices;
  collect_indices(ranges, 0, names, values, indices, receive);
}

}  // namespace tessera::query
