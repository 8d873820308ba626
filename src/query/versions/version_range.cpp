#include "query/versions/version_range.h"

#include "base/stop.h"

namespace tessera::query {
namespace {

using lang::fail_type;

std::int64_t index_value(const sql::Expression& written, const std::vector<std::string>& names,
                         Parameters values) {
  const ExpressionPtr bound = bind_constant(written, names);
  if (!is_integer(bound->type))
    fail_type(written.location, "an index must be an integer, not {}", sql::to_string(bound->type));
  const Cell cell = evaluate(*bound, {}, values);
  if (cell.is_null()) fail_type(written.location, "an index cannot be NULL");
  return cell.integer();
}

/// Goes through the ranges of a reference, one inside the other.
class Ranges {
 public:
  Ranges(const std::vector<sql::IndexRange>& ranges, std::vector<std::string> names,
         std::vector<std::int64_t> values, std::int64_t& reads, const std::stop_token& stop,
         const std::function<void(const Indices&)>& receive)
      : ranges_(ranges),
        names_(std::move(names)),
        values_(std::move(values)),
        reads_(reads),
        stop_(stop),
        receive_(receive) {}

  void from(std::size_t position) {
    if (position == ranges_.size()) return receive_(indices_);
    const sql::IndexRange& range = ranges_[position];
    const std::int64_t first = index_value(*range.from, names_, values_);
    const std::int64_t last = range.to ? index_value(*range.to, names_, values_) : first;
    const auto distance = static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first);
    if (last > first && distance >= most_versions)
      fail_type(range.location, "{}...{}: a union cannot have more than {} versions", first, last,
                most_versions);
    for (std::int64_t index = first; index <= last; ++index) {
      if (!range.variable.empty()) {
        names_.push_back(range.variable);
        values_.push_back(index);
      }
      indices_.push_back(index);
      count_step(range.location);
      from(position + 1);
      indices_.pop_back();
      if (!range.variable.empty()) {
        names_.pop_back();
        values_.pop_back();
      }
      if (index == last) break;  // which may be the last there is
    }
  }

 private:
  /// Inner ranges may also be empty, so that versions alone are too few to count.
  void count_step(Location location) {
    if (++reads_ > most_reads)
      fail_type(location, "the unions of one statement cannot read more than {} versions in total",
                most_reads);
    if (reads_ % 1024 == 0) refuse_if_stopped(stop_, "resolving versions");
  }

  const std::vector<sql::IndexRange>& ranges_;
  std::vector<std::string> names_;
  std::vector<std::int64_t> values_;
  std::int64_t& reads_;
  const std::stop_token& stop_;
  const std::function<void(const Indices&)>& receive_;
  Indices indices_;
};

}  // namespace

void for_each_version(const std::vector<sql::IndexRange>& ranges, std::vector<std::string> names,
                      std::vector<std::int64_t> values, std::int64_t& reads,
                      const std::stop_token& stop,
                      const std::function<void(const Indices&)>& receive) {
  Ranges(ranges, std::move(names), std::move(values), reads, stop, receive).from(0);
}

}  // namespace tessera::query
