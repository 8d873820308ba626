#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "store/catalog_file.h"
#include "tessera/database.h"

namespace tessera {

/// A folder of its own for the database of each test, gone after it.
class DatabaseFolder : public ::testing::Test {
 protected:
  DatabaseFolder() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() /
              fmt::format("tessera-{}-{}.tsdb", ::getpid(), test->name());
    std::filesystem::remove_all(folder_);
  }
  ~DatabaseFolder() override { std::filesystem::remove_all(folder_); }

  Database open(DatabaseOptions options = {}) const { return Database::open(folder_, options); }

  std::vector<std::filesystem::path> segments() const {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "segments"))
      found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    return found;
  }
  std::shared_ptr<const store::Catalog> catalogue() const {
    return store::CatalogFile(folder_, store::Sync::never).now();
  }
  /// What somebody makes of the catalogue who knows how to, whatever sense it makes.
  void change_catalogue(const std::function<void(store::Catalog&)>& change) const {
    store::CatalogFile file(folder_, store::Sync::never);
    store::Catalog changed = *file.now();
    change(changed);
    file.commit(std::move(changed));
  }

  std::filesystem::path folder_;
};

/// The kind and text of the error that something ends with.
template <class Body>
std::string message_of(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    return fmt::format("{}: {}", error.kind(), error.what());
  }
  return "nothing was thrown";
}

/// The names of what is stored, in order.
inline std::string names_in(const Database& database) {
  std::string names;
  for (const StoredInfo& info : database.list()) names += (names.empty() ? "" : " ") + info.name;
  return names;
}

}  // namespace tessera
