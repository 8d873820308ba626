#pragma once

#include <vector>

#include "tessera/ia.h"
#include "tra/tuple_set.h"

namespace tessera::ia {

/// The tuples of a physical relation by site, with tiles or with their types. A site may have
/// several tuples of one key only while they are summands still to be folded.
template <class Payload>
struct PhysicalSet {
  std::vector<std::vector<BasicTuple<Payload>>> at;
};

/// What crossed between sites: the numbers in the tiles of all tuples sent, by sender and by
/// receiver.
struct Traffic {
  std::vector<double> sent, received;
  double total = 0;
  explicit Traffic(int sites = 1) : sent(sites, 0), received(sites, 0) {}
  void add(int from, int to, double floats) {
    sent[from] += floats;
    received[to] += floats;
    total += floats;
  }
  double most_loaded() const;  // the largest of all that was sent or received by one site
  Traffic& operator+=(const Traffic& other);
};

/// One sending of a tuple.
struct Route {
  int from, to;
};
/// How a tuple gets from those that hold it to all sites that want it: `missing` are the sites that
/// do not have it, ascending. A few are served by holders in turn. For many it would take the
/// holders too long: each that has received it passes it on to two others. Routes come in an order
/// in which every sender has the tuple.
void routes(const std::vector<int>& holders, const std::vector<int>& missing,
            std::vector<Route>& into);

/// The sites that hold the same summand of a tuple, for each summand: those that differ only along
/// axes of copies. A tuple that is whole has one.
std::vector<std::vector<int>> summands_at(const Placement& placement,
                                          const std::vector<int>& holders, bool pending);

/// The physical operators by their definitions, one tuple after the other: the reference for the
/// engines. After each operator it verifies that tuples lie where the plan says they do.
template <class Payload>
PhysicalSet<Payload> evaluate(const Plan& plan, Traffic* traffic = nullptr);

/// The result with sites left aside, as the interpreter of the logical plan gives it.
Relation interpret(const Plan& plan, Traffic* traffic = nullptr);

}  // namespace tessera::ia
