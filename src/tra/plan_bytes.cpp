#include "tra/plan_bytes.h"

#include <xxhash.h>

#include <utility>

#include "base/check.h"
#include "base/running_hash.h"
#include "tra/plan_node.h"

namespace tessera {
namespace {

enum class InputData : std::int64_t { type, relation, source };

InputData data_of(const op::Input& input) {
  if (input.relation) return InputData::relation;
  return input.source ? InputData::source : InputData::type;
}

template <class Payload>
void add(RunningHash& hash, const std::vector<BasicTuple<Payload>>& tuples) {
  for (const BasicTuple<Payload>& tuple : tuples) {
    hash.add(tuple.key.begin(), tuple.key.size() * sizeof(std::int64_t));
    for (const Payload& tile : tuple.tiles) {
      const TileType type = type_of(tile);
      const std::int64_t facts[] = {static_cast<std::int64_t>(type.dtype), type.sparse_dims,
                                    static_cast<std::int64_t>(type.shape.size())};
      hash.add(facts, sizeof facts);
      hash.add(type.shape.begin(), type.shape.size() * sizeof(std::int64_t));
    }
  }
}

/// The same for inputs that have tiles of the same types at the same keys.
std::uint64_t hash_of_types(const op::Input& input) {
  RunningHash hash;
  if (input.relation)
    add(hash, input.relation->tuples());
  else if (input.listing)
    add(hash, input.listing->tuples);
  return hash.value();
}

template <class Extents>
void put_extents(PackedWriter& out, const Extents& extents) {
  out.put_short(std::ssize(extents));
  for (const std::int64_t extent : extents) out.put_short(extent);
}

template <class Extents>
Extents read_extents(PackedReader& in) {
  Extents extents(static_cast<std::size_t>(in.short_below(Extents::capacity + 1)), 0);
  for (std::int64_t& extent : extents) extent = in.short_integer();
  return extents;
}

constexpr std::string_view mark = "TESSERA";
constexpr std::int64_t version = 2;  // of what is written here and in what uses it

}  // namespace

std::uint64_t checksum_of(std::string_view bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::string enclosed(Written what, std::string_view bytes) {
  PackedWriter out;
  out.put_bytes(mark).put(static_cast<char>(what)).put_short(version).put_bytes(bytes);
  out.put(checksum_of(out.bytes()));
  return out.take();
}

std::string_view opened(Written what, std::string_view enclosed) {
  constexpr std::size_t checksum_bytes = sizeof(std::uint64_t);
  TESSERA_REQUIRE(IoError,
                  enclosed.size() > mark.size() + checksum_bytes && enclosed.starts_with(mark) &&
                      enclosed[mark.size()] == static_cast<char>(what),
                  "these {} bytes are not {}", enclosed.size(),
                  what == Written::plans            ? "written plans"
                  : what == Written::physical_plans ? "written physical plans"
                                                    : "a written run");
  const std::string_view covered = enclosed.substr(0, enclosed.size() - checksum_bytes);
  PackedReader end(enclosed.substr(covered.size()), written_plan);
  TESSERA_REQUIRE(IoError, end.number<std::uint64_t>() == checksum_of(covered),
                  "{} is damaged: wrong checksum", written_plan);
  PackedReader in(covered.substr(mark.size() + 1), written_plan);
  const std::int64_t found = in.short_integer();
  TESSERA_REQUIRE(IoError, found == version,
                  "{} has format version {}, but this program reads version {}", written_plan,
                  found, version);
  return in.rest();
}

void put(PackedWriter& out, const TileType& type) {
  out.put_short(static_cast<std::int64_t>(type.dtype)).put_short(type.sparse_dims);
  put_extents(out, type.shape);
}

TileType read_tile_type(PackedReader& in) {
  TileType type;
  type.dtype = static_cast<DType>(in.short_below(4));
  type.sparse_dims = static_cast<int>(in.short_below(max_rank + 1));
  type.shape = read_extents<Shape>(in);
  TESSERA_REQUIRE(IoError, type.sparse_dims <= type.shape.rank(),
                  "{} is damaged: {} sparse dimensions in {}", in.what(), type.sparse_dims,
                  type.shape.rank());
  for (const std::int64_t extent : type.shape)
    TESSERA_REQUIRE(IoError, extent >= 0, "{} is damaged: dimension {}", in.what(), extent);
  return type;
}

void PlanWriter::put_nodes(const std::vector<Plan>& plans) {
  std::vector<Plan> added;
  for (const Plan& plan : in_order(plans))
    if (!numbers_.contains(&plan.node())) added.push_back(plan);
  out_.put_short(std::ssize(added));
  for (const Plan& plan : added) {
    put_node(plan);
    numbers_.emplace(&plan.node(), std::ssize(plans_));
    plans_.push_back(plan);
  }
}

void PlanWriter::put(const std::vector<Plan>& plans) {
  out_.put_short(std::ssize(plans));
  for (const Plan& plan : plans) put(plan);
}

void PlanWriter::put(const std::vector<int>& numbers) {
  out_.put_short(std::ssize(numbers));
  for (const int number : numbers) out_.put_short(number);
}

void PlanWriter::put(const std::vector<Apply>& projection) {
  out_.put_short(std::ssize(projection));
  for (const Apply& apply : projection) {
    out_.put_short(apply.kernel.has_value());
    if (apply.kernel) put(*apply.kernel);
    put(apply.columns);
    out_.put_short(std::ssize(apply.names));
    for (const std::string& name : apply.names) out_.put(name);
  }
}

void PlanWriter::seal() {
  sealed_ = true;
  kernels_.seal();
  keys_.seal();
}

void PlanWriter::put_input(const op::Input& input) {
  const InputData data = data_of(input);
  TESSERA_REQUIRE(
      PlanError, !sealed_ || data == InputData::type,
      "input \"{}\" cannot be written: it was added after the plan that the reader knows",
      input.name);
  out_.put_short(static_cast<std::int64_t>(data)).put(input.name);
  out_.put_short(std::ssize(input.type.columns));
  for (const Column& column : input.type.columns) {
    out_.put(column.name);
    tessera::put(out_, column.type);
  }
  put_extents(out_, input.type.frontier);
  out_.put_short(static_cast<std::int64_t>(input.type.presence));
  if (data != InputData::type) out_.put(hash_of_types(input)).put(input.facts.version);
}

void PlanWriter::put_node(const Plan& plan) {
  const Operator& op = operator_of(plan);
  out_.put_short(static_cast<std::int64_t>(op.index()));
  for (const Plan& input : inputs_of(op)) put(input);
  std::visit(
      [&]<class Op>(const Op& node) {
        if constexpr (std::is_same_v<Op, op::Input>) {
          put_input(node);
        } else if constexpr (std::is_same_v<Op, op::Aggregate>) {
          put(node.group_by);
          out_.put_short(std::ssize(node.kernels));
          for (const KernelCall& kernel : node.kernels) put(kernel);
        } else if constexpr (std::is_same_v<Op, op::Join>) {
          put(node.left_keys);
          put(node.right_keys);
          put(node.projection);
        } else if constexpr (std::is_same_v<Op, op::ReKey>) {
          put(node.function);
        } else if constexpr (std::is_same_v<Op, op::Filter>) {
          put(node.predicate);
        } else if constexpr (std::is_same_v<Op, op::Transform>) {
          put(node.projection);
        } else if constexpr (std::is_same_v<Op, op::Tile>) {
          out_.put_short(node.dimension).put_short(node.size);
        } else {
          out_.put_short(node.key_component).put_short(node.dimension);
        }
      },
      op);
}

void PlanReader::read_nodes() {
  for (std::size_t left = in_.short_count(); left > 0; --left) plans_.push_back(node());
}

std::vector<Plan> PlanReader::plans() {
  std::vector<Plan> result;
  for (std::size_t left = in_.short_count(); left > 0; --left) result.push_back(plan());
  return result;
}

std::vector<KernelCall> PlanReader::kernels() {
  std::vector<KernelCall> calls;
  for (std::size_t left = in_.short_count(); left > 0; --left) calls.push_back(kernel());
  return calls;
}

std::vector<Apply> PlanReader::projection() {
  std::vector<Apply> result;
  for (std::size_t left = in_.short_count(); left > 0; --left) {
    if (in_.short_below(2) == 1) {
      result.push_back({kernel(), numbers()});  // in this order
    } else {
      const std::vector<int> columns = numbers();
      TESSERA_REQUIRE(IoError, columns.size() == 1, "{} is damaged: {} columns where one stands",
                      in_.what(), columns.size());
      result.push_back(Apply::column(columns.front()));
    }
    for (std::size_t names = in_.short_count(); names > 0; --names)
      result.back().names.push_back(in_.text());
  }
  return result;
}

std::vector<int> PlanReader::numbers() {
  std::vector<int> result(in_.short_count());
  for (int& number : result) {
    const std::int64_t read = in_.short_integer();
    TESSERA_REQUIRE(IoError, std::in_range<int>(read), "{} is damaged: number {} is out of range",
                    in_.what(), read);
    number = static_cast<int>(read);
  }
  return result;
}

Plan PlanReader::input() {
  const auto data = static_cast<InputData>(in_.short_below(3));
  const std::string name = in_.text();
  RelationType type;
  for (std::size_t left = in_.short_count(); left > 0; --left) {
    std::string column = in_.text();
    type.columns.push_back({std::move(column), read_tile_type(in_)});
  }
  type.frontier = read_extents<Key>(in_);
  type.presence = static_cast<Presence>(in_.short_below(3));
  if (data == InputData::type) return Plan::input(type, name);

  const auto types = in_.number<std::uint64_t>();
  (void)in_.number<std::uint64_t>();  // the version: whoever reads decides which contents there are
  TESSERA_REQUIRE(PlanError, find_ != nullptr,
                  "the plan has the input \"{}\", but no tiles are given for it", name);
  const Plan given = find_(name, type);
  const auto* input = std::get_if<op::Input>(&operator_of(given));
  TESSERA_REQUIRE(PlanError, input != nullptr,
                  "the plan given for the input \"{}\" is not an input", name);
  TESSERA_REQUIRE(PlanError, given.type() == type,
                  "the plan was made for an input \"{}\" of type {}, not {}", name, to_string(type),
                  to_string(given.type()));
  TESSERA_REQUIRE(PlanError, data_of(*input) == InputData::type || hash_of_types(*input) == types,
                  "the plan was made for an input \"{}\" with other tile types or other keys",
                  name);
  return given;
}

Plan PlanReader::node() {
  const std::int64_t kind = in_.short_below(std::variant_size_v<Operator>);
  if (kind == 0) return input();
  const Plan& from = plan();
  switch (kind) {
    case 1: {
      const std::vector<int> group_by = numbers();
      return from.aggregate(group_by, kernels());
    }
    case 2: {
      const Plan& right = plan();
      const std::vector<int> left_keys = numbers(), right_keys = numbers();
      return from.join(right, left_keys, right_keys, projection());
    }
    case 3: return from.rekey(key_function());
    case 4: return from.filter(key_predicate());
    case 5: return from.transform(projection());
    case 6: {
      const auto dimension = static_cast<int>(in_.short_below(max_rank));
      return from.tile(dimension, in_.short_integer());
    }
    default: {
      const auto component = static_cast<int>(in_.short_below(Key::capacity));
      return from.concat(component, static_cast<int>(in_.short_below(max_rank)));
    }
  }
}

std::string to_bytes(const std::vector<Plan>& plans) {
  PlanWriter writer;
  writer.put_nodes(plans);
  writer.put(plans);
  return enclosed(Written::plans, writer.out().bytes());
}

std::vector<Plan> plans_from_bytes(std::string_view bytes, const FindInput& find) {
  PackedReader in(opened(Written::plans, bytes), written_plan);
  PlanReader reader(in, find);
  reader.read_nodes();
  std::vector<Plan> plans = reader.plans();
  in.require_done();
  return plans;
}

}  // namespace tessera
