#include "session/tensors.h"

#include <algorithm>

#include "base/check.h"
#include "query/tensors/tensor_expression.h"
#include "query/tensors/tensor_tiling.h"
#include "session/computation.h"
#include "session/file_options.h"
#include "session/state.h"
#include "store/formats/format.h"

namespace tessera {

using lang::fail_type;
using session::StoredDefinitions;

namespace session {

namespace {

/// The tensors of the database by their names. What was asked for is noted: the names of those
/// without data, and how many entries of the last one are not zero.
query::TensorNamed stored_tensors(const Snapshot& snapshot, StoredDefinitions& catalogue,
                                  std::vector<std::string>& without_data,
                                  std::optional<std::int64_t>& nonzeros) {
  return [&](const std::string& written) {
    const auto kind = catalogue.kind(written);
    const std::string name = catalogue.exact_name(written);
    TESSERA_REQUIRE(TypeError, kind, "tensor \"{}\" not found; {}", name,
                    catalogue.instead_of(name));
    if (*kind == StoredDefinitions::Kind::virtual_tensor) {
      without_data.push_back(name);
      return catalogue.virtual_tensor(name)->tensor(name);
    }
    TESSERA_REQUIRE(TypeError, catalogue.has_tuples(name),
                    "\"{}\" is a {} without stored tiles, not a tensor", name,
                    *kind == StoredDefinitions::Kind::view ? "view" : "table");
    const StoredInfo info = snapshot.info(name);
    TESSERA_REQUIRE(
        TypeError, info.shape,
        "relation \"{}\" of type {} is not a tensor; a tensor has one column of tiles, no "
        "holes, and one key component for each dimension",
        name, to_string(info.type));
    nonzeros = info.statistics.nonzeros;
    return query::tensor_of(snapshot.plan(name), *info.shape);
  };
}

}  // namespace

PlannedTensor planned(const std::string& name_of_result, const sql::Expression& expression,
                      const Snapshot& snapshot, StoredDefinitions& catalogue) {
  std::vector<std::string> without_data;
  std::optional<std::int64_t> nonzeros;
  query::Tensor tensor =
      query::bind_tensor(expression, stored_tensors(snapshot, catalogue, without_data, nonzeros));
  if (!std::holds_alternative<sql::Name>(expression.node)) nonzeros.reset();
  return {name_of_result, std::move(tensor), expression.location, std::move(without_data),
          nonzeros};
}

namespace {

PlannedTensors planned_program(const sql::CreateTensor& statement, const Snapshot& snapshot,
                               StoredDefinitions& catalogue, const query::RunPlans& run,
                               lang::Location location) {
  PlannedTensors made;
  std::vector<std::string> names = {statement.name}, without_data;
  names.insert(names.end(), statement.others.begin(), statement.others.end());
  std::optional<std::int64_t> nonzeros;
  const query::TensorNamed named = stored_tensors(snapshot, catalogue, without_data, nonzeros);
  const query::RunPlans run_stored = [&](const std::vector<Plan>& plans) {
    refuse_virtual(PlannedTensor{{}, {{}, plans[0]}, location, without_data});
    return run(plans);
  };
  query::BoundProgram bound = query::bind_program(*statement.program, names, named,
                                                  run ? run_stored : query::RunPlans(), location);
  for (std::size_t i = 0; i < bound.results.size(); ++i)
    made.tensors.push_back({names[i], std::move(bound.results[i]), location, without_data});
  made.program = std::move(bound.outline);
  return made;
}

}  // namespace

PlannedTensors planned(const sql::CreateTensor& statement, const Snapshot& snapshot,
                       StoredDefinitions& catalogue, int tile_size, const query::RunPlans& run,
                       lang::Location location) {
  PlannedTensors made;
  if (statement.program)
    made = planned_program(statement, snapshot, catalogue, run, location);
  else
    made.tensors.push_back(planned(statement.name, *statement.expression, snapshot, catalogue));
  for (PlannedTensor& one : made.tensors) {
    std::optional<Shape> tile = statement.tile;
    if (!tile && tile_size > 0) tile = Shape(one.tensor.type.rank(), tile_size);
    if (tile)
      one.tensor = lang::at_location(location, [&] { return query::retiled(one.tensor, *tile); });
  }
  return made;
}

void refuse_virtual(const PlannedTensor& tensor) {
  if (!tensor.virtual_inputs.empty())
    fail_type(
        tensor.location,
        "tensor \"{}\" is virtual and has no data; the statement can be explained but not run",
        tensor.virtual_inputs.front());
}

void refuse_virtual(const PlannedTensors& tensors) {
  for (const PlannedTensor& one : tensors.tensors) refuse_virtual(one);
}

}  // namespace session

namespace {

session::VirtualTensor virtual_tensor(const sql::CreateTensor& statement, int tile_size,
                                      lang::Location location) {
  session::VirtualTensor tensor;
  query::TensorType& type = tensor.type;
  type.dtype = statement.element.value_or(DType::f64);
  type.shape = *statement.shape;
  type.tile = statement.tile.value_or(tile_size > 0 ? Shape(type.shape.rank(), tile_size)
                                                    : store::chosen_tile(type.dtype, type.shape));
  if (type.tile.rank() != type.rank())
    fail_type(location, "a tile of shape {} does not have the rank of the tensor {}",
              to_string(type.tile), to_string(type.shape));
  for (int d = 0; d < type.rank(); ++d)
    type.tile[d] = std::max<std::int64_t>(1, std::min(type.tile[d], type.shape[d]));
  (void)lang::at_location(location, [&] { return type.shape.elements(); });
  tensor.partition_by = statement.partition_by.value_or(std::vector<int>{});
  for (int dimension : tensor.partition_by)
    if (dimension >= type.rank())
      fail_type(location, "PARTITION BY ({}): a tensor {} has dimensions 0 to {}", dimension,
                to_string(type.shape), type.rank() - 1);
  return tensor;
}

}  // namespace

StatementResult Session::State::create_tensor(const sql::CreateTensor& statement,
                                              lang::Location location) {
  const auto done = [](const std::string& message) {
    return StatementResult{"CREATE TENSOR", {}, message};
  };
  StoredDefinitions catalogue(*snapshot);
  if (statement.if_not_exists && catalogue.kind(statement.name))
    return done(fmt::format("{} already exists, skipping", statement.name));
  session::refuse_taken(catalogue, statement, location);
  if (!statement.is_virtual && (statement.shape || statement.element || statement.partition_by))
    fail_type(
        location,
        "cannot set the shape, element type or partitioning of tensor \"{}\"; they come from its "
        "source, except for a VIRTUAL tensor",
        statement.name);
  if (statement.is_virtual) {
    const session::VirtualTensor tensor = virtual_tensor(statement, options.tile_size, location);
    Changes changes;
    changes.texts[session::virtual_text(statement.name)] = session::to_text(tensor);
    if (statement.or_replace) session::drop_replaced(catalogue, *snapshot, statement.name, changes);
    commit(changes, options.run);
    return done(
        fmt::format("created virtual tensor {}: {}", statement.name, to_string(tensor.type)));
  }
  if (statement.file) {
    FormatOptions format = session::file_options(statement.options, options);
    format.tile = statement.tile;
    format.tile_extent = options.tile_size;
    const FileReport report = database.import_file(statement.name, *statement.file, format);
    std::string message;
    for (const StoredInfo& info : report.imported) {
      message +=
          (message.empty() ? "created tensor " : ", ") +
          fmt::format("{}: {}", info.name,
                      info.shape ? to_string(TileType{info.type.columns[0].type.dtype, *info.shape})
                                 : to_string(info.type));
    }
    return done(fmt::format("{}; read {}", message, session::count_text(report.rows, "row")));
  }
  session::Computation computation = computation_of(statement, catalogue, location, true);
  session::refuse_virtual(*computation.tensors);
  session::Outcome outcome = outcome_of(computation, catalogue);
  if (statement.or_replace)
    for (const session::PlannedTensor& one : computation.tensors->tensors)
      session::drop_replaced(catalogue, *snapshot, one.name, outcome.changes);
  commit(outcome);
  std::string message;
  for (const session::PlannedTensor& one : computation.tensors->tensors)
    message += fmt::format("{}{}: {}", message.empty() ? "created tensor " : ", ", one.name,
                           to_string(one.tensor.type));
  return done(message);
}

}  // namespace tessera
