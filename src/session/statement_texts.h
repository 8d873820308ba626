#pragma once

#include <unordered_map>

#include "query/lowering/table.h"
#include "tessera/database.h"

namespace tessera::session {

/// The texts of one statement and the numbers that stand for them in tiles: those that it makes,
/// and those of the tables that it reads.
class StatementTexts : public query::Dictionary {
 public:
  explicit StatementTexts(Snapshot snapshot) : snapshot_(std::move(snapshot)) {}
  std::vector<std::int64_t> codes(const std::vector<std::string>& texts) override;
  std::vector<std::string> texts(const std::vector<std::int64_t>& codes) override;

 private:
  const Snapshot snapshot_;
  std::unordered_map<std::int64_t, std::string> known_;
};

}  // namespace tessera::session
