#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "base/check.h"
#include "support/reference_kernels.h"
#include "tile/dispatch.h"

namespace tessera {
namespace {

using Integers = std::vector<std::int64_t>;

/// The result whose element at each index is the element of `a` at `source(index)`.
template <class Source>
Judge gathered(const Elements& a, const Shape& shape, const Source& source) {
  Expected result{Elements(a.dtype, shape)};
  for (std::int64_t i = 0; i < result.values.size(); ++i)
    result.values.set(i, a, position_of(source(index_of(i, shape)), a.shape));
  return equals(std::move(result));
}

Judge permuted(const Elements& a, const Integers& axes) {
  Shape shape;
  for (std::int64_t axis : axes) shape.push_back(a.shape[axis]);
  return gathered(a, shape, [&](const Index& index) {
    Index source(index.size(), 0);
    for (std::size_t d = 0; d < axes.size(); ++d) source[axes[d]] = index[d];
    return source;
  });
}

Judge transpose(const Arguments& arguments, const Params&) {
  Integers axes(arguments[0].shape.size());
  std::iota(axes.rbegin(), axes.rend(), std::int64_t{0});
  return permuted(arguments[0], axes);
}

Judge permute(const Arguments& arguments, const Params& params) {
  const int rank = arguments[0].shape.rank();
  Integers axes = params.integers("axes");
  std::vector<bool> named(rank, false);
  TESSERA_REQUIRE(TypeError, std::cmp_equal(axes.size(), rank), "axes do not fit");
  for (std::int64_t& axis : axes) {
    axis = plain_axis(axis, rank);
    TESSERA_REQUIRE(TypeError, !named[axis], "an axis is named twice");
    named[axis] = true;
  }
  return permuted(arguments[0], axes);
}

Judge reshape(const Arguments& arguments, const Params& params) {
  const Elements& a = arguments[0];
  Integers shape = params.integers("shape");
  TESSERA_REQUIRE(TypeError, shape.size() <= max_rank, "too many dimensions");
  const auto open = std::find(shape.begin(), shape.end(), -1);
  std::int64_t others = 1;
  for (auto extent = shape.begin(); extent != shape.end(); ++extent) {
    if (extent == open) continue;
    TESSERA_REQUIRE(TypeError, *extent >= 0, "a negative extent");
    others *= *extent;
  }
  if (open != shape.end()) {
    TESSERA_REQUIRE(TypeError, others > 0 && a.size() % others == 0,
                    "the open extent cannot be found");
    *open = a.size() / others;
    others *= *open;
  }
  TESSERA_REQUIRE(TypeError, others == a.size(), "the elements do not fit");
  const Shape extents(shape.begin(), shape.end());
  return gathered(a, extents, [&](const Index& index) {
    return index_of(position_of(index, extents), a.shape);
  });
}

/// Bounds as Python has them, but never beyond the ends.
Judge slice(const Arguments& arguments, const Params& params) {
  const Elements& a = arguments[0];
  const Integers begin = params.integers("begin");
  const Integers end = params.integers("end");
  Integers step = params.integers("step");
  if (step.size() == 1) step.assign(a.shape.size(), step[0]);
  TESSERA_REQUIRE(TypeError,
                  begin.size() == a.shape.size() && end.size() == a.shape.size() &&
                      step.size() == a.shape.size(),
                  "bounds do not fit");
  std::vector<Integers> taken(a.shape.size());
  Shape shape;
  for (std::size_t d = 0; d < a.shape.size(); ++d) {
    TESSERA_REQUIRE(TypeError, step[d] != 0, "a step of zero");
    const std::int64_t extent = a.shape[d];
    const bool forward = step[d] > 0;
    const auto place = [&](std::int64_t bound) {
      const bool fits = forward ? bound >= -extent && bound <= extent
                                : bound >= -extent - 1 && bound <= extent - 1;
      TESSERA_REQUIRE(TypeError, fits, "a bound beyond the ends");
      return bound < 0 ? bound + extent : bound;
    };
    const std::int64_t stop = place(end[d]);
    for (std::int64_t i = place(begin[d]); forward ? i < stop : i > stop; i += step[d])
      taken[d].push_back(i);
    shape.push_back(static_cast<std::int64_t>(taken[d].size()));
  }
  return gathered(a, shape, [&](const Index& index) {
    Index source = index;
    for (std::size_t d = 0; d < index.size(); ++d) source[d] = taken[d][index[d]];
    return source;
  });
}

Judge diag(const Arguments& arguments, const Params&) {
  const Elements& a = arguments[0];
  const int rank = a.shape.rank();
  TESSERA_REQUIRE(TypeError, rank > 0, "a scalar has no diagonal");
  if (rank == 1) {
    Expected result{Elements(a.dtype, {a.size(), a.size()})};
    for (std::int64_t i = 0; i < a.size(); ++i) result.values.set(i * a.size() + i, a, i);
    return equals(std::move(result));
  }
  Shape shape(a.shape.begin(), a.shape.end() - 1);
  shape[rank - 2] = std::min(a.shape[rank - 2], a.shape[rank - 1]);
  return gathered(a, shape, [](Index index) {
    index.push_back(index.back());
    return index;
  });
}

Judge tile(const Arguments& arguments, const Params& params) {
  const Elements& a = arguments[0];
  Integers repeats = params.integers("repeats");
  const std::size_t rank = std::max(repeats.size(), a.shape.size());
  TESSERA_REQUIRE(TypeError, rank <= max_rank, "too many dimensions");
  repeats.insert(repeats.begin(), rank - repeats.size(), 1);
  const std::size_t lead = rank - a.shape.size();
  Shape shape(rank, 1);
  for (std::size_t d = 0; d < rank; ++d) {
    TESSERA_REQUIRE(TypeError, repeats[d] >= 0, "a negative number of times");
    shape[d] = repeats[d] * (d < lead ? 1 : a.shape[d - lead]);
  }
  return gathered(a, shape, [&](const Index& index) {
    Index source;
    for (std::size_t d = lead; d < rank; ++d) source.push_back(index[d] % a.shape[d - lead]);
    return source;
  });
}

Judge pad(const Arguments& arguments, const Params& params) {
  const Elements& a = arguments[0];
  const Integers before = params.integers("before");
  const Integers after = params.integers("after");
  TESSERA_REQUIRE(TypeError, before.size() == a.shape.size() && after.size() == a.shape.size(),
                  "margins do not fit");
  Shape shape = a.shape;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    TESSERA_REQUIRE(TypeError, before[d] >= 0 && after[d] >= 0, "a negative margin");
    shape[d] += before[d] + after[d];
  }
  const double value = params.number("value");
  TESSERA_REQUIRE(TypeError, is_float(a.dtype) || std::trunc(value) == value, "no integer");
  TESSERA_REQUIRE(TypeError, a.dtype != DType::boolean || value == 0 || value == 1,
                  "no truth value");
  Expected result{Elements(a.dtype, shape)};
  const auto* integer = std::get_if<std::int64_t>(&params.values().at("value"));
  for (std::int64_t i = 0; i < result.values.size(); ++i) {
    if (is_float(a.dtype))
      result.values.set_real(i, value);
    else
      result.values.set_integer(i,
                                integer != nullptr ? *integer : static_cast<std::int64_t>(value));
  }
  for (std::int64_t i = 0; i < a.size(); ++i) {
    Index index = index_of(i, a.shape);
    for (std::size_t d = 0; d < index.size(); ++d) index[d] += before[d];
    result.values.set(position_of(index, shape), a, i);
  }
  return equals(std::move(result));
}

Judge cast(const Arguments& arguments, const Params& params) {
  const DType dtype = parse_dtype(params.text("dtype"));
  const std::int64_t bits = params.integer("bits");
  TESSERA_REQUIRE(TypeError, bits == 32 || bits == 64, "no such integers");
  const Elements& a = arguments[0];
  const std::int64_t end = std::int64_t{1} << 31;
  for (std::int64_t i = 0; dtype == DType::i64 && i < a.size(); ++i) {
    const double whole = std::trunc(a.reals[i]);
    const double limit = bits == 32 ? 0x1p31 : 0x1p63;
    const bool held = is_float(a.dtype)
                          ? whole >= -limit && whole < limit
                          : bits == 64 || (a.integers[i] >= -end && a.integers[i] < end);
    TESSERA_REQUIRE(ValueError, held, "a number that does not fit");
  }
  return equals(Expected{converted(a, dtype)});
}

Judge assemble(const Arguments& arguments, const Params& params) {
  TESSERA_REQUIRE(TypeError, arguments.size() >= 3, "too few arguments");
  const std::size_t parts = arguments.size() - 2;
  const Elements &first = arguments[0], &begins = arguments[parts], &wanted = arguments.back();
  const int axis = plain_axis(params.integer("axis"), first.shape.rank());
  TESSERA_REQUIRE(TypeError,
                  begins.dtype == DType::i64 && wanted.dtype == DType::i64 &&
                      begins.shape == Shape{static_cast<std::int64_t>(parts)} &&
                      wanted.shape.rank() == 1,
                  "no such positions");
  for (std::size_t p = 0; p < parts; ++p) {
    TESSERA_REQUIRE(
        TypeError,
        arguments[p].dtype == first.dtype && arguments[p].shape.rank() == first.shape.rank(),
        "the parts do not fit");
    for (int d = 0; d < first.shape.rank(); ++d)
      TESSERA_REQUIRE(TypeError, d == axis || arguments[p].shape[d] == first.shape[d],
                      "extents differ");
  }
  Shape shape = first.shape;
  shape[axis] = wanted.shape[0];
  Expected result{Elements(first.dtype, shape)};
  for (std::int64_t i = 0; i < result.values.size(); ++i) {
    const Index index = index_of(i, shape);
    for (std::size_t p = 0; p < parts; ++p) {
      const Elements& part = arguments[p];
      const __int128 place = static_cast<__int128>(wanted.integers[index[axis]]) -
                             begins.integers[static_cast<std::int64_t>(p)];
      if (place < 0 || place >= part.shape[axis]) continue;
      Index at = index;
      at[axis] = static_cast<std::int64_t>(place);
      result.values.set(i, part, position_of(at, part.shape));
      break;
    }
  }
  return equals(std::move(result));
}

Judge expand_dims(const Arguments& arguments, const Params& params) {
  Shape shape = arguments[0].shape;
  TESSERA_REQUIRE(TypeError, shape.rank() < max_rank, "too many dimensions");
  const int axis = plain_axis(params.integer("axis"), shape.rank() + 1);
  shape.push_back(1);
  std::rotate(shape.begin() + axis, shape.end() - 1, shape.end());
  Expected result{Elements(arguments[0].dtype, shape)};
  for (std::int64_t i = 0; i < result.values.size(); ++i) result.values.set(i, arguments[0], i);
  return equals(std::move(result));
}

Judge concat(const Arguments& arguments, const Params& params) {
  const Shape& first = arguments[0].shape;
  const int axis = plain_axis(params.integer("axis"), first.rank());
  DType dtype = arguments[0].dtype;
  Shape shape = first;
  shape[axis] = 0;
  for (const Elements& part : arguments) {
    dtype = promote(dtype, part.dtype);
    TESSERA_REQUIRE(TypeError, part.shape.rank() == first.rank(), "ranks differ");
    for (int d = 0; d < first.rank(); ++d)
      TESSERA_REQUIRE(TypeError, d == axis || part.shape[d] == first[d], "extents differ");
    shape[axis] += part.shape[axis];
  }
  Expected result{Elements(dtype, shape)};
  std::int64_t start = 0;
  for (const Elements& part : arguments) {
    const Elements elements = converted(part, dtype);
    for (std::int64_t i = 0; i < elements.size(); ++i) {
      Index index = index_of(i, part.shape);
      index[axis] += start;
      result.values.set(position_of(index, shape), elements, i);
    }
    start += part.shape[axis];
  }
  return equals(std::move(result));
}

}  // namespace

References rearrangement_references() {
  return {{"identity", [](const Arguments& arguments,
                          const Params&) { return equals(Expected{arguments[0]}); }},
          {"transpose", transpose},
          {"permute", permute},
          {"reshape", reshape},
          {"slice", slice},
          {"assemble", assemble},
          {"expand_dims", expand_dims},
          {"diag", diag},
          {"tile", tile},
          {"pad", pad},
          {"cast", cast},
          {"concat", concat},
          {"compress", [](const Arguments& arguments, const Params& params) {
             TESSERA_REQUIRE(TypeError, params.integer("sparse_dims") <= arguments[0].shape.rank(),
                             "there are not so many dimensions");
             return equals(Expected{arguments[0]});
           }}};
}

}  // namespace tessera
