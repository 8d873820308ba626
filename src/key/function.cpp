#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/check.h"
#include "key/expression.h"

namespace tessera {

std::string to_string(const Key& key) {
  return fmt::format("<{}>", fmt::join(key.begin(), key.end(), ", "));
}

std::size_t KeyHash::operator()(const Key& key) const noexcept {
  // Each component is mixed by a multiplication with a large odd number and a shift, because
  // keys differ in their low bits only and tables look at the low bits of the hash only.
  std::uint64_t hash = key.size();
  for (const std::int64_t component : key) {
    hash = (hash ^ static_cast<std::uint64_t>(component)) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  }
  return hash;
}

KeyFunction KeyFunction::opaque(std::string name, int output_arity,
                                std::function<Key(const Key&)> function) {
  TESSERA_REQUIRE(TypeError, output_arity >= 0 && output_arity <= static_cast<int>(Key::capacity),
                  "{}: a key has 0 to {} components, not {}", name, Key::capacity, output_arity);
  const auto shared = std::make_shared<const std::function<Key(const Key&)>>(std::move(function));
  std::vector<KeyExpr> components;
  components.reserve(static_cast<std::size_t>(output_arity));
  for (int i = 0; i < output_arity; ++i) {
    components.push_back(KeyExpr::opaque(
        fmt::format("{}[{}]", name, i), [shared, name, output_arity, i](const Key& key) {
          const Key result = (*shared)(key);
          if (result.size() != static_cast<std::size_t>(output_arity))
            throw TypeError(fmt::format("{} at key {}: the result {} has {} components, not {}",
                                        name, tessera::to_string(key), tessera::to_string(result),
                                        result.size(), output_arity));
          return result[i];
        }));
  }
  return KeyFunction(std::move(components));
}

Key KeyFunction::evaluate(const Key& key) const {
  Key result;
  for (const KeyExpr& component : components_) result.push_back(component.evaluate(key));
  return result;
}

std::string KeyFunction::to_string() const {
  std::vector<std::string> printed;
  for (const KeyExpr& component : components_) printed.push_back(component.to_string());
  return fmt::format("<{}>", fmt::join(printed, ", "));
}

int KeyFunction::input_arity() const {
  int arity = 0;
  for (const KeyExpr& component : components_) arity = std::max(arity, component.arity());
  return arity;
}

bool KeyFunction::is_opaque() const {
  return std::any_of(components_.begin(), components_.end(),
                     [](const KeyExpr& component) { return component.is_opaque(); });
}

KeyFunction KeyFunction::compose(const KeyFunction& inner) const {
  std::vector<KeyExpr> components;
  for (const KeyExpr& component : components_)
    components.push_back(component.substitute(inner.components()));
  return KeyFunction(std::move(components));
}

bool is_identity(const KeyFunction& function, std::size_t arity) {
  const auto& components = function.components();
  if (components.size() != arity) return false;
  for (std::size_t i = 0; i < arity; ++i) {
    const auto* component = std::get_if<KeyExpr::Node::Component>(&components[i].node().form);
    if (component == nullptr || static_cast<std::size_t>(component->index) != i) return false;
  }
  return true;
}

}  // namespace tessera
