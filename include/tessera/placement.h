#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "tessera/key.h"

namespace tessera {

inline constexpr int max_sites = 4096;
/// What is wrong with a number of sites; empty if nothing is.
std::string sites_refused(std::int64_t sites);

/// A part of a coordinate: stride * (key[component] div divisor).
struct Digit {
  int component = 0;
  std::int64_t divisor = 1;
  std::int64_t stride = 1;
  friend bool operator==(const Digit&, const Digit&) = default;
};

/// How the tuples of a relation lie along one axis of a grid of sites.
struct Axis {
  enum class Kind {
    split,    // at one coordinate, which the key tells: the sum of the digits mod the extent
    copy,     // at every coordinate
    partial,  // each coordinate may have a summand of its own; together they are the tuple
  };
  int extent = 1;
  Kind kind = Kind::split;
  std::vector<Digit> digits = {};  // of a split
  friend bool operator==(const Axis&, const Axis&) = default;
};

/// Which sites hold which tuples of a physical relation (Yuan et al., section 4): a grid of sites
/// with a rule for each axis. ALL is one axis of copies, PART_D a grid of splits on components
/// within D; between them lie the placements of the classic algorithms, split along some axes and
/// copied along others. The map from keys to sites is deterministic and, as key components count
/// from zero without holes, balanced: consecutive keys go to different sites.
class Placement {
 public:
  Placement() = default;  // everything at the only site
  Placement(std::vector<Axis> axes, int sites);

  static Placement all(int sites);
  /// PART_D: tuples that agree in these components are at one site. Several components are dealt
  /// out together, in the order of the keys below the frontier.
  static Placement part(const std::vector<int>& components, const Key& frontier, int sites);
  /// A grid: component `on[i]` is split over `extents[i]` coordinates of its own.
  static Placement grid(const std::vector<int>& on, const std::vector<int>& extents, int sites);
  /// Each key where a table says: the rest after a key function that nothing can be said of.
  using Table = std::unordered_map<Key, std::vector<int>, KeyHash>;
  static Placement scattered(std::shared_ptr<const Table> table, int sites);

  int sites() const { return sites_; }
  const std::vector<Axis>& axes() const { return axes_; }
  const std::shared_ptr<const Table>& table() const { return table_; }  // of a scattered one
  bool is_scattered() const { return table_ != nullptr; }

  bool is_all() const;        // ALL: each tuple is at each site
  bool has_copies() const;    // a tuple may be at several sites
  bool has_partials() const;  // the summands of a tuple may be at several sites
  /// PART_D: one copy of each tuple, and those that agree in all components of D are together.
  bool is_part(const std::vector<int>& components) const;
  int copies() const;  // how many sites hold a tuple, if it is not scattered
  int used() const;    // how many sites hold anything at most: the product of the extents

  /// The sites that hold the tuple with this key, ascending; that may hold a summand of it.
  std::vector<int> holders(const Key& key) const;
  void holders(const Key& key, std::vector<int>& into) const;

  /// The placement seen by keys whose component i is called to[i]; -1: it is gone, and the axes
  /// that depend on it become `otherwise`.
  Placement renumber(const std::vector<int>& to, Axis::Kind otherwise) const;

  std::string to_string() const;  // "ALL", "PART<0, 2> on 2x2", "PART<0> on 4, 2 copies"
  friend bool operator==(const Placement& a, const Placement& b);

 private:
  std::vector<Axis> axes_;
  int sites_ = 1;
  std::shared_ptr<const Table> table_;
};

struct PlacementHash {
  std::size_t operator()(const Placement& placement) const noexcept;
};

}  // namespace tessera
