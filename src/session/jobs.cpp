#include <algorithm>

#include "base/bytes.h"
#include "database/by_first.h"
#include "session/sources.h"
#include "session/state.h"
#include "store/json_fields.h"

// SHOW JOBS and DROP JOB: statements in frames that run, or were stopped and can go on.

namespace tessera {

using lang::fail_type;
using session::JobLock;

namespace {

struct JobInfo {
  std::string statement;
  std::int64_t done = 0, frames = 0;
  std::string sources = {};
  std::int64_t bytes = 0;
  std::vector<std::string> relations = {};  // what it has stored
  std::string damage = {};                  // why nothing else is known of it
};

JobInfo job_in(const std::string& text, const std::string& name) {
  return store::read_stored(fmt::format("job \"{}\"", name), [&] {
    const auto note = nlohmann::json::parse(text);
    return JobInfo{note.value("statement", ""), store::integer_of(note.at("frames"), 0),
                   store::integer_of(note.value("of", nlohmann::json(0)), 0),
                   note.value("sources", "")};
  });
}

/// The jobs that have finished a frame, by name.
std::map<std::string, JobInfo> all_jobs(const Snapshot& snapshot) {
  std::map<std::string, JobInfo> jobs;
  const std::string prefix = session::job_text("");
  for (const auto& [key, text] : snapshot.texts(prefix)) {
    const std::string name = key.substr(prefix.size());
    try {
      jobs[name] = job_in(text, name);
    } catch (const IoError& error) {  // it can be dropped nevertheless
      jobs[name].damage = error.what();
    }
  }
  for (const std::string& relation : snapshot.names())
    for (auto& [name, job] : jobs)
      if (relation.starts_with(session::job_relations(name))) {
        job.relations.push_back(relation);
        try {
          job.bytes += snapshot.info(relation).bytes;
        } catch (const IoError& error) {  // the job can be dropped nevertheless
          job.damage = error.what();
        }
      }
  return jobs;
}

/// On one line.
std::string squeezed(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!blank)
      result += c;
    else if (!result.empty() && result.back() != ' ')
      result += ' ';
  }
  return result;
}

}  // namespace

void Session::State::take_job(const std::string& name) {
  (void)by_first(*options.run.engine, "run job " + name, [&] {
    job_lock.reset();
    if (auto taken = JobLock::take(database.folder(), name)) {
      job_lock.emplace(std::move(*taken));
      return std::string();
    }
    const auto process = JobLock::holder(database.folder(), name);
    throw IoError(
        fmt::format("job \"{}\" is running in process {}; wait for it, or stop that process", name,
                    process.value_or("?")));
  });
}

ResultTable Session::State::jobs_text() const {
  std::vector<std::vector<std::string>> rows;
  session::StoredDefinitions catalogue(*snapshot);
  session::SourceCheck check(catalogue);
  for (const auto& [name, info] : all_jobs(*snapshot)) {
    const auto process = JobLock::holder(database.folder(), name);
    std::string state = process ? "running in process " + *process : "stopped";
    if (!info.damage.empty())
      state = "damaged: " + info.damage;
    else if (!process)
      if (const std::string why = check.why_job_is_outdated(info.sources); !why.empty())
        state = "outdated: " + why;
    rows.push_back({name, state, fmt::format("{} of {}", info.done, info.frames),
                    bytes_text(info.bytes), squeezed(info.statement)});
  }
  return session::text_table({"job", "state", "frames", "bytes", "statement"}, rows);
}

StatementResult Session::State::drop_job(const sql::DropJob& statement, lang::Location location) {
  const auto jobs = all_jobs(*snapshot);
  const auto found = std::find_if(jobs.begin(), jobs.end(), [&](const auto& known) {
    return query::same_name(known.first, statement.name);
  });
  if (found == jobs.end()) {
    if (statement.if_exists)
      return {"DROP JOB", {}, fmt::format("job {} does not exist, skipping", statement.name)};
    fail_type(location, "job \"{}\" not found; SHOW JOBS lists all jobs", statement.name);
  }
  take_job(found->first);
  Changes changes;
  changes.dropped = found->second.relations;
  changes.texts[session::job_text(found->first)] = std::nullopt;
  commit(changes, options.run);
  return {"DROP JOB", {}, fmt::format("dropped job {}", found->first)};
}

}  // namespace tessera
