#include "query/tensors/slices.h"

#include <algorithm>

#include "query/binding/binder.h"

namespace tessera::query {
namespace {

using calculus::Array;
using lang::fail_type;

std::int64_t constant_index(const sql::Expression& written) {
  const ExpressionPtr bound = bind_constant(written, {});
  const auto* constant = std::get_if<Constant>(&bound->node);
  const bool is_integer =
      constant != nullptr && !constant->value.is_null() && !constant->value.is_text() &&
      constant->value.tile().dtype() == DType::i64 && constant->value.tile().rank() == 0;
  if (!is_integer) fail_type(written.location, "an index of a tensor must be a constant integer");
  return constant->value.tile().at<std::int64_t>({});
}

/// What is taken of one dimension.
struct Range {
  std::int64_t begin = 0, count = 0, step = 1;
  bool stays = true;  // as a dimension of the result
};

Range range_of(const sql::Slice& slice, std::int64_t extent) {
  Range range;
  if (slice.step) range.step = constant_index(*slice.step);
  if (range.step == 0) fail_type(slice.step->location, "the step of a slice must not be 0");
  // As in Python: bounds beyond the ends are the ends.
  const bool forward = range.step > 0;
  const std::int64_t lowest = forward ? 0 : -1, highest = forward ? extent : extent - 1;
  const auto bound = [&](const sql::ExpressionPtr& written, std::int64_t otherwise) {
    if (written == nullptr) return otherwise;
    const std::int64_t given = constant_index(*written);
    const std::int64_t from_front = given >= 0 ? given : given < -extent ? -1 : given + extent;
    return std::clamp(given < -extent ? lowest : from_front, lowest, highest);
  };
  range.begin = bound(slice.from, forward ? 0 : extent - 1);
  const std::int64_t end = bound(slice.to, forward ? extent : -1);
  const std::int64_t length = forward ? end - range.begin : range.begin - end;
  // A step beyond the extent takes one element.
  range.step =
      std::clamp(range.step, -std::max<std::int64_t>(1, extent), std::max<std::int64_t>(1, extent));
  range.count = length <= 0 ? 0 : (length - 1) / std::abs(range.step) + 1;
  return range;
}

Range range_of(const sql::Expression& index, std::int64_t extent, int dimension) {
  if (const auto* slice = std::get_if<sql::Slice>(&index.node)) return range_of(*slice, extent);
  const std::int64_t given = constant_index(index);
  if (given < -extent || given >= extent)
    fail_type(index.location, "index {} is out of bounds for dimension {} with size {}", given,
              dimension, extent);
  return {given < 0 ? given + extent : given, 1, 1, false};
}

std::vector<Range> ranges_of(const Shape& shape, const std::vector<sql::ExpressionPtr>& indices,
                             lang::Location location) {
  const auto is_ellipsis = [](const sql::ExpressionPtr& index) {
    const auto* slice = std::get_if<sql::Slice>(&index->node);
    return slice != nullptr && slice->is_ellipsis;
  };
  const auto ellipses = std::count_if(indices.begin(), indices.end(), is_ellipsis);
  if (ellipses > 1) fail_type(location, "an index can have only one ellipsis (...)");
  const int given = static_cast<int>(indices.size() - static_cast<std::size_t>(ellipses));
  if (given > shape.rank())
    fail_type(location, "too many indices: a tensor of {} has {} dimension{}, but {} {} indexed",
              to_string(shape), shape.rank(), shape.rank() == 1 ? "" : "s", given,
              given == 1 ? "is" : "are");
  std::vector<Range> ranges;
  const auto whole = [&] {
    const std::int64_t extent = shape[static_cast<int>(ranges.size())];
    ranges.push_back({0, extent});
  };
  for (const sql::ExpressionPtr& index : indices) {
    if (is_ellipsis(index)) {
      for (int left = shape.rank() - given; left > 0; --left) whole();
      continue;
    }
    const int dimension = static_cast<int>(ranges.size());
    ranges.push_back(range_of(*index, shape[dimension], dimension));
  }
  while (std::cmp_less(ranges.size(), shape.rank())) whole();
  return ranges;
}

}  // namespace

Array indexed(const Array& array, const std::vector<sql::ExpressionPtr>& indices,
              lang::Location location) {
  const std::vector<Range> ranges = ranges_of(array.type.shape, indices, location);
  IndexForm form;
  std::vector<Term> at;
  for (const Range& range : ranges) {
    if (!range.stays) {
      at.push_back(integer(range.begin));
      continue;
    }
    Term place = position(static_cast<int>(form.indices.size()));
    if (range.step != 1) place = applied("mul", {place, integer(range.step)});
    if (range.begin != 0) place = applied("add", {place, integer(range.begin)});
    at.push_back(place);
    form.indices.push_back({fmt::format("i{}", form.indices.size()), range.count});
  }
  form.rank = static_cast<int>(form.indices.size());
  form.value = element(0, std::move(at));
  return calculus::defined(std::move(form), {array});
}

}  // namespace tessera::query
