#include "database/statement.h"

#include "base/check.h"
#include "base/stop.h"
#include "database/leftovers.h"

namespace tessera {

WriteStatement::WriteStatement(const std::filesystem::path& database, store::CatalogFile& catalog,
                               double lock_seconds, store::Compression compression,
                               std::int64_t stride, store::Sync sync, const std::stop_token& stop)
    : database_(database),
      compression_(compression),
      sync_(sync),
      lock_(database, lock_seconds, stop),
      file_(catalog) {
  remove_leftovers();
  catalog_ = file_.now();
  const auto& lengths = catalog_->segments();
  const bool any = !lengths.empty();
  appender_ = std::make_unique<Appender>(
      std::make_unique<store::SegmentWriter>(database, any ? lengths.rbegin()->first : 0,
                                             any ? lengths.rbegin()->second : 0,
                                             catalog_->next_segment(), stride),
      compression);
}

void WriteStatement::remove_leftovers() { tessera::remove_leftovers(database_, file_); }

void WriteStatement::start_new_segment() {
  appender_ = std::make_unique<Appender>(
      std::make_unique<store::SegmentWriter>(database_, 0, 0, catalog_->next_segment()),
      compression_);
}

void WriteStatement::commit(const std::function<void(store::Catalog&)>& change) {
  store::SegmentWriter& segments = appender_->segments();
  segments.sync(sync_);
  store::Catalog changed = *catalog_;
  changed.set_segments(segments.lengths());
  change(changed);
  segments.keep(true);
  const NoStop whole;
  try {
    catalog_ = file_.commit(std::move(changed));
  } catch (const store::CommitInDoubt&) {
    throw;  // the catalogue may name what was written: it stays until somebody knows
  } catch (const IoError&) {
    segments.keep(false);
    throw;
  }
}

}  // namespace tessera
