#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "database/together.h"
#include "session/sources.h"
#include "session/state.h"

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
};

/// The jobs that have finished a frame, by name.
std::map<std::string, JobInfo> all_jobs(const Database& database) {
  std::map<std::string, JobInfo> jobs;
  const std::string prefix = session::job_text("");
  for (const auto& [key, text] : database.texts(prefix)) {
    const auto note = nlohmann::json::parse(text);
    jobs[key.substr(prefix.size())] = {note.value("statement", ""), note.at("frames"),
                                       note.value("of", std::int64_t{0}),
                                       note.value("sources", "")};
  }
  for (const StoredInfo& info : database.list())
    for (auto& [name, job] : jobs)
      if (info.name.starts_with(session::job_relations(name))) {
        job.bytes += info.bytes;
        job.relations.push_back(info.name);
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
  (void)by_first("run job " + name, [&] {
    job_lock.reset();
    if (auto taken = JobLock::take(database.folder(), name)) {
      job_lock.emplace(std::move(*taken));
      return std::string();
    }
    const auto process = JobLock::holder(database.folder(), name);
    throw IoError(fmt::format(
        "this is job {}, which process {} is running: wait for it, or stop that process", name,
        process.value_or("?")));
  });
}

ResultTable Session::State::jobs_text() const {
  std::vector<std::vector<std::string>> rows;
  session::Catalogue catalogue(database);
  session::SourceCheck check(catalogue);
  for (const auto& [name, info] : all_jobs(database)) {
    const auto process = JobLock::holder(database.folder(), name);
    std::string state = process ? "running in process " + *process : "stopped";
    if (!process)
      if (const std::string why = check.why_job_is_outdated(info.sources); !why.empty())
        state = "outdated: " + why;
    rows.push_back({name, state, fmt::format("{} of {}", info.done, info.frames),
                    bytes_text(info.bytes), squeezed(info.statement)});
  }
  return session::text_table({"job", "state", "frames", "bytes", "statement"}, rows);
}

StatementResult Session::State::drop_job(const sql::DropJob& statement, lang::Place place) {
  const auto jobs = all_jobs(database);
  const auto found = std::find_if(jobs.begin(), jobs.end(), [&](const auto& known) {
    return query::same_name(known.first, statement.name);
  });
  if (found == jobs.end()) {
    if (statement.if_exists)
      return {"DROP JOB", {}, fmt::format("there was no job {}", statement.name)};
    fail_type(place, "there is no job {}: SHOW JOBS lists them", statement.name);
  }
  take_job(found->first);
  Changes changes;
  changes.dropped = found->second.relations;
  changes.texts[session::job_text(found->first)] = std::nullopt;
  database.change(changes, options.run);
  return {"DROP JOB", {}, fmt::format("{} is gone", found->first)};
}

}  // namespace tessera
