#include "query/tensors/kernel_pattern.h"

#include <set>

#include "query/binding/bind_expression.h"
#include "query/tensors/tensor_reduction.h"

namespace tessera::query {
namespace {

/// Whether an argument is read as it is broadcast to the shape of the result: its dimensions are
/// the last ones of the result, or have the extent 1.
bool is_broadcast(const term::Element& read, const TypedForm& form) {
  const Shape& shape = form.arguments[static_cast<std::size_t>(read.argument)].shape;
  const int lead = form.form.rank - shape.rank();
  if (lead < 0) return false;
  for (int d = 0; d < shape.rank(); ++d) {
    const Term& at = read.at[static_cast<std::size_t>(d)];
    const auto* index = as<term::Position>(at);
    const auto* fixed = as<term::Number>(at);
    const bool spread = fixed != nullptr && shape[d] == 1 && fixed->value.as<std::int64_t>() == 0;
    const bool plain = index != nullptr && index->index == lead + d &&
                       form.extents[static_cast<std::size_t>(index->index)] == shape[d];
    if (!spread && !plain) return false;
  }
  return true;
}

ParamValue parameter(const Scalar& value) {
  if (value.dtype() == DType::i64) return value.as<std::int64_t>();
  return value.as<double>();
}

class Pattern {
 public:
  Pattern(const TypedForm& form, const std::vector<Tensor>& arguments)
      : form_(form), arguments_(arguments) {}

  std::optional<Tensor> find() const {
    const Term& value = form_.form.value;
    if (const auto* converted = as<term::Cast>(value)) {
      const std::string dtype(to_string(converted->dtype));
      return of_one(converted->value, KernelCall("cast", {{"dtype", dtype}}));
    }
    if (const auto* fold = as<term::Fold>(value)) return of_fold(*fold);
    const auto* applied = as<term::Applied>(value);
    if (applied == nullptr) return std::nullopt;
    const std::string name(applied->function->name);
    if (kernel_named(name) == std::nullopt) return std::nullopt;
    if (applied->arguments.size() == 1) return of_one(applied->arguments[0], KernelCall(name));
    return of_two(name, applied->arguments[0], applied->arguments[1]);
  }

 private:
  const Tensor* operand(const Term& term) const {
    const auto* read = as<term::Element>(term);
    if (read == nullptr || !is_broadcast(*read, form_)) return nullptr;
    return &arguments_[static_cast<std::size_t>(read->argument)];
  }
  /// Some dimensions of an argument by themselves; the others are those of the result.
  std::optional<Tensor> of_fold(const term::Fold& fold) const {
    const auto* read = as<term::Element>(fold.value);
    if (read == nullptr || fold.condition != nullptr || gives_position(fold.monoid))
      return std::nullopt;
    const Tensor& tensor = arguments_[static_cast<std::size_t>(read->argument)];
    std::vector<std::int64_t> axes;
    std::set<int> folded(fold.indices.begin(), fold.indices.end());
    int kept = 0;
    for (int d = 0; d < tensor.type.rank(); ++d) {
      const auto* index = as<term::Position>(read->at[static_cast<std::size_t>(d)]);
      const std::int64_t extent = tensor.type.shape[d];
      if (index == nullptr || extent == 0 ||
          form_.extents[static_cast<std::size_t>(index->index)] != extent)
        return std::nullopt;
      if (folded.erase(index->index) == 1)
        axes.push_back(d);
      else if (index->index == kept)
        ++kept;
      else
        return std::nullopt;
    }
    if (kept != form_.form.rank || !folded.empty() || axes.empty()) return std::nullopt;
    return reduced(tensor, KernelCall(std::string(to_string(fold.monoid)), {{"axes", axes}}));
  }

  /// As large as the result.
  std::optional<Tensor> of_one(const Term& term, const KernelCall& kernel) const {
    const Tensor* tensor = operand(term);
    if (tensor == nullptr || tensor->type.shape != form_.result.shape) return std::nullopt;
    return mapped(*tensor, kernel);
  }
  std::optional<Tensor> of_two(const std::string& name, const Term& a, const Term& b) const {
    const Tensor *left = operand(a), *right = operand(b);
    const auto* number = as<term::Number>(left == nullptr ? a : b);
    if (left != nullptr && right != nullptr) {
      if (broadcast_shapes(left->type.shape, right->type.shape) != form_.result.shape)
        return std::nullopt;
      return elementwise(*left, *right, KernelCall(name));
    }
    const auto scalar = kernel_named(name + "_scalar");
    if (number == nullptr || (left == nullptr && right == nullptr) || !scalar ||
        number->value.dtype() == DType::boolean)
      return std::nullopt;
    const Params params{{"value", parameter(number->value)}, {"left", left == nullptr}};
    return of_one(left == nullptr ? b : a, KernelCall(scalar->kernel, params));
  }

  const TypedForm& form_;
  const std::vector<Tensor>& arguments_;
};

}  // namespace

std::optional<Tensor> by_kernel(const TypedForm& form, const std::vector<Tensor>& arguments) {
  std::optional<Tensor> found = Pattern(form, arguments).find();
  if (found && found->type.dtype != form.result.dtype) return std::nullopt;
  return found;
}

}  // namespace tessera::query
