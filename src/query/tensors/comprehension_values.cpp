#include "query/tensors/comprehension_values.h"

#include "lang/location.h"

namespace tessera::query {

const BoundValue* Variables::find(const std::string& name) const {
  for (auto known = known_.rbegin(); known != known_.rend(); ++known)
    if (known->first == name) return &known->second;
  return nullptr;
}

void Variables::bind(const sql::Pattern& pattern, const BoundValue& value) {
  if (!pattern.is_tuple) {
    if (pattern.variable != "_") known_.emplace_back(pattern.variable, value);
    return;
  }
  const auto* parts = std::get_if<std::vector<BoundValue>>(&value.value);
  if (parts == nullptr && pattern.parts.size() == 1) return bind(pattern.parts[0], value);
  if (parts == nullptr || parts->size() != pattern.parts.size())
    lang::fail_type(pattern.location, "a tuple of {} variables does not fit {}",
                    pattern.parts.size(), kind_text(value));
  for (std::size_t i = 0; i < parts->size(); ++i) {
    BoundValue part = (*parts)[i];
    part.lifted = part.lifted || value.lifted;
    bind(pattern.parts[i], part);
  }
}

void Variables::lift() {
  for (auto& [name, value] : known_)
    if (!std::holds_alternative<calculus::Array>(value.value)) value.lifted = true;
}

std::string kind_text(const BoundValue& value) {
  if (const auto* array = std::get_if<calculus::Array>(&value.value))
    return "an array " + to_string(array->type);
  if (const auto* parts = std::get_if<std::vector<BoundValue>>(&value.value))
    return fmt::format("a tuple of {}", parts->size());
  return "a number";
}

}  // namespace tessera::query
