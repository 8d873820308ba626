#include "tessera/placement.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"

namespace tessera {
namespace {

bool any_axis(const std::vector<Axis>& axes, Axis::Kind kind) {
  return std::any_of(axes.begin(), axes.end(), [&](const Axis& axis) { return axis.kind == kind; });
}

constexpr std::int64_t far = std::int64_t{1} << 40;

int coordinate(const Axis& axis, const Key& key) {
  std::int64_t sum = 0;
  for (const Digit& digit : axis.digits) {
    std::int64_t part = key[digit.component] / digit.divisor;
    // Keys reach up to 2^62, and a stride up to twice as many as there are sites.
    if (part >= far) part %= axis.extent;
    sum += digit.stride * part;
  }
  return static_cast<int>(sum % axis.extent);
}

}  // namespace

std::string sites_refused(std::int64_t sites) {
  if (sites >= 1 && sites <= max_sites) return {};
  return fmt::format("invalid number of sites {}; expected 1 to {}", sites, max_sites);
}

Placement::Placement(std::vector<Axis> axes, int sites) : axes_(std::move(axes)), sites_(sites) {
  const std::string refused = sites_refused(sites);
  TESSERA_REQUIRE(PlanError, refused.empty(), "{}", refused);
  // Axes of one coordinate say nothing: without them, equal placements look equal.
  std::erase_if(axes_, [](const Axis& axis) { return axis.extent == 1; });
  std::int64_t used = 1;
  for (const Axis& axis : axes_) {
    TESSERA_REQUIRE(PlanError, axis.extent >= 1, "an axis cannot have the extent {}", axis.extent);
    TESSERA_REQUIRE(PlanError, (axis.kind == Axis::Kind::split) == !axis.digits.empty(),
                    "an axis must have digits if it splits, and none otherwise");
    for (const Digit& digit : axis.digits)
      TESSERA_REQUIRE(PlanError, digit.component >= 0 && digit.divisor >= 1 && digit.stride >= 0,
                      "invalid digit {} * (k{} div {})", digit.stride, digit.component,
                      digit.divisor);
    used *= axis.extent;
    TESSERA_REQUIRE(PlanError, used <= sites, "a grid needs {} sites or more, but there are {}",
                    used, sites);
  }
  if (axes_.size() > 1 && is_all()) axes_ = {{sites, Axis::Kind::copy, {}}};
}

Placement Placement::all(int sites) { return {{{sites, Axis::Kind::copy, {}}}, sites}; }

Placement Placement::part(const std::vector<int>& components, const Key& frontier, int sites) {
  Axis axis{1, Axis::Kind::split, {}};
  std::int64_t keys = 1;
  for (std::size_t i = components.size(); i-- > 0;) {
    const int component = components[i];
    TESSERA_REQUIRE(PlanError, component >= 0 && std::cmp_less(component, frontier.size()),
                    "key component {} does not exist in keys below {}", component,
                    tessera::to_string(frontier));
    // A stride counts only modulo the extent, so that it need not grow without bound.
    axis.digits.insert(axis.digits.begin(), {component, 1, keys});
    const std::int64_t extent = std::max<std::int64_t>(1, frontier[component]);
    keys =
        extent > sites / keys ? (keys % sites) * (extent % sites) % sites + sites : keys * extent;
  }
  axis.extent = static_cast<int>(std::min<std::int64_t>(sites, keys));
  if (axis.digits.empty()) axis.extent = 1;
  return {{axis}, sites};
}

Placement Placement::grid(const std::vector<int>& on, const std::vector<int>& extents, int sites) {
  TESSERA_REQUIRE(PlanError, on.size() == extents.size(), "{} components are given for {} axes",
                  on.size(), extents.size());
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < on.size(); ++i)
    axes.push_back({extents[i], Axis::Kind::split, {{on[i], 1, 1}}});
  return {axes, sites};
}

Placement Placement::scattered(std::shared_ptr<const Table> table, int sites) {
  Placement result({}, sites);
  result.table_ = std::move(table);
  return result;
}

bool Placement::is_all() const {
  if (is_scattered()) return false;
  return copies() == sites_ && used() == sites_;
}

bool Placement::has_copies() const {
  if (is_scattered())
    return std::any_of(table_->begin(), table_->end(),
                       [](const auto& entry) { return entry.second.size() > 1; });
  return any_axis(axes_, Axis::Kind::copy);
}

bool Placement::has_partials() const { return any_axis(axes_, Axis::Kind::partial); }

bool Placement::is_part(const std::vector<int>& components) const {
  if (is_scattered() || has_copies() || has_partials()) return false;
  for (const Axis& axis : axes_)
    for (const Digit& digit : axis.digits)
      if (std::find(components.begin(), components.end(), digit.component) == components.end())
        return false;
  return true;
}

int Placement::copies() const {
  int copies = 1;
  for (const Axis& axis : axes_)
    if (axis.kind == Axis::Kind::copy) copies *= axis.extent;
  return copies;
}

int Placement::used() const {
  if (is_scattered()) return sites_;
  int used = 1;
  for (const Axis& axis : axes_) used *= axis.extent;
  return used;
}

std::vector<int> Placement::holders(const Key& key) const {
  std::vector<int> result;
  holders(key, result);
  return result;
}

void Placement::holders(const Key& key, std::vector<int>& into) const {
  into.clear();
  if (is_scattered()) {
    const auto found = table_->find(key);
    if (found != table_->end()) into = found->second;
    return;
  }
  into.push_back(0);
  for (const Axis& axis : axes_) {
    const std::size_t before = into.size();
    if (axis.kind == Axis::Kind::split) {
      const int at = coordinate(axis, key);
      for (int& site : into) site = site * axis.extent + at;
    } else {
      for (std::size_t i = 0; i < before; ++i) into[i] *= axis.extent;
      for (int at = 1; at < axis.extent; ++at)
        for (std::size_t i = 0; i < before; ++i) into.push_back(into[i] + at);
    }
  }
  if (into.size() > 1) std::sort(into.begin(), into.end());
}

Placement Placement::renumber(const std::vector<int>& to, Axis::Kind otherwise) const {
  TESSERA_INVARIANT(!is_scattered(), "a table of keys cannot be renumbered");
  std::vector<Axis> axes = axes_;
  for (Axis& axis : axes) {
    bool gone = false;
    for (Digit& digit : axis.digits) {
      digit.component = to[digit.component];
      gone = gone || digit.component < 0;
    }
    if (gone) axis = {axis.extent, otherwise, {}};
  }
  return {axes, sites_};
}

std::string Placement::to_string() const {
  if (is_scattered()) return "SCATTERED";
  if (is_all() && sites_ > 1) return "ALL";
  std::vector<std::string> on, notes, extents;
  for (const Axis& axis : axes_) {
    if (axis.kind == Axis::Kind::copy) notes.push_back(fmt::format("{} copies", axis.extent));
    if (axis.kind == Axis::Kind::partial) notes.push_back(fmt::format("{} summands", axis.extent));
    if (axis.kind != Axis::Kind::split) continue;
    std::vector<std::string> digits;
    for (const Digit& digit : axis.digits)
      digits.push_back(digit.divisor == 1
                           ? fmt::format("{}", digit.component)
                           : fmt::format("{} div {}", digit.component, digit.divisor));
    on.push_back(fmt::format("{}", fmt::join(digits, "+")));
    extents.push_back(fmt::format("{}", axis.extent));
  }
  std::string text =
      on.empty() ? "at one site"
                 : fmt::format("PART<{}> on {}", fmt::join(on, ", "), fmt::join(extents, "x"));
  if (on.empty() && !notes.empty()) return fmt::format("{}", fmt::join(notes, ", "));
  for (const std::string& note : notes) text += ", " + note;
  return text;
}

bool operator==(const Placement& a, const Placement& b) {
  const bool same_table = a.table_ == b.table_ || (a.table_ && b.table_ && *a.table_ == *b.table_);
  return a.sites_ == b.sites_ && a.axes_ == b.axes_ && same_table;
}

std::size_t PlacementHash::operator()(const Placement& placement) const noexcept {
  std::size_t hash = static_cast<std::size_t>(placement.sites());
  const auto mix = [&](std::int64_t value) {
    hash = (hash ^ static_cast<std::size_t>(value)) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 29;
  };
  for (const Axis& axis : placement.axes()) {
    mix(axis.extent);
    mix(static_cast<int>(axis.kind));
    for (const Digit& digit : axis.digits) {
      mix(digit.component);
      mix(digit.divisor);
      mix(digit.stride);
    }
  }
  if (placement.is_scattered()) mix(static_cast<std::int64_t>(placement.table()->size()));
  return hash;
}

}  // namespace tessera
