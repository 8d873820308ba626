#include "support/database_folder.h"
#include "support/expectations.h"

// The room that a database takes: what was dropped is given back in place.

namespace tessera {
namespace {

using Room = DatabaseFolder;

Relation large(std::uint64_t seed) {
  return Relation::from_tensor(random_normal(DType::f64, {256, 256}, seed), {128, 128});
}

constexpr std::int64_t bytes_of_large = 256 * 256 * 8;

std::int64_t room_of(const std::filesystem::path& file) { return File::open(file).room(); }

TEST_F(Room, OfWhatWasDroppedIsGivenBackInPlace) {
  Database database = open();
  for (int i = 0; i < 8; ++i) database.store(fmt::format("T{}", i), large(i));
  ASSERT_EQ(segments().size(), 1);
  const std::filesystem::path segment = segments()[0];
  const auto length = std::filesystem::file_size(segment);
  const std::int64_t before = room_of(segment);
  for (int i = 0; i < 8; ++i)
    if (i != 3) database.drop(fmt::format("T{}", i));
  database.checkpoint();
  EXPECT_EQ(std::filesystem::file_size(segment), length);  // nothing was written again
  EXPECT_LT(room_of(segment), before - 6 * bytes_of_large);
  EXPECT_TRUE(relations_equal(database.read("T3"), large(3)));
  EXPECT_TRUE(database.check().empty());
  database.store("more", large(9));
  EXPECT_TRUE(relations_equal(open().read("more"), large(9)));
  EXPECT_TRUE(database.check().empty());
}

TEST_F(Room, OfWhatSomebodyReadsStays) {
  Database database = open();
  for (int i = 0; i < 3; ++i) database.store(fmt::format("T{}", i), large(i));
  const std::filesystem::path segment = segments()[0];
  const std::int64_t before = room_of(segment);
  {
    const Plan held = open().plan("T1");
    database.drop("T1");
    database.checkpoint();
    EXPECT_GE(room_of(segment), before - 4096);
    EXPECT_TRUE(relations_equal(held.run(), large(1)));
  }
  database.checkpoint();
  EXPECT_LT(room_of(segment), before - bytes_of_large / 2);
}

TEST_F(Room, IsToldByAVacuum) {
  Database database = open();
  for (int i = 0; i < 3; ++i) database.store(fmt::format("T{}", i), large(i));
  database.drop("T1");
  EXPECT_GE(database.vacuum(), bytes_of_large / 2);
  EXPECT_EQ(database.vacuum(), 0);
  EXPECT_TRUE(relations_equal(database.read("T2"), large(2)));
  EXPECT_TRUE(database.check().empty());
}

TEST_F(Room, OfTheCatalogueDoesNotGrowWithEveryStatement) {
  Database database = open();
  for (int i = 0; i < 400; ++i) {
    database.change({.texts = {{"a", std::string(3000, 'x')}}});
    if (i % 2 == 0) database.change({.texts = {{"a", std::nullopt}}});
  }
  EXPECT_LT(std::filesystem::file_size(folder_ / "catalog.2"), 600'000);
  database.checkpoint();
  EXPECT_LT(std::filesystem::file_size(folder_ / "catalog.2"), 10'000);
  EXPECT_EQ(open().text("a"), std::string(3000, 'x'));
}

}  // namespace
}  // namespace tessera
