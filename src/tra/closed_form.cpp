#include "tra/closed_form.h"

#include <algorithm>

#include "base/check.h"
#include "tra/plan_node.h"

namespace tessera {
namespace {

std::vector<Column> infer_fold(const Operator& op, const op::Aggregate& aggregate) {
  const std::vector<Column>& columns = aggregate.input.type().columns;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const KernelCall& kernel = aggregate.kernels[c];
    const TileType& type = columns[c].type;
    const std::vector<TileType> folded = kernel.infer(std::vector<TileType>{type, type});
    TESSERA_REQUIRE(
        TypeError,
        folded.size() == 1 && folded[0].dtype == type.dtype && folded[0].shape == type.shape,
        "{}: an aggregation of {} and {} must have the same type, but {} returns {}", describe(op),
        to_string(type), to_string(type), kernel.to_string(),
        folded.empty() ? "nothing" : to_string(folded[0]));
  }
  return columns;
}

std::int64_t smaller(std::int64_t a, std::int64_t b) {
  if (a == unknown_extent) return b;
  return b == unknown_extent ? a : std::min(a, b);
}

}  // namespace

ClosedForm infer_closed_form(const Operator& op, bool with_columns) {
  struct Rules {
    const Operator& op;
    bool with_columns;

    std::vector<Column> project(const std::vector<Apply>& projection,
                                const std::vector<Column>& columns) const {
      return with_columns ? project_types(op, projection, columns) : std::vector<Column>{};
    }

    ClosedForm operator()(const op::Input& input) const {
      bool uniform = true;
      const auto look_at = [&](const auto& tuples) {
        for (const auto& tuple : tuples)
          for (std::size_t c = 0; c < tuple.tiles.size(); ++c)
            uniform = uniform && type_of(tuple.tiles[c]) == input.type.columns[c].type;
      };
      if (input.relation) look_at(input.relation->tuples());
      if (input.listing) look_at(input.listing->tuples);
      return {input.type.columns, input.type.frontier, uniform};
    }
    ClosedForm operator()(const op::Aggregate& aggregate) const {
      ClosedForm result{infer_fold(op, aggregate), {}, true};
      for (int i : aggregate.group_by) result.frontier.push_back(aggregate.input.frontier()[i]);
      return result;
    }
    ClosedForm operator()(const op::Join& join) const {
      std::vector<Column> columns = join.left.type().columns;
      const std::vector<Column>& right = join.right.type().columns;
      columns.insert(columns.end(), right.begin(), right.end());
      ClosedForm result{project(join.projection, columns), join.left.frontier(), true};
      for (std::size_t i = 0; i < join.left_keys.size(); ++i) {
        std::int64_t& extent = result.frontier[join.left_keys[i]];
        extent = smaller(extent, join.right.frontier()[join.right_keys[i]]);
      }
      for (int i = 0; i < join.right.type().arity(); ++i)
        if (std::find(join.right_keys.begin(), join.right_keys.end(), i) == join.right_keys.end())
          result.frontier.push_back(join.right.frontier()[i]);
      return result;
    }
    ClosedForm operator()(const op::ReKey& rekey) const {
      return {rekey.input.type().columns,
              Key(static_cast<std::size_t>(rekey.function.output_arity()), unknown_extent), true};
    }
    ClosedForm operator()(const op::Filter& filter) const {
      return {filter.input.type().columns, filter.input.frontier(), true};
    }
    ClosedForm operator()(const op::Transform& transform) const {
      return {project(transform.projection, transform.input.type().columns),
              transform.input.frontier(), true};
    }
    ClosedForm operator()(const op::Tile& tile) const {
      ClosedForm result{tile.input.type().columns, tile.input.frontier(), true};
      result.frontier.push_back(tile.pieces);
      for (Column& column : result.columns) {
        std::int64_t& extent = column.type.shape[tile.dimension];
        result.uniform = result.uniform && extent == tile.size * tile.pieces;
        extent = std::min(extent, tile.size);
      }
      return result;
    }
    ClosedForm operator()(const op::Concat& concat) const {
      ClosedForm result{concat.input.type().columns, {}, true};
      const Key& frontier = concat.input.frontier();
      for (int i = 0; i < concat.input.type().arity(); ++i)
        if (i != concat.key_component) result.frontier.push_back(frontier[i]);
      for (Column& column : result.columns) {
        std::int64_t& extent = column.type.shape[concat.dimension];
        const std::int64_t count = std::max<std::int64_t>(0, frontier[concat.key_component]);
        std::int64_t joined = 0;
        const bool overflow = __builtin_mul_overflow(extent, count, &joined);
        TESSERA_REQUIRE(TypeError, !overflow,
                        "{}: {} arrays of {} have more than 2^63 elements together", describe(op),
                        count, to_string(column.type));
        extent = joined;
      }
      return result;
    }
  };
  return std::visit(Rules{op, with_columns}, op);
}

std::vector<Column> project_types(const Operator& op, const std::vector<Apply>& projection,
                                  const std::vector<Column>& columns) {
  std::vector<Column> result;
  for (const Apply& apply : projection) {
    std::vector<TileType> arguments;
    for (int column : apply.columns) arguments.push_back(columns[column].type);
    const std::vector<TileType> outputs = apply.infer(arguments);
    TESSERA_REQUIRE(TypeError, apply.names.empty() || apply.names.size() == outputs.size(),
                    "{}: {} names are given for the {} outputs of {}", describe(op), apply.names.size(),
                    outputs.size(), apply.to_string());
    for (std::size_t i = 0; i < outputs.size(); ++i)
      result.push_back({apply.names.empty() ? "" : apply.names[i], outputs[i]});
  }
  return result;
}

}  // namespace tessera
