#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iostream>

#include "crash/aftermath.h"
#include "crash/processes.h"
#include "support/expectations.h"

// Bits that are not as they were written. Whatever they are bits of, nothing crashes and nothing
// wrong is believed: an answer is right, or an error says what is damaged.

namespace tessera::crash {
namespace {

namespace fs = std::filesystem;

struct Stored {
  Contents contents;
  std::map<std::string, Relation> relations;
};

const std::vector<std::string> words{"a string", "another one", "", "the fourth", "the fifth"};

/// Some relations, compressed and not, with a few dropped in between; and texts, and strings with
/// codes.
Stored some_relations(const fs::path& folder) {
  Database plain = Database::open(folder), compressing = Database::open(folder, {.compress = true});
  Stored stored;
  for (std::uint64_t i = 0; i < 12; ++i) {
    const std::string name = fmt::format("T{}", i);
    (i % 2 == 0 ? plain : compressing).store(name, relation_of(small(i)));
    stored.contents[name] = small(i);
  }
  for (const char* name : {"T3", "T8"}) {
    plain.drop(name);
    stored.contents.erase(name);
  }
  for (std::uint64_t i = 0; i < 12; ++i)
    plain.change({.texts = {{fmt::format("{}.text", i), text_of(100 * i)}}});
  (void)plain.codes(words);
  for (const auto& [name, seed] : stored.contents)
    stored.relations.emplace(name, relation_of(seed));
  return stored;
}

std::string bytes_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}
void write_bytes(const fs::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

/// Reads a relation by way of a plan. Nothing if that fails with an error that tells its name.
std::optional<Relation> answer(const Database& database, const std::string& name) {
  try {
    return database.plan(name).run();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
    return std::nullopt;
  }
}

TEST(FlippedBits, OfSegmentsAreReportedWithTensorAndKey) {
  const Folder folder;
  const fs::path path = folder / "database";
  const Stored stored = some_relations(path);
  const Database database = Database::open(path, {.create = false, .read_only = true});
  const fs::path segment = fs::directory_iterator(path / "segments")->path();
  const std::string whole = bytes_of(segment);
  std::mt19937_64 random(seed_or(6));
  int of_tiles = 0, of_directories = 0, of_the_segment = 0, unused = 0;
  for (int run = 0; run < runs_or(300); ++run) {
    const std::size_t at = random() % whole.size();
    SCOPED_TRACE(::testing::Message() << "run " << run << ", byte " << at);
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << (random() % 8)));
    write_bytes(segment, flipped);
    const std::vector<Damage> found = database.check();
    ASSERT_LE(found.size(), 1);
    for (const auto& [name, relation] : stored.relations) {
      const bool named = !found.empty() && found[0].name == name;
      const std::optional<Relation> answered = answer(database, name);
      EXPECT_EQ(answered.has_value(), !named) << name;
      if (answered) EXPECT_TRUE(relations_equal(*answered, Plan::input(relation).run())) << name;
    }
    if (found.empty())
      ++unused;  // the room of what was dropped, and between records
    else
      ++(found[0].name.empty() ? of_the_segment : found[0].key ? of_tiles : of_directories);
    if (::testing::Test::HasFailure()) return;
  }
  std::cout << fmt::format("{} flips in tiles, {} in directories, {} in heads, {} in unused room\n",
                           of_tiles, of_directories, of_the_segment, unused);
  EXPECT_GT(of_tiles, 0);
  EXPECT_GT(of_directories, 0);
}

TEST(FlippedBits, OfTheCatalogueLeadToNoWrongAnswer) {
  const Folder folder;
  const fs::path path = folder / "database", copy = folder / "copy";
  const Stored stored = some_relations(path);
  Database::open(path).checkpoint();
  const fs::path segment = fs::directory_iterator(path / "segments")->path().filename();
  const std::string whole = bytes_of(path / "catalog.sqlite"),
                    tiles = bytes_of(path / "segments" / segment);
  std::mt19937_64 random(seed_or(7));
  int refused = 0, damaged = 0, harmless = 0;
  for (int run = 0; run < runs_or(300); ++run) {
    const std::size_t at = random() % whole.size();
    SCOPED_TRACE(::testing::Message() << "run " << run << ", byte " << at);
    fs::remove_all(copy);
    fs::copy(path, copy, fs::copy_options::recursive);
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << (random() % 8)));
    write_bytes(copy / "catalog.sqlite", flipped);
    try {
      Database database = Database::open(copy, {.create = false});
      const bool found = !database.check().empty();
      ++(found ? damaged : harmless);
      std::size_t missing = 0;
      for (const auto& [name, relation] : stored.relations) {
        try {
          EXPECT_TRUE(relations_equal(database.read(name), relation)) << name;
        } catch (const Error&) {
          ++missing;
        }
      }
      for (std::uint64_t i = 0; i < 12; ++i) {
        try {
          const std::optional<std::string> text = database.text(fmt::format("{}.text", i));
          missing += text ? 0 : 1;
          if (text) EXPECT_EQ(*text, text_of(100 * i));
        } catch (const Error&) {
          ++missing;
        }
      }
      try {
        EXPECT_EQ(database.strings({1, 2, 3, 4, 5}), words);
      } catch (const Error&) {
        ++missing;
      }
      EXPECT_TRUE(missing == 0 || found) << missing << " cannot be read, and check says nothing";
      // Writing on does not make it worse: nothing is taken for a leftover.
      database.store("more", relation_of(small(99)));
    } catch (const IoError&) {
      ++refused;
    }
    EXPECT_TRUE(bytes_of(copy / "segments" / segment).starts_with(tiles)) << "tiles are gone";
    if (::testing::Test::HasFailure()) return;
  }
  std::cout << fmt::format("{} refused, {} damaged, {} harmless\n", refused, damaged, harmless);
  EXPECT_GT(damaged + refused, 0);
}

}  // namespace
}  // namespace tessera::crash
