#include "tessera/database.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <xxhash.h>

#include <cstring>
#include <fstream>
#include <thread>

#include "store/segment.h"
#include "support/database_folder.h"
#include "support/expectations.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;

using DatabaseTest = DatabaseFolder;

Relation matrix(std::int64_t rows, std::int64_t columns, const Shape& tile, std::uint64_t seed = 1,
                DType dtype = DType::f64) {
  return Relation::from_tensor(random_integers(dtype, {rows, columns}, seed, 0, 100), tile);
}

void flip_a_bit(const fs::path& file, std::int64_t at) {
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekg(at);
  const int before = stream.get();
  stream.seekp(at);
  stream.put(static_cast<char>(before ^ 4));
}

TEST_F(DatabaseTest, WhatIsStoredIsThereWhenOpenedAgain) {
  const Relation a = matrix(7, 5, {3, 2});
  open().store("A", a);
  const Database again = open({.create = false});
  EXPECT_TRUE(relations_equal(again.read("A"), a));
  const StoredInfo info = again.info("A");
  EXPECT_EQ(info.name, "A");
  EXPECT_EQ(info.type, a.type());
  EXPECT_EQ(info.shape, (Shape{7, 5}));
  EXPECT_EQ(info.statistics, a.statistics());
  EXPECT_GT(info.bytes, 7 * 5 * 8);
}

TEST_F(DatabaseTest, EveryDtypeRankAndLayout) {
  Database database = open();
  int number = 0;
  for (const bool compress : {false, true}) {
    Database writer = open({.compress = compress});
    for (const DType dtype : {DType::f32, DType::f64, DType::i64, DType::boolean})
      for (const Shape& shape :
           {Shape{}, Shape{1}, Shape{9}, Shape{1, 6}, Shape{6, 1}, Shape{4, 3, 5}, Shape{0, 3}}) {
        for (int sparse_dims = 0; sparse_dims <= shape.rank(); ++sparse_dims) {
          const Tile tile = random_integers(dtype, shape, 7, 0, 3).with_sparse_dims(sparse_dims);
          const Relation relation =
              Relation::of({{{0, 2}, {tile, Tile::scalar(2.5)}}}, Presence::sparse, Key{1, 4});
          const std::string name = fmt::format("T{}", number++);
          writer.store(name, relation);
          EXPECT_TRUE(relations_equal(database.read(name), relation))
              << to_string(tile.type()) << (compress ? " compressed" : "");
        }
      }
  }
  EXPECT_TRUE(database.check().empty());
}

TEST_F(DatabaseTest, SparseTensorsKeepTheShapesOfAbsentTiles) {
  std::vector<double> numbers(7 * 5, 0);
  numbers[8] = 3;
  const Relation sparse =
      Relation::from_tensor(Tile::of<double>({7, 5}, numbers), {3, 2}, Presence::sparse);
  ASSERT_EQ(sparse.size(), 1);
  Database database = open();
  database.store("S", sparse);
  EXPECT_EQ(database.info("S").shape, (Shape{7, 5}));
  EXPECT_TRUE(relations_equal(database.read("S"), sparse));
  EXPECT_EQ(database.read("S").to_tensor().shape(), (Shape{7, 5}));
  const Plan doubled = database.plan("S").transform("add_scalar(value=1)");
  EXPECT_TRUE(
      relations_equal(doubled.run(), Plan::input(sparse).transform("add_scalar(value=1)").run()));
}

TEST_F(DatabaseTest, PlansReadTilesWhenTheyRun) {
  Database database = open();
  const Relation a = matrix(6, 8, {2, 3}), b = matrix(8, 4, {3, 3}, 2);
  database.store("A", a);
  database.store("B", b);
  const auto product = [](const Plan& x, const Plan& y) {
    return x.join(y, {1}, {0}, "matmul").aggregate({0, 2}, "add");
  };
  const Relation expected = product(Plan::input(a), Plan::input(b)).interpret();
  const Plan plan = product(database.plan("A"), database.plan("B"));
  EXPECT_TRUE(relations_equal(plan.interpret(), expected));
  for (const int sites : {1, 3}) {
    RunOptions options;
    options.sites = sites;
    EXPECT_TRUE(relations_equal(run(plan, options), expected));
  }
  database.store("C", plan);
  EXPECT_TRUE(relations_equal(database.read("C"), expected));
}

TEST_F(DatabaseTest, AnInputIsTheStateWhenItWasMade) {
  Database database = open();
  const Relation a = matrix(6, 6, {2, 2});
  database.store("A", a);
  const Plan plan = database.plan("A");
  database.drop("A");
  database.store("A", matrix(4, 4, {2, 2}, 9));
  database.vacuum();
  EXPECT_TRUE(relations_equal(plan.run(), a));
}

TEST_F(DatabaseTest, DropAndRename) {
  Database database = open();
  database.store("A", matrix(4, 4, {2, 2}));
  database.rename("A", "B");
  EXPECT_EQ(database.list().size(), 1);
  EXPECT_EQ(database.list()[0].name, "B");
  database.drop("B");
  EXPECT_TRUE(database.list().empty());
}

TEST_F(DatabaseTest, VacuumGivesBackWhatWasDropped) {
  Database database = open();
  const Relation kept = matrix(10, 10, {3, 3}), dropped = matrix(300, 300, {100, 100});
  database.store("dropped", dropped);
  database.store("kept", kept);
  database.drop("dropped");
  EXPECT_GT(database.vacuum(), 300 * 300 * 8);
  EXPECT_TRUE(relations_equal(database.read("kept"), kept));
  EXPECT_EQ(segments().size(), 1);
  EXPECT_LT(fs::file_size(segments()[0]), 10'000);
  EXPECT_EQ(database.vacuum(), 0);
  EXPECT_TRUE(database.check().empty());
}

TEST_F(DatabaseTest, LeftoversOfStatementsThatFailedGo) {
  Database database = open();
  const Relation a = matrix(6, 6, {2, 2});
  database.store("A", a);
  // As if a process had been killed: bytes after the end that counts, and a segment nobody knows.
  std::ofstream(segments()[0], std::ios::app | std::ios::binary) << "half a tile";
  std::ofstream(store::segment_path(folder_, 77)) << "half a segment";
  EXPECT_TRUE(relations_equal(database.read("A"), a));
  database.store("B", a);
  EXPECT_EQ(segments().size(), 1);
  EXPECT_TRUE(relations_equal(database.read("A"), a));
  EXPECT_TRUE(relations_equal(database.read("B"), a));
  EXPECT_TRUE(database.check().empty());
}

TEST_F(DatabaseTest, AFlippedBitIsReportedWithTensorAndKey) {
  Database database = open();
  const Relation good = matrix(6, 6, {2, 2}), bad = matrix(40, 40, {20, 20});
  database.store("good", good);
  const auto begin = static_cast<std::int64_t>(fs::file_size(segments()[0]));
  database.store("bad", bad);
  flip_a_bit(segments()[0], begin + 400);
  const std::string message = message_of([&] { (void)database.plan("bad").run(); });
  EXPECT_NE(message.find("IoError: the tile of \"bad\" at <0, 0> is damaged"), std::string::npos)
      << message;
  const std::vector<Damage> damage = database.check();
  ASSERT_EQ(damage.size(), 1);
  EXPECT_EQ(damage[0].name, "bad");
  EXPECT_EQ(damage[0].key, (Key{0, 0}));
  EXPECT_TRUE(relations_equal(database.read("good"), good));
  EXPECT_NO_THROW((void)database.plan("bad").filter("k0 = 1").run(Holes::allowed));
}

TEST_F(DatabaseTest, EveryFlippedByteIsFound) {
  Database database = open({.compress = true});
  database.store("A", matrix(4, 4, {2, 2}));
  const auto size = static_cast<std::int64_t>(fs::file_size(segments()[0]));
  const Relation a = database.read("A");
  // The head of the segment has unused bytes, and records are padded to eight bytes.
  int unnoticed = 0;
  for (std::int64_t at = 64; at < size; ++at) {
    flip_a_bit(segments()[0], at);
    if (database.check().empty()) {
      ++unnoticed;
      EXPECT_TRUE(relations_equal(database.read("A"), a)) << at;
    }
    flip_a_bit(segments()[0], at);
  }
  EXPECT_LT(unnoticed, 5 * 8);
  EXPECT_TRUE(database.check().empty());
}

TEST_F(DatabaseTest, ADamagedDirectoryLeavesTheOthersReadable) {
  Database database = open();
  const Relation good = matrix(6, 6, {2, 2});
  database.store("good", good);
  database.store("lost", matrix(4, 4, {2, 2}));
  flip_a_bit(segments()[0], static_cast<std::int64_t>(fs::file_size(segments()[0])) - 20);
  EXPECT_EQ(database.list().size(), 2);
  EXPECT_TRUE(relations_equal(database.read("good"), good));
  const std::vector<Damage> damage = database.check();
  ASSERT_EQ(damage.size(), 1);
  EXPECT_EQ(damage[0].name, "lost");
  EXPECT_FALSE(damage[0].key);
  database.drop("lost");
  EXPECT_TRUE(database.check().empty());
}

TEST_F(DatabaseTest, ANameThatIsTakenIsRefusedBeforeAnythingRuns) {
  Database database = open();
  database.store("A", matrix(4, 4, {2, 2}));
  bool read = false;
  const RelationType type{{{"", {DType::f64, {2, 2}, 0}}}, {1}};
  const Plan plan = Plan::input(type, [&](const Key&) {
    read = true;
    return std::vector<Tile>{Tile::zeros(DType::f64, {2, 2})};
  });
  EXPECT_ERROR(TypeError, (database.store("A", plan), 0), "relation \"A\" already exists");
  EXPECT_FALSE(read);
}

TEST_F(DatabaseTest, ATruncatedSegmentIsReported) {
  Database database = open();
  database.store("A", matrix(40, 40, {20, 20}));
  fs::resize_file(segments()[0], 1000);
  EXPECT_FALSE(database.check().empty());
  EXPECT_NE(message_of([&] { (void)database.read("A"); }).find("IoError"), std::string::npos);
}

TEST_F(DatabaseTest, NamesHaveNoControlCharacters) {
  Database database = open();
  for (const char* name : {"a\n", "\x1f", "a\x7f", "\u0085", "a\u009f", "a\u2028b", "\u2029"})
    EXPECT_ERROR(TypeError, (database.store(name, matrix(1, 1, {1, 1})), 0),
                 "must not contain control characters");
  for (const char* name : {"\u00a0", "\u00c2", "\u2027", "\u202f", "\u20a8"})
    database.store(name, matrix(1, 1, {1, 1}));
  EXPECT_EQ(database.list().size(), 5);
}

TEST_F(DatabaseTest, OfManyNamesAMessageTellsSome) {
  Database database = open();
  for (int i = 10; i < 40; ++i) database.store(fmt::format("M{}", i), matrix(1, 1, {1, 1}));
  const std::string message = message_of([&] { (void)database.read("C"); });
  EXPECT_TRUE(message.ends_with("M28, M29 and 10 more")) << message;
}

TEST_F(DatabaseTest, ErrorsSayWhatToDo) {
  Database database = open();
  database.store("A", matrix(4, 4, {2, 2}));
  database.store("B", matrix(4, 4, {2, 2}));
  EXPECT_EQ(
      message_of([&] { (void)database.read("C"); }),
      fmt::format("TypeError: relation \"C\" not found in {}; available: A, B", folder_.string()));
  EXPECT_EQ(message_of([&] {
              database.store("A", matrix(1, 1, {1, 1}));
            }),
            "TypeError: relation \"A\" already exists; drop it first");
  EXPECT_EQ(message_of([&] { database.rename("A", "B"); }),
            "TypeError: relation \"B\" already exists; drop it first");
  EXPECT_EQ(message_of([&] {
              database.store("", matrix(1, 1, {1, 1}));
            }),
            "TypeError: a name must have 1 to 255 bytes, but \"\" has 0");
  EXPECT_EQ(message_of([&] {
              database.store("caf\xe9", matrix(1, 1, {1, 1}));
            }),
            "TypeError: a name must be valid UTF-8");
  EXPECT_EQ(message_of([&] { open({.read_only = true}).drop("A"); }),
            fmt::format("IoError: database \"{}\" is read-only", folder_.string()));
  const fs::path none = folder_ / "none";
  EXPECT_EQ(message_of([&] { Database::open(none, {.create = false}); }),
            fmt::format("IoError: database \"{}\" does not exist", none.string()));
  for (const bool create : {false, true})
    EXPECT_EQ(
        message_of([&] { Database::open(folder_.parent_path(), {.create = create}); }),
        fmt::format("IoError: \"{}\" is not a Tessera database: the folder has other files in "
                    "it; choose another name",
                    folder_.parent_path().string()));
  const fs::path file = folder_ / "catalog.1";
  for (const bool create : {false, true})
    EXPECT_EQ(message_of([&] { Database::open(file, {.create = create}); }),
              fmt::format("IoError: \"{}\" is not a Tessera database: it is a file, and a database "
                          "is a folder",
                          file.string()));
  EXPECT_EQ(
      message_of([&] { Database::open(none / "a" / "b"); }),
      fmt::format("IoError: cannot create database \"{0}/a/b\": folder \"{0}/a\" does not exist",
                  none.string()));
  EXPECT_FALSE(fs::exists(none));
  EXPECT_EQ(database.list().size(), 2);
}

TEST_F(DatabaseTest, ANewerFormatIsRefused) {
  open().store("A", matrix(4, 4, {2, 2}));
  std::fstream file(folder_ / "catalog.2", std::ios::in | std::ios::out | std::ios::binary);
  std::string head(64, '\0');
  file.read(head.data(), 64);
  head[8] = 99;  // the version
  std::memset(head.data() + 24, 0, 8);
  const std::uint64_t check = XXH3_64bits(head.data(), head.size());
  std::memcpy(head.data() + 24, &check, 8);
  file.seekp(0);
  file << head << std::flush;
  EXPECT_EQ(message_of([&] { open(); }),
            fmt::format("IoError: {} has format version 99; this program knows versions up to 3: "
                        "use a newer one",
                        (folder_ / "catalog.2").string()));
}

TEST_F(DatabaseTest, IsNewForWhoeverHasMadeIt) {
  EXPECT_TRUE(open().is_new());
  EXPECT_FALSE(open().is_new());
  EXPECT_TRUE(Database::temporary().is_new());
  EXPECT_FALSE(open().is_read_only());
  EXPECT_TRUE(open({.read_only = true}).is_read_only());
}

TEST_F(DatabaseTest, HandlesWaitAsLongAsEachIsTold) {
  const Database patient = open({.lock_seconds = 1000});
  Database hasty = patient.with_lock_seconds(0.01);
  EXPECT_EQ(patient.lock_seconds(), 1000);
  hasty.store("A", matrix(4, 4, {2, 2}));
  EXPECT_EQ(names_in(patient), "A");
  const File held = File::open_to_write(folder_ / "lock");
  ASSERT_EQ(::flock(held.descriptor(), LOCK_EX), 0);
  const std::string message = message_of([&] { hasty.drop("A"); });
  EXPECT_NE(message.find("has not finished after 0.01 s"), std::string::npos) << message;
  EXPECT_EQ(message_of([&] { (void)patient.with_lock_seconds(-1); }),
            "TypeError: lock_seconds=-1: it must be a number of seconds, at least 0");
}

TEST_F(DatabaseTest, TheLockSaysWhoHasItOrHadItLast) {
  Database database = open();
  std::ofstream(folder_ / "lock") << "1234567890123";  // of another process
  for (const char* name : {"A", "B"}) {
    database.store(name, matrix(4, 4, {2, 2}));
    std::string process;
    std::ifstream(folder_ / "lock") >> process;
    EXPECT_EQ(process, std::to_string(::getpid()));
  }
}

TEST_F(DatabaseTest, ASecondWriterWaitsAndThenIsTold) {
  Database database = open();
  database.store("A", matrix(4, 4, {2, 2}));
  const Relation slow_input = matrix(4, 4, {2, 2});
  const File held = File::open_to_write(folder_ / "lock");
  ASSERT_EQ(::flock(held.descriptor(), LOCK_EX), 0);
  const std::string message = message_of([&] { open({.lock_seconds = 0.05}).drop("A"); });
  EXPECT_NE(message.find("is writing to it and has not finished"), std::string::npos) << message;
  EXPECT_EQ(database.list().size(), 1);  // readers do not wait
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ::flock(held.descriptor(), LOCK_UN);
  });
  database.drop("A");
  other.join();
  EXPECT_TRUE(database.list().empty());
}

}  // namespace
}  // namespace tessera
