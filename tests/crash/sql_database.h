#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "tessera/session.h"

namespace tessera::crash {

/// A database with something of every kind: tensors, dense and sparse, tables with texts, views,
/// tables with versions, of which one is materialized, a tensor without data, a history, and a
/// statement in frames that was stopped.
void make_sql_database(const std::filesystem::path& folder);

/// Questions to a database and what it answers. What is asked names what it is about.
using Answers = std::map<std::string, std::string>;
Answers ask_all(const std::filesystem::path& folder, const DatabaseOptions& options = {});
/// The same where an answer may be an error: it begins with "error: ".
Answers ask_each(const std::filesystem::path& folder, const DatabaseOptions& options = {});

/// What a body yields in a process of its own: who has run plans cannot be forked any more.
Answers in_another_process(const std::function<Answers()>& body);

/// The rows of a query as a text.
std::string rows_of(Session& session, const std::string& query);

}  // namespace tessera::crash
