#pragma once

#include <vector>

#include "ia/contents.h"
#include "ia/evaluate.h"
#include "tessera/ia.h"

namespace tessera::optimizer {

/// The sites that hold each of a list of tuples, or a summand of it: what a placement says, spelled
/// out once.
struct Holders {
  std::vector<std::uint32_t> begin;  // of each tuple's sites; one more than there are tuples
  std::vector<int> sites;
  std::size_t size() const { return begin.size() - 1; }
};
Holders holders_of(const ia::Contents& contents, const Placement& placement);

/// The sites that hold a summand of each tuple of an aggregation whose input lies so.
Holders summand_holders(const ia::Contents& result, const ia::Contents& input,
                        const std::vector<int>& group_by, const Placement& input_placement);

/// What crosses when tuples that lie at `from` are brought to `to`. Of a placement with summands,
/// all are sent.
ia::Traffic traffic(const ia::Contents& contents, const Holders& from, const Placement& placement,
                    bool pending, const Holders& to, int sites);

/// Keys that placements treat alike stand for each other: one of each kind below the frontier of a
/// relation without holes whose tuples are all as large, with the floats of all of its kind. Counts
/// of what crosses come out the same, from far fewer keys.
struct Period {
  Key of;  // by component: from where on sites repeat
  explicit Period(const Key& frontier) : of(frontier.size(), 1) {}
  void refine(const Placement& placement);  // also tells apart what this placement does
};
ia::Contents kinds_of_keys(const Key& frontier, double floats, const Period& period);
/// The kinds of keys of an aggregation's result, with the floats that are there, and of its input,
/// for sums whose input lies at `from` and that are brought to `to`.
struct SummandKinds {
  ia::Contents result, input;
};
SummandKinds kinds_of_summands(const ia::Plan& result, const ia::Plan& input,
                               const std::vector<int>& group_by, const Placement& from,
                               const Placement& to);
/// Whether a relation is counted exactly that way.
bool is_even(const Plan& logical);
/// Whether it is counted that way at all: exactly, or because it cannot be listed. Then it is
/// taken to have its tuples spread evenly below its frontier, and a key stands for a share of one.
bool counts_by_kinds(const Plan& logical);
bool counts_by_kinds(const Plan& result, const Plan& input);  // the two together
double tuples_at_a_key(const Plan& logical);
/// The kinds of its keys, with the floats that are there.
ia::Contents kinds_of_tuples(const ia::Plan& plan, const Period& period);

/// How many tuples the busiest site has of those below a frontier.
double busiest_share(const Key& frontier, const Placement& placement);
double busiest_share(const ia::Contents& contents, const Placement& placement);

}  // namespace tessera::optimizer
