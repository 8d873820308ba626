#include "crash/aftermath.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "store/catalog_file.h"
#include "support/expectations.h"

namespace tessera::crash {
namespace {

namespace fs = std::filesystem;

std::set<std::string> names_of(const auto& of_names) {
  std::set<std::string> names;
  for (const auto& [name, what] : of_names) names.insert(name);
  return names;
}

/// Which of the statements that were not acknowledged have happened, as a glance tells.
std::optional<Contents> outcome(const Expected& expected, const Glance& glance) {
  for (std::uint32_t chosen = 0; chosen < (1U << expected.perhaps.size()); ++chosen) {
    Contents contents = expected.contents;
    bool possible = true;
    for (std::size_t i = 0; i < expected.perhaps.size(); ++i) {
      if ((chosen >> i & 1U) == 0) continue;
      const Step& step = expected.perhaps[i];
      for (const std::string& name : needed_by(step))
        possible = possible && contents.contains(name);
      if (possible) apply(step, contents);
    }
    if (possible && fits(glance, contents)) return contents;
  }
  return std::nullopt;
}

/// A quick yes for relations of dense numbers, of which there are the large ones.
bool same_bytes(const Relation& a, const Relation& b) {
  if (a.size() != b.size() || a.type() != b.type()) return false;
  for (std::size_t i = 0; i < a.tuples().size(); ++i) {
    const Tile &x = a.tuples()[i].tiles[0], &y = b.tuples()[i].tiles[0];
    const bool dense = x.dtype() == DType::f64 && x.type() == y.type() && !x.is_sparse();
    if (!dense || a.tuples()[i].key != b.tuples()[i].key || a.tuples()[i].tiles.size() > 1)
      return false;
    const Tile p = x.contiguous(), q = y.contiguous();
    if (std::memcmp(p.data<double>(), q.data<double>(), sizeof(double) * p.elements()) != 0)
      return false;
  }
  return true;
}

void expect_nothing_else(const fs::path& folder) {
  std::map<std::string, std::uintmax_t> known, there;
  const auto catalog = store::CatalogFile(folder, store::Sync::always).now();
  for (const auto& [segment, bytes] : catalog->segments())
    known[store::segment_path(folder, segment).filename()] = static_cast<std::uintmax_t>(bytes);
  for (const auto& entry : fs::directory_iterator(folder / "segments"))
    there[entry.path().filename()] = entry.file_size();
  EXPECT_EQ(there, known) << "the segments on disk, and those that the catalogue knows";
  // What a rewriting of the catalogue has left that was killed goes with the next one.
  const std::set<std::string> usual{"catalog.1",     "catalog.2", "catalog.1.new",
                                    "catalog.2.new", "lock",      "segments"};
  for (const auto& entry : fs::directory_iterator(folder))
    EXPECT_TRUE(usual.contains(entry.path().filename())) << entry.path();
}

}  // namespace

void Expected::add(const History& history) {
  for (std::size_t i = 0; i < history.size(); ++i) {
    const Step& step = history[i];
    if (step.state == Step::State::done) apply(step, contents);
    if (is_in_doubt(step)) perhaps.push_back(step);
  }
}

void verify(const fs::path& folder, Expected& expected) {
  const Database database = Database::open(folder);
  for (const Damage& damage : database.check())
    ADD_FAILURE() << "damaged: " << damage.name << ": " << damage.reason;
  const Glance glance = glance_at(database.list(), database.texts());
  const std::optional<Contents> contents = outcome(expected, glance);
  std::string perhaps;
  for (const Step& step : expected.perhaps) perhaps += "\n  " + to_string(step);
  ASSERT_TRUE(contents) << fmt::format("there is {}\nthere must be {}\nand perhaps{}",
                                       names_of(glance), names_of(expected.contents), perhaps);
  for (const auto& [name, seed] : *contents) {
    if (is_text(name)) continue;  // it was seen
    const Relation found = database.read(name), stored = relation_of(seed);
    EXPECT_TRUE(same_bytes(found, stored) || relations_equal(found, stored)) << name;
  }
  expect_nothing_else(folder);
  expected = {*contents, {}};
}

}  // namespace tessera::crash
