#include "base/check.h"
#include "kernel/form/index_form.h"

namespace tessera {
namespace {

class Typing {
 public:
  Typing(IndexForm form, std::span<const TileType> arguments)
      : known_{.form = std::move(form), .arguments = {arguments.begin(), arguments.end()}} {
    known_.extents.assign(known_.form.indices.size(), -1);
    for (std::size_t i = 0; i < known_.extents.size(); ++i)
      set_extent(known_.form.indices[i], known_.extents[i]);
  }

  TypedForm types() && {
    find_extents(known_.form.value);
    for (std::size_t i = 0; i < known_.extents.size(); ++i)
      TESSERA_REQUIRE(TypeError, known_.extents[i] >= 0,
                      "the extent of index {} in {} is not known: it is no position of an "
                      "argument by itself; write [{}:n]",
                      name_of(static_cast<int>(i)), to_string(known_.form),
                      name_of(static_cast<int>(i)));
    const DType dtype = dtype_of(known_.form.value);
    Shape shape;
    for (int i = 0; i < known_.form.rank; ++i)
      shape.push_back(known_.extents[static_cast<std::size_t>(i)]);
    (void)shape.elements();  // must be a number
    known_.result = {dtype, shape};
    return std::move(known_);
  }

 private:
  const std::string& name_of(int index) const {
    return known_.form.indices[static_cast<std::size_t>(index)].name;
  }

  void set_extent(const IndexForm::Index& index, std::int64_t& extent) const {
    if (index.extent) extent = *index.extent;
    if (!index.like) return;
    const auto [argument, dimension] = *index.like;
    const bool known =
        argument >= 0 && std::cmp_less(argument, known_.arguments.size()) && dimension >= 0 &&
        dimension < known_.arguments[static_cast<std::size_t>(argument)].shape.rank();
    TESSERA_REQUIRE(TypeError, known,
                    "index {} of {} is like dimension {} of argument #{}, which does not exist",
                    index.name, to_string(known_.form), dimension, argument);
    extent = known_.arguments[static_cast<std::size_t>(argument)].shape[dimension];
  }

  void find_extents(const Term& term) {
    if (const auto* read = as<term::Element>(term)) {
      TESSERA_REQUIRE(TypeError, std::cmp_less(read->argument, known_.arguments.size()),
                      "{} reads argument #{}, but there are {}", to_string(known_.form),
                      read->argument, known_.arguments.size());
      const Shape& shape = known_.arguments[static_cast<std::size_t>(read->argument)].shape;
      TESSERA_REQUIRE(TypeError, std::cmp_equal(shape.rank(), read->at.size()),
                      "{} reads argument #{} at {} positions, but its shape is {}",
                      to_string(known_.form), read->argument, read->at.size(), to_string(shape));
      for (int d = 0; d < shape.rank(); ++d)
        if (const auto* index = as<term::Position>(read->at[static_cast<std::size_t>(d)]))
          agree(index->index, shape[d], read->argument, d);
    }
    for (const Term& part : parts_of(term)) find_extents(part);
  }

  void agree(int index, std::int64_t extent, int argument, int dimension) {
    std::int64_t& known = known_.extents[static_cast<std::size_t>(index)];
    // An extent that is given may be smaller: only so far is read.
    const bool is_given = known_.form.indices[static_cast<std::size_t>(index)].extent.has_value();
    if (is_given && known <= extent) return;
    TESSERA_REQUIRE(TypeError, known < 0 || known == extent,
                    "index {} of {} has extent {}, but dimension {} of argument #{} has {}",
                    name_of(index), to_string(known_.form), known, dimension, argument, extent);
    known = extent;
  }

  DType dtype_of(const Term& term) {
    const auto known = known_.dtypes.find(term.get());
    if (known != known_.dtypes.end()) return known->second;
    const DType dtype = std::visit([&](const auto& node) { return of(node); }, term->node);
    known_.dtypes.emplace(term.get(), dtype);
    return dtype;
  }

  DType of(const term::Number& node) { return node.value.dtype(); }
  DType of(const term::Position&) { return DType::i64; }
  DType of(const term::Element& node) {
    for (const Term& at : node.at)
      TESSERA_REQUIRE(TypeError, dtype_of(at) == DType::i64,
                      "a position of argument #{} in {} must be an integer, not {}", node.argument,
                      to_string(known_.form), to_string(dtype_of(at)));
    return known_.arguments[static_cast<std::size_t>(node.argument)].dtype;
  }
  DType of(const term::Applied& node) {
    std::vector<DType> arguments;
    for (const Term& argument : node.arguments) arguments.push_back(dtype_of(argument));
    const DType working = node.function->working_dtype(arguments);
    if (node.function->name == "power" && working == DType::i64) refuse_negative_power(node);
    return node.function->result_dtype(working);
  }
  DType of(const term::Cast& node) {
    (void)dtype_of(node.value);
    return node.dtype;
  }
  DType of(const term::Choice& node) {
    (void)dtype_of(node.condition);
    return promote(dtype_of(node.yes), dtype_of(node.no));
  }
  DType of(const term::Fold& node) {
    if (node.condition != nullptr) (void)dtype_of(node.condition);
    return folded_dtype(node.monoid, dtype_of(node.value));
  }

  /// No loop can refuse a value, so the exponent has to be known.
  void refuse_negative_power(const term::Applied& node) const {
    const auto* exponent = as<term::Number>(node.arguments[1]);
    TESSERA_REQUIRE(TypeError, exponent != nullptr && exponent->value.as<std::int64_t>() >= 0,
                    "power of integers in {} needs a constant exponent that is not negative; cast "
                    "the base to f64",
                    to_string(known_.form));
  }

  TypedForm known_;
};

}  // namespace

TypedForm typed(IndexForm form, std::span<const TileType> arguments) {
  return Typing(std::move(form), arguments).types();
}

}  // namespace tessera
