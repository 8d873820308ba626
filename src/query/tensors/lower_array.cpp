#include "query/tensors/lower_array.h"

#include <algorithm>

#include "base/check.h"
#include "calculus/inlining.h"
#include "calculus/pairs.h"
#include "calculus/stages.h"
#include "query/tensors/boxes.h"
#include "query/tensors/contraction_pattern.h"
#include "query/tensors/form_tiles.h"
#include "query/tensors/kernel_pattern.h"
#include "query/tensors/positions.h"
#include "query/tensors/shifted_reads.h"
#include "query/tensors/tensor_contraction.h"
#include "query/tensors/tensor_tiling.h"

namespace tessera::query {
namespace {

using calculus::Array;
using calculus::Definition;

/// What adds up, over tiles, what a fold has made of each.
std::string fold_kernel(Monoid monoid) {
  switch (monoid) {
    case Monoid::sum: return "add";
    case Monoid::product: return "mul";
    case Monoid::min: return "minimum";
    case Monoid::max: return "maximum";
    case Monoid::all: return "logical_and";
    case Monoid::any: return "logical_or";
    default: break;
  }
  TESSERA_INVARIANT(false, "{} is not folded over tiles", to_string(monoid));
}

/// A relation whose key components count the tiles along these indices.
struct Keyed {
  Plan plan;
  std::vector<int> indices;
};

/// An argument in the tiles of its form: a key component for each index, one tile along what is
/// read elsewhere than at an index by itself.
Keyed keyed(const Tensor& argument, const std::vector<int>& at,
            const std::vector<std::int64_t>& tiles) {
  Tensor tensor = argument;
  for (int d = 0; d < tensor.type.rank(); ++d)
    tensor = retiled(tensor, d,
                     at[static_cast<std::size_t>(d)] < 0
                         ? std::max<std::int64_t>(1, tensor.type.shape[d])
                         : tiles[static_cast<std::size_t>(at[static_cast<std::size_t>(d)])]);
  Keyed result{tensor.plan, {}};
  std::vector<KeyExpr> keys;
  for (int d = 0; d < tensor.type.rank(); ++d) {
    const int index = at[static_cast<std::size_t>(d)];
    if (index < 0) continue;
    const auto before = std::find(at.begin(), at.begin() + d, index);
    if (before == at.begin() + d) {
      result.indices.push_back(index);
      keys.push_back(key(d));
    } else if (tensor.type.tiles(d) > 1) {  // a diagonal
      result.plan = result.plan.filter(key(static_cast<int>(before - at.begin())) == key(d));
    }
  }
  result.plan = with_keys(result.plan, keys);
  return result;
}

/// All arguments that meet, in one relation: a column each.
Keyed met(const std::vector<Keyed>& arguments, const KernelCall& kernel) {
  Keyed all = arguments[0];
  for (std::size_t next = 1; next < arguments.size(); ++next) {
    const Keyed& right = arguments[next];
    std::vector<int> left_keys, right_keys;
    std::vector<int> indices = all.indices;
    for (std::size_t r = 0; r < right.indices.size(); ++r) {
      const auto l = std::find(all.indices.begin(), all.indices.end(), right.indices[r]);
      if (l == all.indices.end()) {
        indices.push_back(right.indices[r]);
      } else {
        left_keys.push_back(static_cast<int>(l - all.indices.begin()));
        right_keys.push_back(static_cast<int>(r));
      }
    }
    std::vector<Apply> projection;
    if (next + 1 == arguments.size())
      projection.emplace_back(kernel);
    else
      for (std::size_t c = 0; c <= next; ++c)
        projection.push_back(Apply::column(static_cast<int>(c)));
    all = {all.plan.join(right.plan, left_keys, right_keys, projection), std::move(indices)};
  }
  if (arguments.size() == 1) all.plan = all.plan.transform(kernel);
  return all;
}

}  // namespace

class Arrays::Lowering {
 public:
  explicit Lowering(double worth_compiling) : worth_compiling_(worth_compiling) {}

  Array given(const Tensor& tensor) {
    const RelationType& relation = tensor.plan.type();
    TileType type{tensor.type.dtype, tensor.type.shape, relation.columns[0].type.sparse_dims};
    if (relation.presence == Presence::sparse) type.sparse_dims = type.shape.rank();
    sources_.push_back(tensor);
    return calculus::given(static_cast<int>(sources_.size()) - 1, type);
  }

  Tensor tensor(const Array& array) {
    uses_ = calculus::uses_in(array);
    return of(array);
  }

 private:
  Tensor of(const Array& array) {
    if (array.definition == nullptr) return sources_.at(static_cast<std::size_t>(array.source));
    const auto known = lowered_.find(array.definition.get());
    if (known != lowered_.end()) return known->second;
    const Tensor tensor =
        of(fused(*array.definition, worth_compiling_, uses_,
                 [&](const Definition* definition) { return lowered_.contains(definition); }));
    lowered_.emplace(array.definition.get(), tensor);
    kept_.push_back(array.definition);
    return tensor;
  }

  Tensor of(const Definition& definition) {
    const Problem problem(definition, arguments_of(definition));
    if (const auto kernel = by_kernel(problem.form, problem.arguments)) return *kernel;
    if (const auto box = as_box(problem.form, problem.arguments)) return *box;
    if (const auto contraction = contraction_of(problem.form))
      if (contraction->arguments.size() <= 2) return contracted(*contraction, problem.arguments);
    if (const auto pairs = calculus::in_pairs(definition)) return of(*pairs);
    if (const auto shifts = with_shifts_apart(definition, problem.form, problem.arguments,
                                              [&](const Tensor& tensor) { return given(tensor); }))
      return of(*shifts);
    // A fold over several tiles is a plan of its own, but for the outermost one, which is folded
    // over tiles by an aggregation.
    const FormTiles tiles = tiles_of(problem.form, problem.arguments);
    const Definition stages = calculus::with_folds_apart(
        definition, [&](const term::Fold& fold) { return tiles.cut(fold.indices); });
    if (stages.arguments.size() > definition.arguments.size()) return of(stages);
    return in_tiles(problem, tiles);
  }

  /// A definition with what its arguments come to.
  struct Problem {
    Problem(const Definition& definition, std::vector<Tensor> of)
        : arguments(std::move(of)), form(calculus::typed_of(definition)) {}
    std::vector<Tensor> arguments;
    TypedForm form;
  };

  std::vector<Tensor> arguments_of(const Definition& definition) {
    std::vector<Tensor> arguments;
    for (const Array& argument : definition.arguments) arguments.push_back(of(argument));
    return arguments;
  }

  static Tensor contracted(const Contraction& contraction, const std::vector<Tensor>& arguments) {
    std::vector<Tensor> operands;
    for (int argument : contraction.arguments)
      operands.push_back(arguments[static_cast<std::size_t>(argument)]);
    return query::contraction(contraction.spec, operands);
  }

  static Tensor in_tiles(const Problem& problem, const FormTiles& tiles) {
    const TileForm local = tile_form(problem.form, tiles);
    std::vector<Keyed> arguments;
    for (const TileForm::Argument& argument : local.arguments)
      arguments.push_back(
          argument.positions_of >= 0
              ? keyed(
                    positions(problem.form.extents[static_cast<std::size_t>(argument.positions_of)],
                              tiles.extents[static_cast<std::size_t>(argument.positions_of)]),
                    {argument.positions_of}, tiles.extents)
              : keyed(problem.arguments[static_cast<std::size_t>(argument.number)], argument.at,
                      tiles.extents));
    if (arguments.empty())  // a number that nothing is read for
      arguments.push_back(keyed(positions(1, 1), {-1}, {}));
    const Keyed result = met(arguments, KernelCall("compute", {{"form", to_string(local.form)}}));
    return folded_over_tiles(problem.form, tiles, result);
  }

  static Tensor folded_over_tiles(const TypedForm& form, const FormTiles& tiles,
                                  const Keyed& result) {
    std::vector<int> components;
    std::vector<KeyExpr> keys;
    Shape tile;
    for (int index = 0; index < form.form.rank; ++index) {
      const auto at = std::find(result.indices.begin(), result.indices.end(), index);
      TESSERA_INVARIANT(at != result.indices.end(), "nothing counts the tiles of index {}", index);
      components.push_back(static_cast<int>(at - result.indices.begin()));
      keys.push_back(key(components.back()));
      tile.push_back(tiles.extents[static_cast<std::size_t>(index)]);
    }
    const auto* fold = as<term::Fold>(form.form.value);
    if (fold != nullptr && tiles.cut(fold->indices))
      return tensor_of(result.plan.aggregate(components, fold_kernel(fold->monoid)),
                       form.result.shape, tile);
    return tensor_of(with_keys(result.plan, keys), form.result.shape, tile);
  }

  const double worth_compiling_;
  std::vector<Tensor> sources_;
  std::map<const Definition*, int> uses_;
  std::map<const Definition*, Tensor> lowered_;
  std::vector<std::shared_ptr<const Definition>> kept_;  // so that no other has its address
};

Arrays::Arrays(double worth_compiling) : lowering_(std::make_unique<Lowering>(worth_compiling)) {}
Arrays::~Arrays() = default;

Array Arrays::given(const Tensor& tensor) { return lowering_->given(tensor); }
Tensor Arrays::tensor(const Array& array) { return lowering_->tensor(array); }

}  // namespace tessera::query
