#include "store/catalog_file.h"

#include <sys/stat.h>

#include <fstream>

#include "support/database_folder.h"
#include "support/expectations.h"

// When the files of the catalogue are written anew, and when they are only added to.

namespace tessera::store {
namespace {

class CatalogFiles : public DatabaseFolder {
 protected:
  CatalogFiles() { (void)open(); }

  void set(const std::string& name, std::size_t bytes) const {
    change_catalogue([&](Catalog& catalog) { catalog.set_text(name, std::string(bytes, 'x')); });
  }
  void compact() const { CatalogFile(folder_, Sync::never).compact(); }

  std::uintmax_t bytes() const { return std::filesystem::file_size(folder_ / "catalog.2"); }
  /// A file that is written anew is another one.
  template <class Change>
  bool writes_anew(const Change& change) const {
    const auto number = [&] {
      struct stat file {};
      EXPECT_EQ(::stat((folder_ / "catalog.2").c_str(), &file), 0);
      return file.st_ino;
    };
    const ino_t before = number();
    change();
    return number() != before;
  }
};

TEST_F(CatalogFiles, ACommitAddsToThemUntilTheyAreTwiceAsLongAsNeeded) {
  EXPECT_TRUE(writes_anew([&] { set("large", 1 << 20); }));  // beside nearly nothing
  // Whoever commits next knows how long an image is, though he has not written it.
  EXPECT_FALSE(writes_anew([&] { set("small", 1000); }));
  EXPECT_FALSE(writes_anew([&] { set("large", 900 << 10); }));
  EXPECT_TRUE(writes_anew([&] { set("large", 900 << 10); }));
  EXPECT_LT(bytes(), 1000 << 10);
  EXPECT_EQ(open().text("small").value().size(), 1000);
}

TEST_F(CatalogFiles, ACompactionLeavesThemWhereItGainsLittle) {
  compact();
  set("a", 3000);
  EXPECT_FALSE(writes_anew([&] { compact(); }));
  set("a", 3000);
  EXPECT_TRUE(writes_anew([&] { compact(); }));
  EXPECT_LT(bytes(), 4500);
  set("a", 100'000);
  compact();
  set("b", 20'000);
  EXPECT_FALSE(writes_anew([&] { compact(); }));
  set("b", 20'000);
  EXPECT_TRUE(writes_anew([&] { compact(); }));
}

TEST_F(CatalogFiles, WhatIsDamagedIsWrittenAnewByACompaction) {
  for (const char* name : {"catalog.1", "catalog.2"}) {
    set("a", 100);
    std::fstream(folder_ / name, std::ios::in | std::ios::out | std::ios::binary).seekp(200) << "?";
    ASSERT_EQ(CatalogFile(folder_, Sync::never).damage().size(), 1);
    EXPECT_TRUE(writes_anew([&] { compact(); })) << name;
    EXPECT_TRUE(CatalogFile(folder_, Sync::never).damage().empty());
  }
}

TEST_F(CatalogFiles, AChangeOfAnotherStateIsRefused) {
  CatalogFile file(folder_, Sync::never);
  Catalog changed = *file.now();
  changed.set_text("a", "mine");
  set("a", 1);
  EXPECT_ERROR(InternalError, file.commit(std::move(changed)),
               "a change of commit 0 after commit 1");
  EXPECT_EQ(open().text("a"), "x");
}

TEST_F(CatalogFiles, ACommitOfNothingIsNone) {
  CatalogFile file(folder_, Sync::never);
  const auto before = file.now();
  EXPECT_EQ(file.commit(Catalog(*before)), before);
}

}  // namespace
}  // namespace tessera::store
