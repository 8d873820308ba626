#include "base/check.h"
#include "tessera/kernel.h"

namespace tessera {

const ParamValue& Params::get(const std::string& name) const {
  const auto found = values_.find(name);
  require<TypeError>(found != values_.end(), "parameter '{}' is missing", name);
  return found->second;
}

bool Params::flag(const std::string& name) const {
  const auto* value = std::get_if<bool>(&get(name));
  require<TypeError>(value != nullptr, "parameter '{}' must be true or false", name);
  return *value;
}

std::int64_t Params::integer(const std::string& name) const {
  const auto* value = std::get_if<std::int64_t>(&get(name));
  require<TypeError>(value != nullptr, "parameter '{}' must be an integer", name);
  return *value;
}

double Params::number(const std::string& name) const {
  const ParamValue& value = get(name);
  if (const auto* integer = std::get_if<std::int64_t>(&value))
    return static_cast<double>(*integer);
  require<TypeError>(std::holds_alternative<double>(value), "parameter '{}' must be a number",
                     name);
  return std::get<double>(value);
}

std::string Params::text(const std::string& name) const {
  const auto* value = std::get_if<std::string>(&get(name));
  require<TypeError>(value != nullptr, "parameter '{}' must be a text", name);
  return *value;
}

std::vector<std::int64_t> Params::integers(const std::string& name) const {
  const ParamValue& value = get(name);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return {*integer};
  const auto* list = std::get_if<std::vector<std::int64_t>>(&value);
  require<TypeError>(list != nullptr, "parameter '{}' must be a list of integers", name);
  return *list;
}

}  // namespace tessera
