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

/// How many tuples the busiest site has of those below a frontier.
double busiest_share(const Key& frontier, const Placement& placement);
double busiest_share(const ia::Contents& contents, const Placement& placement);

}  // namespace tessera::optimizer
