#include "session/tensor_result.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/check.h"
#include "exec/statement_memory.h"
#include "query/tensors/read_tensor.h"
#include "session/state.h"

namespace tessera::session {
namespace {

/// Results up to this size, and up to a part of the memory limit, are kept in memory.
constexpr double most_kept = 64e6;
constexpr double part_of_limit = 1.0 / 8;

/// Of all elements, as if no zeros were left out.
double bytes_of(const TileType& type) {
  double bytes = static_cast<double>(size_of(type.dtype));
  for (const std::int64_t extent : type.shape) bytes *= static_cast<double>(extent);
  return bytes;
}

/// What it takes to put a tensor together: its tiles and the whole, and of a sparse one the list of
/// its entries besides.
double bytes_of_whole(const TileType& type, const std::optional<std::int64_t>& nonzeros) {
  if (!type.is_sparse() || !nonzeros) return 2 * bytes_of(type);
  double rows = 1;
  for (int d = 0; d < type.shape.rank() - type.sparse_dims; ++d)
    rows *= static_cast<double>(type.shape[d]);
  return 8 * rows + 64 * static_cast<double>(*nonzeros);
}

std::string relation_name(std::size_t number) { return fmt::format("result{}", number); }

/// Has the tensors of these plans stored for as long as somebody may read them.
void compute_on_disk(const std::vector<PlannedTensor*>& tensors, const RunOptions& run) {
  Database database = Database::temporary({}, run.engine);
  Changes changes;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    changes.results.emplace_back(relation_name(i), tensors[i]->tensor.plan);
  const Snapshot made = database.change(changes, run);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Plan stored = made.plan(relation_name(i));
    const auto& input = std::get<op::Input>(operator_of(stored));
    const TileSource source = [database, read = input.source](const Key& key) { return read(key); };
    tensors[i]->tensor.plan = Plan::input(input.listing, source, input.name, input.facts);
    tensors[i]->nonzeros = made.info(relation_name(i)).statistics.nonzeros;
  }
}

void compute_in_memory(const std::vector<PlannedTensor*>& tensors, const std::vector<Plan>& plans,
                       const query::Settings& settings) {
  const auto results = settings.runner != nullptr ? settings.runner->run(plans, settings.run)
                                                  : tessera::run(plans, settings.run);
  for (std::size_t i = 0; results && i < tensors.size(); ++i) {
    tensors[i]->tensor.plan = Plan::input((*results)[i]);
    if (query::is_sparse(tensors[i]->tensor))
      tensors[i]->nonzeros = (*results)[i].statistics().nonzeros;
  }
}

}  // namespace

void compute(std::vector<PlannedTensor>& tensors, const query::Settings& settings) {
  std::vector<PlannedTensor*> open;
  std::vector<Plan> plans;
  double bytes = 0;
  for (PlannedTensor& one : tensors) {
    if (query::is_at_hand(one.tensor.plan)) continue;
    open.push_back(&one);
    plans.push_back(one.tensor.plan);
    bytes += bytes_of(query::whole_type(one.tensor));
  }
  if (open.empty()) return;
  const auto limit = static_cast<double>(exec::memory_limit_of(settings.run));
  if (bytes <= std::min(most_kept, limit * part_of_limit))
    compute_in_memory(open, plans, settings);
  else if (settings.runner != nullptr)
    (void)settings.runner->store(plans, settings.run);
  else
    compute_on_disk(open, settings.run);
}

Database stored_temporarily(const PlannedTensor& tensor, const ExternalAccess& access,
                            const RunOptions& run) {
  Database database = Database::temporary(access, run.engine);
  database.store(relation_name(0), tensor.tensor.plan, run);
  return database;
}

ResultTable result_of(const std::vector<PlannedTensor>& tensors, const RunOptions& run) {
  auto data = std::make_shared<ResultTable::Data>();
  query::Row row;
  for (const PlannedTensor& one : tensors) {
    const TileType type = query::whole_type(one.tensor);
    data->rows.schema.push_back({one.name, query::sql_type(type)});
    data->columns.push_back({one.name, sql::to_string(query::sql_type(type))});
    if (type.shape.rank() == 0) {
      data->tensors.emplace_back();
      row.emplace_back(query::read_tile(one.tensor, {}).dense());
      continue;
    }
    ResultTensor result{type, one.tensor.type.tile, {}, {}};
    if (query::is_sparse(one.tensor)) result.nonzeros = one.nonzeros;
    result.read = [tensor = one.tensor](const Key& key) { return query::read_tile(tensor, key); };
    data->tensors.push_back(std::move(result));
    const auto limit = exec::memory_limit_of(run);
    const double bytes = bytes_of_whole(type, one.nonzeros);
    const TileSource whole = [tensor = one.tensor, type, limit, bytes](const Key&) {
      TESSERA_REQUIRE(OutOfMemory, bytes <= static_cast<double>(limit),
                      "the tensor {} does not fit the memory limit of {}; store it with CREATE "
                      "TENSOR ... AS and read its tiles, or export it to a file",
                      to_string(type), bytes_text(limit));
      return std::vector{query::read_whole(tensor)};
    };
    row.emplace_back(query::StoredTile{std::make_shared<const TileSource>(whole), {}, 0, type});
  }
  data->rows.rows.push_back(std::move(row));
  return ResultTable(std::move(data));
}

}  // namespace tessera::session
