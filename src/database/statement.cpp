#include "database/statement.h"

#include "base/check.h"
#include "database/leftovers.h"

namespace tessera {

WriteStatement::WriteStatement(const std::filesystem::path& database, double lock_seconds,
                               store::Compression compression, std::int64_t stride,
                               store::Sync sync, const std::stop_token& stop)
    : database_(database),
      compression_(compression),
      sync_(sync),
      lock_(database, lock_seconds, stop),
      catalog_(database, store::Catalog::Mode::write, sync) {
  remove_leftovers(database, catalog_);
  const auto lengths = catalog_.segments();
  const bool any = !lengths.empty();
  appender_ = std::make_unique<Appender>(
      std::make_unique<store::SegmentWriter>(database, any ? lengths.rbegin()->first : 0,
                                             any ? lengths.rbegin()->second : 0,
                                             catalog_.next_segment(), stride),
      compression);
}

void WriteStatement::start_new_segment() {
  appender_ = std::make_unique<Appender>(
      std::make_unique<store::SegmentWriter>(database_, 0, 0, catalog_.next_segment()),
      compression_);
}

void WriteStatement::commit(const std::function<void(store::Catalog&)>& change) {
  store::SegmentWriter& segments = appender_->segments();
  segments.sync(sync_);
  bool in_doubt = false;
  try {
    store::Transaction transaction = catalog_.writing();
    catalog_.set_segments(segments.lengths());
    change(catalog_);
    // SQLite's log may be new in the folder. SQLite does this too, but does not mind if it fails.
    if (sync_ == store::Sync::always) sync_folder(database_);
    segments.keep(true);
    in_doubt = true;
    transaction.commit();
  } catch (const IoError& error) {
    if (in_doubt) settle(error);
    throw;
  }
}

/// A commit that has failed may be found in the log by others later, unless something takes its
/// place. Should that fail too, what was written stays until somebody has the lock who can.
void WriteStatement::settle(const IoError& failure) {
  try {
    catalog_.settle();
  } catch (const IoError&) {
    throw IoError(
        fmt::format("{}; it is not known whether the statement has happened: look when the "
                    "disk is well again",
                    failure.what()));
  }
  appender_->segments().keep(false);
}

}  // namespace tessera
