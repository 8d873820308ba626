#include "base/check.h"
#include "tessera/kernel.h"

namespace tessera {

void Params::refuse(const std::string& name, const char* wanted) const {
  throw TypeError(
      fmt::format("{}{}parameter \"{}\" {}", kernel_, kernel_.empty() ? "" : ": ", name, wanted));
}

const ParamValue& Params::get(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) refuse(name, "is missing");
  return found->second;
}

bool Params::flag(const std::string& name) const {
  const auto* value = std::get_if<bool>(&get(name));
  if (value == nullptr) refuse(name, "must be true or false");
  return *value;
}

std::int64_t Params::integer(const std::string& name) const {
  const auto* value = std::get_if<std::int64_t>(&get(name));
  if (value == nullptr) refuse(name, "must be an integer");
  return *value;
}

double Params::number(const std::string& name) const {
  const ParamValue& value = get(name);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  const auto* real = std::get_if<double>(&value);
  if (real == nullptr) refuse(name, "must be a number");
  return *real;
}

std::string Params::text(const std::string& name) const {
  const auto* value = std::get_if<std::string>(&get(name));
  if (value == nullptr) refuse(name, "must be a string");
  return *value;
}

std::vector<std::int64_t> Params::integers(const std::string& name) const {
  const ParamValue& value = get(name);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return {*integer};
  const auto* list = std::get_if<std::vector<std::int64_t>>(&value);
  if (list == nullptr) refuse(name, "must be a list of integers");
  return *list;
}

}  // namespace tessera
