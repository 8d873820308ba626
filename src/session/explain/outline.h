#pragma once

#include "query/versions/framing.h"
#include "session/catalogue.h"
#include "session/tensors.h"
#include "tessera/optimizer.h"

namespace tessera::session {

/// Plans that are run together.
struct Part {
  std::string what = {};  // they are for; empty: for all that is asked
  std::vector<Plan> plans = {};
};

/// A statement as far as it can be known before it looks at rows.
struct Outline {
  std::optional<query::Unrolled> unrolled = {};  // of queries
  query::Framing framing = {};
  std::map<std::int64_t, std::string> by_rows = {};  // operators that look at rows, and why
  std::optional<PlannedTensor> tensor = {};          // of CREATE TENSOR
  std::vector<Part> parts = {};                      // that are plans
  /// Where inputs lie that are said to lie somewhere.
  std::function<std::optional<Placement>(const Plan&)> placed = {};

  bool in_frames() const { return framing.frames.size() > 1; }
};

/// How queries will be evaluated, as far as it matters here.
struct Circumstances {
  frames::History history;
  frames::Limits limits;
  bool by_rows = false;
  std::stop_token stop = {};
};

Outline outline_of(const std::vector<query::Request>& requests, Catalogue& catalogue,
                   query::Dictionary& dictionary, const Circumstances& under);
Outline outline_of(const sql::CreateTensor& statement, const Snapshot& snapshot,
                   Catalogue& catalogue, int tile_size, int sites, lang::Place place);

/// Whether all that a plan reads is there: a virtual tensor has a type and no tuples.
bool has_data(const Plan& plan);

/// Of a frame: how many of its results later ones read, or whoever asks.
std::int64_t results_for_later(const query::Framing& framing, std::size_t frame);

/// The operator with this number in one line.
std::string describe(const query::Unrolled& plan, std::int64_t op);

}  // namespace tessera::session
