#pragma once

#include "session/job.h"
#include "session/tensors.h"

namespace tessera::session {

/// A query of a statement: its rows are shown, or stored under a name.
struct Output {
  query::Request request;
  std::optional<std::string> stored_as = {};
};

/// What a statement computes, before any of it is computed: queries, unrolled and cut into frames,
/// or a tensor. What runs a statement and what explains it begin with the same value.
struct Computation {
  std::vector<Output> outputs = {};
  query::Unrolled queries = {};
  query::Framing framing = {};
  std::vector<query::Value> tables = {};  // that the queries read
  Job::Identity job = {};                 // if there are several frames
  std::optional<PlannedTensor> tensor = {};

  bool in_frames() const { return framing.frames.size() > 1; }
};

/// What the items inside EXECUTE ( ... ) ask for, loops run out.
std::vector<Output> outputs_of(const sql::Execute& statement, StoredDefinitions& catalogue);
/// What CREATE TABLE ... AS asks for.
Output output_of(const sql::CreateTable& statement);

}  // namespace tessera::session
