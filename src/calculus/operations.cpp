#include "calculus/operations.h"

#include <algorithm>

#include "base/check.h"

namespace tessera::calculus {
namespace {

/// A form with an index for each dimension of a shape.
IndexForm over(const Shape& shape) {
  IndexForm form;
  for (int d = 0; d < shape.rank(); ++d) form.indices.push_back({fmt::format("i{}", d), shape[d]});
  form.rank = shape.rank();
  return form;
}

Term element_of_all(int argument, int rank) {
  std::vector<int> at;
  for (int d = 0; d < rank; ++d) at.push_back(d);
  return element_at(argument, at);
}

/// An element as it is broadcast to a larger shape.
Term broadcast(int argument, const Shape& own, const Shape& shape) {
  const int lead = shape.rank() - own.rank();
  std::vector<Term> at;
  for (int d = 0; d < own.rank(); ++d)
    at.push_back(own[d] == shape[lead + d] ? position(lead + d) : integer(0));
  return element(argument, std::move(at));
}

/// Each element by itself.
template <class Make>
Array of_each(const Array& array, const Make& make) {
  IndexForm form = over(array.type.shape);
  form.value = make(element_of_all(0, form.rank));
  return defined(std::move(form), {array});
}

}  // namespace

Array mapped(std::string_view function, const Array& array) {
  return of_each(array, [&](const Term& element) { return applied(function, {element}); });
}

Array elementwise(std::string_view function, const Array& a, const Array& b) {
  const Shape shape = broadcast_shapes(a.type.shape, b.type.shape);
  IndexForm form = over(shape);
  form.value =
      applied(function, {broadcast(0, a.type.shape, shape), broadcast(1, b.type.shape, shape)});
  return defined(std::move(form), {a, b});
}

Array with_number(std::string_view function, const Array& array, const Scalar& number,
                  bool number_is_left) {
  const bool fits = is_float(array.type.dtype) && number.dtype() != DType::boolean;
  const Term value = tessera::number(fits ? number.cast(array.type.dtype) : number);
  return of_each(array, [&](const Term& element) {
    return number_is_left ? applied(function, {value, element})
                          : applied(function, {element, value});
  });
}

Array converted(const Array& array, DType dtype) {
  if (array.type.dtype == dtype) return array;
  return of_each(array, [&](const Term& element) { return cast(dtype, element); });
}

Array permuted(const Array& array, const std::vector<int>& axes) {
  Shape shape;
  std::vector<int> at(axes.size());
  for (std::size_t d = 0; d < axes.size(); ++d) {
    shape.push_back(array.type.shape[axes[d]]);
    at[static_cast<std::size_t>(axes[d])] = static_cast<int>(d);
  }
  if (std::is_sorted(axes.begin(), axes.end())) return array;
  IndexForm form = over(shape);
  form.value = element_at(0, at);
  return defined(std::move(form), {array});
}

Array transposed(const Array& array) {
  std::vector<int> axes;
  for (int d = array.type.shape.rank(); d-- > 0;) axes.push_back(d);
  return permuted(array, axes);
}

Array folded(Monoid monoid, const Array& array, const std::vector<int>& axes) {
  const int rank = array.type.shape.rank();
  IndexForm form;
  std::vector<int> at(static_cast<std::size_t>(rank)), over;
  for (const bool goes : {false, true})
    for (int d = 0; d < rank; ++d) {
      if ((std::find(axes.begin(), axes.end(), d) != axes.end()) != goes) continue;
      at[static_cast<std::size_t>(d)] = static_cast<int>(form.indices.size());
      if (goes) over.push_back(at[static_cast<std::size_t>(d)]);
      form.indices.push_back({fmt::format("i{}", d), array.type.shape[d]});
    }
  form.rank = rank - static_cast<int>(over.size());
  form.value = element_at(0, at);
  if (!over.empty()) form.value = fold(monoid, std::move(over), form.value);
  return defined(std::move(form), {array});
}

}  // namespace tessera::calculus
