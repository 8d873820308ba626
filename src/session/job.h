#pragma once

#include <chrono>

#include "query/lowering/evaluation.h"
#include "query/versions/framing.h"
#include "session/stored_result.h"
#include "tessera/database.h"

namespace tessera::session {

/// Computes an unrolled plan frame by frame. What later frames read of a frame, and what is asked
/// for, is stored in the database when the frame is done, and dropped after its last reader, each
/// together with the note that says how far the job is: after a crash the same statement goes on
/// where it was. A plan of one frame is not computed here at all: its results are plans.
class Job {
 public:
  /// What it is known by: a name, the same for the same plan over the same data, and, for people,
  /// the statement's text; the history of pipelining by which it was cut; and what it reads.
  struct Identity {
    std::string name = {}, statement = {}, history = {}, sources = {};
  };
  /// `stored`: the tables that the plan reads.
  Job(const query::Unrolled& plan, query::Framing framing, std::vector<query::Value> stored,
      Identity identity, Database& database, query::Dictionary& dictionary,
      const query::Settings& settings);

  /// What is asked for, one after the other.
  std::vector<query::Value> run();

  /// What a finished statement leaves behind, which is to be dropped together with whatever it
  /// changes: relations, and the note.
  void clean_up(Changes& changes) const;
  const frames::History& history() const { return history_; }

 private:
  query::Value& value(std::int64_t op);
  query::Value evaluated(std::int64_t op);
  std::string relation_of(std::int64_t op) const;
  void run_frame(std::int32_t frame);
  void plan_frame(std::int32_t frame, const std::map<std::int64_t, Stored>& stored);
  /// Whether the statement is only planned: then nothing is stored.
  bool is_planned() const;
  Plan stored_plan(std::int64_t op) const;
  void learn(std::int32_t frame);
  Progress of_all_frames(Progress progress) const;

  const query::Unrolled& plan_;
  const query::Framing framing_;
  std::vector<query::Value> tables_;
  const Identity identity_;
  Database& database_;
  query::Dictionary& dictionary_;
  query::Settings settings_;
  std::map<std::int64_t, query::Value> values_;  // of operators that are at hand
  std::map<std::int64_t, std::string>
      layouts_;                           // of what is stored: how its columns lie; empty: no rows
  std::map<std::int64_t, Plan> to_come_;  // results of frames that are only planned
  int resumed_ = 0;
  std::int32_t frame_ = 0;  // that is being computed
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  frames::History history_;
};

/// The history by which a job was cut that has not come to its end; none: there is no such job.
std::optional<std::string> history_of_job(const Database& database, const std::string& name);

}  // namespace tessera::session
