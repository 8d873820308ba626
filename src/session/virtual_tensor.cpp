#include "base/check.h"
#include "base/odometer.h"
#include "session/definition_text.h"
#include "store/json_fields.h"

namespace tessera::session {
namespace {

constexpr std::int64_t most_listed = 1'000'000;  // tiles whose shapes are told one by one

}  // namespace

query::Tensor VirtualTensor::tensor(const std::string& name) const {
  RelationType relation{{{"", {type.dtype, type.tile}}}, {}};
  bool even = true;
  for (int d = 0; d < type.rank(); ++d) {
    relation.columns[0].type.shape[d] = std::min(type.tile[d], type.shape[d]);
    relation.frontier.push_back(type.tiles(d));
    even = even && type.shape[d] % type.tile[d] == 0;
  }
  if (even || count_below(relation.frontier) > most_listed)
    return query::tensor_of(Plan::input(relation, name), type.shape, type.tile);
  // Tiles at the edges are smaller, which only a list can say.
  auto listing = std::make_shared<TupleSet<TileType>>();
  listing->type = relation;
  Key key(relation.frontier.size(), 0);
  for (std::int64_t i = count_below(relation.frontier); i > 0; --i) {
    TileType tile = relation.columns[0].type;
    for (int d = 0; d < type.rank(); ++d)
      tile.shape[d] = std::min(type.tile[d], type.shape[d] - key[d] * type.tile[d]);
    listing->tuples.push_back({key, {tile}});
    advance(key, relation.frontier);
  }
  return query::tensor_of(Plan::input(listing, TileSource{}, name), type.shape, type.tile);
}

std::string to_text(const VirtualTensor& tensor) {
  const auto list = [](const Shape& shape) {
    return std::vector<std::int64_t>(shape.begin(), shape.end());
  };
  return nlohmann::json{{"dtype", std::string(to_string(tensor.type.dtype))},
                        {"shape", list(tensor.type.shape)},
                        {"tile", list(tensor.type.tile)},
                        {"partition_by", tensor.partition_by}}
      .dump();
}

VirtualTensor virtual_tensor_of(const std::string& text, const std::string& name) {
  using store::integer_of;
  return store::read_stored(fmt::format("tensor \"{}\"", name), [&] {
    const auto written = nlohmann::json::parse(text);
    VirtualTensor tensor;
    query::TensorType& type = tensor.type;
    type.dtype = parse_dtype(written.at("dtype").get<std::string>());
    for (const auto& extent : written.at("shape")) type.shape.push_back(integer_of(extent, 0));
    for (const auto& extent : written.at("tile")) type.tile.push_back(integer_of(extent, 1));
    TESSERA_REQUIRE(IoError, type.tile.rank() == type.rank(),
                    "its tiles have shape {}, which does not fit {}", to_string(type.tile),
                    to_string(type.shape));
    (void)type.shape.elements();  // can be counted
    for (const auto& dimension : written.at("partition_by"))
      tensor.partition_by.push_back(static_cast<int>(integer_of(dimension, 0, type.rank() - 1)));
    return tensor;
  });
}

}  // namespace tessera::session
