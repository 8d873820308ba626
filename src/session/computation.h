#pragma once

#include "lang/sql/ast.h"
#include "session/job.h"
#include "session/tensors.h"

namespace tessera::session {

/// A query of a statement. Its rows are shown, or stored as a version of a table or as a new table.
struct Output {
  query::Request request;
  std::optional<std::string> version = {};
  const sql::CreateTable* table = nullptr;

  bool is_shown() const { return !version && table == nullptr; }
};

/// What a statement computes, before any of it is computed: queries, unrolled and cut into frames,
/// or tensors.
struct Computation {
  std::vector<Output> outputs = {};
  query::Unrolled queries = {};
  query::Framing framing = {};
  std::vector<query::Value> tables = {};       // that the queries read
  Job::Identity job = {};                      // if there are several frames
  std::optional<PlannedTensors> tensors = {};  // that are stored
  std::vector<PlannedTensor> selected = {};    // tensors that are shown
  std::vector<PassUse> passes = {};            // that this has been taken through

  bool in_frames() const { return framing.frames.size() > 1; }
};

/// What it comes to: the values of its outputs, and what is stored of them. A statement that runs
/// commits the changes; one that is explained plans them.
struct Outcome {
  std::vector<query::Value> values = {};  // one for each output
  Changes changes = {};
  Changes of_job = {};  // what its frames leave behind is dropped
  RunOptions run = {};  // how what is stored is computed

  std::vector<query::Value*> shown(const Computation& computation);
  std::vector<Plan> stored() const;  // the plans of what is stored
  bool changes_something() const {
    return !changes.texts.empty() || !changes.results.empty() || !of_job.texts.empty();
  }
};

/// The items inside EXECUTE ( ... ), loops unrolled.
std::vector<Output> outputs_of(const sql::Execute& statement, StoredDefinitions& catalogue);

}  // namespace tessera::session
