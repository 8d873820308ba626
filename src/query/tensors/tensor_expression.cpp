#include "query/tensors/tensor_expression.h"

#include "calculus/operations.h"
#include "lang/sql/operators.h"
#include "query/binding/binder.h"
#include "query/rows/kernel_location.h"
#include "query/tensors/bind_comprehension.h"
#include "query/tensors/constructor.h"
#include "query/tensors/slices.h"
#include "query/tensors/tensor_call.h"
#include "query/tensors/tensor_contraction.h"

namespace tessera::query {
namespace {

using lang::at_location;
using lang::fail_type;
using sql::BinaryOperator;

/// The parts of an expression, each with its place.
class TensorBinder {
 public:
  TensorBinder(const TensorNamed& named, Arrays& arrays) : named_(named), arrays_(arrays) {}

  TensorOperand bind(const sql::Expression& expression) const {
    return std::visit(
        [&](const auto& node) -> TensorOperand { return part(node, expression.location); },
        expression.node);
  }

 private:
  TensorOperand part(const sql::Literal& literal, Location location) const {
    if (const auto* truth = std::get_if<bool>(&literal.value)) return {{}, Tile::scalar(*truth)};
    if (const auto* whole = std::get_if<std::int64_t>(&literal.value))
      return {{}, Tile::scalar(*whole)};
    if (const auto* real = std::get_if<double>(&literal.value)) return {{}, Tile::scalar(*real)};
    if (const auto* tile = std::get_if<Tile>(&literal.value)) return of(constant_tensor(*tile));
    fail_type(location, "expected a number or a tensor, found {}",
              std::holds_alternative<sql::Null>(literal.value)
                  ? "NULL"
                  : "'" + std::get<std::string>(literal.value) + "'");
  }

  TensorOperand part(const sql::Name& name, Location location) const {
    const std::string& tensor = name.table.empty() ? name.column : name.table;
    if (!name.table.empty() && !same_name(name.column, "T"))
      fail_type(location, "{}.{}: a tensor has only .T, its transpose", name.table, name.column);
    return at_location(location, [&]() -> TensorOperand {
      const calculus::Array found = array_named(tensor);
      return {name.table.empty() ? found : calculus::transposed(found)};
    });
  }

  TensorOperand part(const sql::Unary& unary, Location location) const {
    const bool minus = unary.op == sql::UnaryOperator::minus;
    return mapped_by(minus ? "neg" : "logical_not", bind(*unary.operand), location);
  }

  TensorOperand part(const sql::Binary& binary, Location location) const {
    const TensorOperand left = bind(*binary.left), right = bind(*binary.right);
    if (binary.op == BinaryOperator::matmul)
      return at_location(
          location, [&]() -> TensorOperand { return {matrix_product(array(left), array(right))}; });
    const std::string kernel(kernel_of(binary.op));
    if (kernel.empty())
      fail_type(location, "operator {} is not defined for tensors, only for numbers in tables",
                sql::to_string(binary.op));
    return at_location(location, [&] {
      try {
        return elementwise(kernel, left, right, arrays_);
      } catch (const lang::ErrorAt&) {
        throw;
      } catch (const TypeError& error) {
        throw TypeError(fmt::format("{} {} {}: {}", shape_text(left), sql::to_string(binary.op),
                                    shape_text(right), error.what()));
      }
    });
  }

  TensorOperand part(const sql::Call& call, Location location) const {
    if (const auto made = constructed(call, location)) return of(*made);
    std::optional<std::string> spec;
    std::vector<TensorOperand> arguments;
    for (const sql::ExpressionPtr& argument : call.arguments) {
      const auto* literal = std::get_if<sql::Literal>(&argument->node);
      const auto* text = literal == nullptr ? nullptr : std::get_if<std::string>(&literal->value);
      if (same_name(call.name, "einsum") && !spec && arguments.empty() && text != nullptr)
        spec = *text;
      else
        arguments.push_back(bind(*argument));
    }
    if (same_name(call.name, "einsum") && (!spec || arguments.empty()))
      fail_type(location, "einsum needs a text and tensors, such as einsum('ik,kj->ij', A, B)");
    if (arguments.empty())
      fail_type(location, "{} needs a tensor{}", call.name,
                call.parameters.empty() ? ""
                                        : "; inside a call, name = value sets a parameter; "
                                          "use == to compare");
    return call_tensors(call, arguments, spec, location, arrays_);
  }

  TensorOperand part(const sql::Cast& cast, Location location) const {
    const TensorOperand operand = bind(*cast.operand);
    if (is_text(cast.type)) fail_type(location, "a tensor cannot have elements of type TEXT");
    if (is_tensor(cast.type)) {
      const Shape shape = array(operand).type.shape;
      if (shape != cast.type.shape)
        fail_type(location, "cannot cast {} to {}: its shape is {}", shape_text(operand),
                  sql::to_string(cast.type), to_string(shape));
    }
    return mapped_by(placed(cast_to(cast.type), location), operand, location);
  }

  TensorOperand part(const sql::ArrayLiteral& array, Location location) const {
    const ExpressionPtr bound = bind_constant({array, location}, {});
    const auto* constant = std::get_if<Constant>(&bound->node);
    if (constant == nullptr) fail_type(location, "array elements must be constant numbers");
    return of(constant_tensor(constant->value.tile()));
  }

  TensorOperand part(const sql::Transposed& node, Location location) const {
    const TensorOperand operand = bind(*node.operand);
    return at_location(location,
                       [&]() -> TensorOperand { return {calculus::transposed(array(operand))}; });
  }

  TensorOperand part(const sql::Versioned& node, Location location) const {
    return {indexed(array(bind({sql::Name{{}, node.name}, location})), node.indices, location)};
  }
  TensorOperand part(const sql::Indexed& node, Location location) const {
    return {indexed(array(bind(*node.operand)), node.indices, location)};
  }

  TensorOperand part(const std::shared_ptr<const sql::Comprehension>& comprehension,
                     Location location) const {
    const calculus::Array made = comprehended({comprehension, location});
    if (!comprehension->storage || comprehension->storage->sparse.empty()) return {made};
    const auto sparse = static_cast<std::int64_t>(comprehension->storage->sparse.size());
    return of(mapped(arrays_.tensor(made), KernelCall("compress", {{"sparse_dims", sparse}})));
  }
  TensorOperand part(const sql::Aggregation& aggregation, Location location) const {
    return {comprehended({aggregation, location})};
  }
  calculus::Array comprehended(const sql::Expression& expression) const {
    return bind_comprehension(expression,
                              [&](const sql::Expression& domain) { return array(bind(domain)); });
  }

  template <class Other>
  TensorOperand part(const Other&, Location location) const {
    fail_type(
        location,
        "not allowed in an expression over tensors; it may contain tensors, numbers, operators "
        "and functions");
  }

  TensorOperand mapped_by(const KernelCall& kernel, const TensorOperand& operand,
                          Location location) const {
    return at_location(location, [&] { return mapped(kernel, operand, arrays_); });
  }

  calculus::Array array(const TensorOperand& operand) const { return as_array(operand, arrays_); }
  TensorOperand of(const Tensor& tensor) const { return {arrays_.given(tensor)}; }
  calculus::Array array_named(const std::string& name) const {
    const auto known = known_.find(name);
    if (known != known_.end()) return known->second;
    return known_.emplace(name, arrays_.given(named_(name))).first->second;
  }

  const TensorNamed& named_;
  Arrays& arrays_;
  mutable std::map<std::string, calculus::Array> known_;
};

}  // namespace

Tensor bind_tensor(const sql::Expression& expression, const TensorNamed& named,
                   double worth_compiling) {
  Arrays arrays(worth_compiling);
  const TensorOperand whole = TensorBinder(named, arrays).bind(expression);
  return at_location(expression.location, [&] { return arrays.tensor(as_array(whole, arrays)); });
}

}  // namespace tessera::query
