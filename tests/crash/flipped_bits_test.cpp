#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iostream>
#include <random>

#include "crash/processes.h"
#include "crash/sql_database.h"

// Bits that are not as they were written. Whatever they are bits of, nothing crashes and nothing
// wrong is believed: an answer is right, or an error says what is damaged.

namespace tessera::crash {
namespace {

namespace fs = std::filesystem;

std::string bytes_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}
void write_bytes(const fs::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

using Files = std::map<fs::path, std::string>;

Files files_of(const fs::path& folder) {
  Files files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && entry.path().filename() != "lock")
      files[fs::relative(entry.path(), folder)] = bytes_of(entry.path());
  return files;
}

void lay_out(const Files& files, const fs::path& folder) {
  fs::remove_all(folder);
  for (const auto& [file, bytes] : files) {
    fs::create_directories((folder / file).parent_path());
    write_bytes(folder / file, bytes);
  }
}

/// What a statement leaves that is killed in the middle of its commit: it is written in the first
/// file of the catalogue, and to some part in the second.
Files killed_in_a_commit(const fs::path& folder, const Files& whole, double part) {
  lay_out(whole, folder);
  Session(Database::open(folder)).execute("INSERT INTO people VALUES (9, 'Nobody', 0)");
  Files after = files_of(folder);
  const std::string& before = whole.at("catalog.2");
  const auto more = static_cast<double>(after.at("catalog.2").size() - before.size());
  after["catalog.2"].resize(before.size() + static_cast<std::size_t>(part * more));
  return after;
}

struct Count {
  int flips = 0, right = 0, refused = 0, told_by_check = 0;
};

/// Of all files alike, but of the catalogue as often as of all else.
std::pair<fs::path, std::size_t> some_byte(const Files& files, std::mt19937_64& random) {
  const bool of_catalogue = random() % 2 == 0;
  std::size_t all = 0;
  const auto meant = [&](const fs::path& file) {
    return file.string().starts_with("catalog") == of_catalogue;
  };
  for (const auto& [file, bytes] : files) all += meant(file) ? bytes.size() : 0;
  std::size_t at = random() % all;
  for (const auto& [file, bytes] : files) {
    if (!meant(file)) continue;
    if (at < bytes.size()) return {file, at};
    at -= bytes.size();
  }
  return {};
}

/// An error says which file or relation is damaged.
bool names_the_damage(const std::string& answer, const std::string& question) {
  const auto says = [&](const char* word) { return answer.find(word) != std::string::npos; };
  return (says("damaged") || says("is not the one") || says("cut off")) &&
         (says(".seg") || says("catalog") || answer.find(question) != std::string::npos);
}

void flip_some(const Files& whole, const fs::path& folder, const Answers& right, int flips,
               std::mt19937_64& random, Count& count) {
  lay_out(whole, folder);
  for (int flip = 0; flip < flips; ++flip) {
    const auto [file, at] = some_byte(whole, random);
    const int bit = static_cast<int>(random() % 8);
    SCOPED_TRACE(::testing::Message() << file << ", byte " << at << ", bit " << bit);
    std::string flipped = whole.at(file);
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
    write_bytes(folder / file, flipped);
    const Answers answers = ask_each(folder, {.create = false, .read_only = true});
    bool refused = false;
    for (const auto& [question, answer] : answers) {
      if (answer == right.at(question)) continue;
      refused = true;
      ASSERT_TRUE(answer.starts_with("error: ")) << question << " yields " << answer;
      ASSERT_TRUE(names_the_damage(answer, question)) << question << " yields " << answer;
    }
    ASSERT_TRUE(answers.size() == right.size() || answers.at("open") != "");
    ++count.flips;
    ++(refused ? count.refused : count.right);
    // What cannot be read is found by a check, and what is found is named.
    const bool found = [&] {
      try {
        return !Database::open(folder, {.create = false, .read_only = true}).check().empty();
      } catch (const IoError&) {
        return true;
      }
    }();
    ASSERT_TRUE(found || !refused) << "a check finds nothing";
    count.told_by_check += found ? 1 : 0;
    if (flip % 8 == 0) {
      // Writing on makes it no worse: what could be read can be read, and what was written too.
      try {
        Session session(Database::open(folder, {.create = false}));
        session.execute("CREATE TABLE more AS SELECT 7 AS n");
        ASSERT_EQ(rows_of(session, "SELECT * FROM more"), "n BIGINT|\n7|");
        session.execute("DROP TABLE more");
      } catch (const IoError&) {
      } catch (const StatementError& error) {
        ASSERT_STREQ(error.kind(), "IoError") << error.what();
      }
      const Answers later = ask_each(folder, {.create = false, .read_only = true});
      for (const auto& [question, answer] : answers)
        if (answer == right.at(question) && question != "texts" && question != "history")
          ASSERT_EQ(later.at(question), answer) << question << ", after more was written";
      lay_out(whole, folder);
    } else {
      write_bytes(folder / file, whole.at(file));
    }
  }
}

TEST(FlippedBits, LeadToNoWrongAnswer) {
  const Folder folder;
  const fs::path path = folder / "database", copy = folder / "copy";
  make_sql_database(path);
  const Files whole = files_of(path);
  const Answers right = ask_all(path, {.create = false, .read_only = true});
  EXPECT_NE(right.at("SHOW JOBS").find("stopped"), std::string::npos) << right.at("SHOW JOBS");
  std::mt19937_64 random(seed_or(6));
  const std::vector<Files> states{whole, killed_in_a_commit(copy, whole, 0),
                                  killed_in_a_commit(copy, whole, 0.5),
                                  killed_in_a_commit(copy, whole, 0.99)};
  Count count;
  const int flips = runs_or(2000);
  for (const Files& state : states) {
    lay_out(state, copy);
    ASSERT_EQ(ask_all(copy, {.create = false, .read_only = true}), right);
    flip_some(state, copy, right, flips / static_cast<int>(states.size()), random, count);
    if (::testing::Test::HasFailure()) return;
  }
  std::cout << fmt::format("{} flips: {} did not matter, {} were refused, {} told by a check\n",
                           count.flips, count.right, count.refused, count.told_by_check);
  EXPECT_GT(count.refused, 0);
  EXPECT_GT(count.told_by_check, count.refused);  // one of the catalogue's two files
}

}  // namespace
}  // namespace tessera::crash
