#include "store/definition.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "store/consistency.h"
#include "store/json_fields.h"

namespace tessera::store {
namespace {

using nlohmann::json;

template <class Numbers>
Numbers numbers_of(const json& list) {
  Numbers numbers;
  for (const json& number : list) numbers.push_back(integer_of(number));
  return numbers;
}

template <class Numbers>
json list_of(const Numbers& numbers) {
  return json(std::vector<std::int64_t>(numbers.begin(), numbers.end()));
}

Presence presence_of(const std::string& name) {
  for (const Presence presence : {Presence::continuous, Presence::sparse, Presence::partial})
    if (name == to_string(presence)) return presence;
  throw IoError(fmt::format("the catalogue has an unknown kind of keys: '{}'", name));
}

// Numbers of JSON are finite: what is not is written as text.
json number(double value) {
  if (std::isfinite(value)) return value;
  return fmt::format("{}", value);
}
double number_of(const json& value) {
  return value.is_string() ? std::stod(value.get<std::string>()) : value.get<double>();
}

json json_of(const AbsentTypes& absent) {
  json columns = json::array();
  for (const std::vector<KeyRule>& rules : absent.columns) {
    json& column = columns.emplace_back(json::array());
    for (const KeyRule& rule : rules) {
      json parts = json::array(), runs = json::array();
      for (const auto& [component, distinct] : rule.parts) parts.push_back({component, distinct});
      for (const auto& [length, value] : rule.runs) runs.push_back({length, value});
      column.push_back({{"by", parts}, {"runs", runs}});
    }
  }
  return columns;
}
AbsentTypes absent_of(const json& columns) {
  AbsentTypes absent;
  for (const json& column : columns) {
    std::vector<KeyRule>& rules = absent.columns.emplace_back();
    for (const json& said : column) {
      KeyRule& rule = rules.emplace_back();
      for (const json& part : said.at("by"))
        rule.parts.push_back(
            {static_cast<int>(integer_of(part.at(0), 0, INT32_MAX)), integer_of(part.at(1))});
      for (const json& run : said.at("runs"))
        rule.runs.push_back({integer_of(run.at(0)), integer_of(run.at(1))});
    }
  }
  return absent;
}

void read_type(const json& said, Definition& into) {
  for (const json& column : said.at("columns"))
    into.type.columns.push_back(
        {column.at("name").get<std::string>(),
         {parse_dtype(column.at("dtype").get<std::string>()), numbers_of<Shape>(column.at("shape")),
          static_cast<int>(integer_of(column.at("sparse_dims"), 0, max_rank))}});
  into.type.frontier = numbers_of<Key>(said.at("frontier"));
  into.type.presence = presence_of(said.at("presence").get<std::string>());
  if (said.contains("last")) into.extents.edges = Edges{numbers_of<Shape>(said.at("last"))};
  if (said.contains("absent")) into.extents.absent = absent_of(said.at("absent"));
}

Statistics statistics_of(const json& said) {
  return {integer_of(said.at("tuples")), integer_of(said.at("nonzeros")), number_of(said.at("min")),
          number_of(said.at("max")), numbers_of<std::vector<std::int64_t>>(said.at("distinct"))};
}

}  // namespace

std::string type_text(const Definition& definition) {
  json columns = json::array();
  for (const Column& column : definition.type.columns)
    columns.push_back({{"name", column.name},
                       {"dtype", std::string(to_string(column.type.dtype))},
                       {"shape", list_of(column.type.shape)},
                       {"sparse_dims", column.type.sparse_dims}});
  json text{{"columns", columns},
            {"frontier", list_of(definition.type.frontier)},
            {"presence", std::string(to_string(definition.type.presence))}};
  if (definition.extents.edges) text["last"] = list_of(definition.extents.edges->last);
  if (definition.extents.absent) text["absent"] = json_of(*definition.extents.absent);
  try {
    return text.dump();
  } catch (const json::exception&) {
    throw TypeError("cannot store a column whose name is not valid UTF-8");
  }
}

std::string statistics_text(const Definition& definition) {
  const Statistics& statistics = definition.statistics;
  return json{{"tuples", statistics.tuples},
              {"nonzeros", statistics.nonzeros},
              {"min", number(statistics.min)},
              {"max", number(statistics.max)},
              {"distinct", statistics.distinct}}
      .dump();
}

void read_texts(const std::string& type, const std::string& statistics, Definition& into) {
  read_stored(into.shown(), [&] {
    read_type(json::parse(type), into);
    into.statistics = statistics_of(json::parse(statistics));
  });
  check_definition(into);
}

}  // namespace tessera::store
