#include "store/commit_log.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "support/database_folder.h"
#include "support/expectations.h"

// The two files that say what was committed: whatever happens to a byte of one of them, and
// wherever a commit is interrupted, what was committed is known.

namespace tessera::store {
namespace {

namespace fs = std::filesystem;

class CommitLogTest : public ::testing::Test {
 protected:
  CommitLogTest() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    CommitLog::create(folder_, "all", Sync::never);
  }
  ~CommitLogTest() override { fs::remove_all(folder_); }

  fs::path path(int file) const { return folder_ / fmt::format("catalog.{}", file); }
  std::string bytes(int file) const {
    std::ifstream stream(path(file), std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  void write(int file, const std::string& content) const {
    std::ofstream(path(file), std::ios::binary | std::ios::trunc) << content;
  }
  static std::string read(CommitLog& log) {
    std::string said;
    log.read([&](const CommitLog::Entry& entry) {
      said += fmt::format("{}{}{} ", entry.kind == CommitLog::Kind::image ? "=" : "+", entry.number,
                          entry.bytes);
    });
    return said;
  }
  std::string read() const {
    CommitLog log(folder_, Sync::never);
    return read(log);
  }
  void append(std::string_view changes) const {
    CommitLog log(folder_, Sync::never);
    (void)read(log);
    if (log.needs_rewriting()) log.rewrite("again");
    log.append(changes);
  }
  std::vector<std::string> damage() const {
    CommitLog log(folder_, Sync::never);
    (void)read(log);
    return log.damage();
  }

  const fs::path folder_ = fs::temp_directory_path() / fmt::format("tessera-log-{}", ::getpid());
};

TEST_F(CommitLogTest, SaysWhatWasCommitted) {
  EXPECT_EQ(read(), "=0all ");
  CommitLog reader(folder_, Sync::never);
  EXPECT_EQ(read(reader), "=0all ");
  append("a");
  append("");
  EXPECT_EQ(read(reader), "+1a +2 ");
  EXPECT_EQ(read(reader), "");
  append(std::string(100'000, 'x'));
  EXPECT_EQ(read(reader).size(), 100'003);
  EXPECT_EQ(bytes(1), bytes(2));
  EXPECT_TRUE(damage().empty());
}

/// A crash takes one commit at most, of which nobody was told that it has happened.
TEST_F(CommitLogTest, ASecondFileThatWasCutOffIsTold) {
  std::vector<std::size_t> ends{bytes(2).size()};
  for (const char* changes : {"a", "b", "c"}) {
    append(changes);
    ends.push_back(bytes(2).size());
  }
  const std::string whole = bytes(2);
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    write(2, whole.substr(0, length));
    CommitLog log(folder_, Sync::never);
    if (length >= ends[2]) {
      EXPECT_EQ(read(log), length == whole.size() ? "=0all +1a +2b +3c " : "=0all +1a +2b ");
      continue;
    }
    for (int again = 0; again < 2; ++again)
      EXPECT_NE(message_of([&] { (void)read(log); }).find("catalog.2 is truncated"),
                std::string::npos)
          << length;
  }
  write(2, bytes(1));  // as the message says
  EXPECT_EQ(read(), "=0all +1a +2b +3c ");
}

/// The first file has a commit whole before the second has any of it.
TEST_F(CommitLogTest, FilesThatBothEndWithinACommitAreRefused) {
  append("a");
  const std::string before = bytes(2);
  append("b");
  const std::string whole = bytes(2);
  for (std::size_t second = before.size() + 1; second < whole.size(); ++second)
    for (const std::size_t first : {before.size(), second, whole.size() - 1}) {
      write(1, whole.substr(0, first));
      write(2, whole.substr(0, second));
      CommitLog log(folder_, Sync::never);
      for (int again = 0; again < 2; ++again)
        EXPECT_ERROR(IoError, (void)read(log), fmt::format("truncate -s {}", before.size()));
    }
  for (const int file : {1, 2}) fs::resize_file(path(file), before.size());  // as the message says
  EXPECT_EQ(read(), "=0all +1a ");
  append("c");
  EXPECT_EQ(read(), "=0all +1a +2c ");
}

/// Its length tells nothing if bytes of it are gone.
TEST_F(CommitLogTest, ASecondFileThatLacksBytesInItsMiddleIsTold) {
  append("a");
  append("b");
  const std::string before = bytes(2);
  append("c");
  const std::string whole = bytes(2);
  for (std::size_t gone = 1; gone <= whole.size() - before.size(); ++gone) {
    write(2, whole.substr(0, 80) + whole.substr(80 + gone));
    CommitLog log(folder_, Sync::never);
    for (int again = 0; again < 2; ++again)
      EXPECT_ERROR(IoError, read(log), "catalog.2 is damaged at its end");
  }
  write(2, bytes(1));  // as the message says
  EXPECT_EQ(read(), "=0all +1a +2b +3c ");
}

TEST_F(CommitLogTest, ASecondFileFromBeforeTheyWereWrittenAnewIsTold) {
  append("a");
  const std::string old = bytes(2);
  CommitLog writer(folder_, Sync::never), reader(folder_, Sync::never);
  EXPECT_EQ(read(writer), read(reader));
  writer.rewrite("both");
  writer.append("b");
  EXPECT_EQ(read(reader), "=1both +2b ");
  write(2, old);  // with a commit that is in the first alone
  EXPECT_ERROR(IoError, (void)read(), "catalog.2 is truncated or an old copy");
  writer.rewrite("all of it");
  write(2, old);  // with an image of more than it says
  EXPECT_ERROR(IoError, (void)read(), "catalog.2 is truncated or an old copy");
  write(2, bytes(1));  // as the message says
  EXPECT_EQ(read(), "=2all of it ");
}

TEST_F(CommitLogTest, AFileOfAnotherLogIsTold) {
  append("mine");
  const std::string own = bytes(1);
  fs::remove(path(1));
  fs::remove(path(2));
  CommitLog::create(folder_, "all", Sync::never);
  append("his.");
  const std::string other = bytes(1);
  write(1, own);
  ASSERT_EQ(damage().size(), 1);
  EXPECT_NE(damage()[0].find("catalog.1 belongs to another database"), std::string::npos);
  EXPECT_EQ(read(), "=0all +1his. ");
  write(1, other);
  EXPECT_TRUE(damage().empty());
}

TEST_F(CommitLogTest, FilesThatCannotBeWrittenAnewLeaveNothing) {
  append("a");
  CommitLog log(folder_, Sync::never);
  (void)read(log);
  fs::create_directories(folder_ / "catalog.2.new" / "in the way");
  EXPECT_NE(message_of([&] { log.rewrite("again"); }).find("catalog.2.new"), std::string::npos);
  EXPECT_FALSE(fs::exists(folder_ / "catalog.1.new"));
  EXPECT_EQ(read(), "=0all +1a ");
}

TEST_F(CommitLogTest, WrittenAnewItBeginsWithAnImage) {
  append("a");
  CommitLog reader(folder_, Sync::never), writer(folder_, Sync::never);
  EXPECT_EQ(read(reader), read(writer));
  writer.rewrite("both");
  writer.append("b");
  EXPECT_EQ(read(reader), "=1both +2b ");
  EXPECT_EQ(read(), "=1both +2b ");
}

TEST_F(CommitLogTest, AnyBitOfEitherFileMayBeWrong) {
  append("some");
  append("more of it");
  const std::string right = read();
  for (const int file : {1, 2}) {
    const std::string whole = bytes(file);
    int noticed = 0;
    for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
      std::string flipped = whole;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
      write(file, flipped);
      ASSERT_EQ(read(), right) << "file " << file << ", bit " << bit;
      if (bit % 8 == 3) noticed += damage().empty() ? 0 : 1;
    }
    write(file, whole);
    // All but the padding at the end of entries.
    EXPECT_GE(noticed, static_cast<int>(whole.size()) - 3 * 7);
  }
}

TEST_F(CommitLogTest, WhatIsDamagedIsMendedByTheNextWhoWrites) {
  append("a");
  for (const int file : {1, 2}) {
    std::string flipped = bytes(file);
    flipped[70] = static_cast<char>(flipped[70] ^ 1);
    write(file, flipped);
    EXPECT_EQ(damage().size(), 1);
    EXPECT_NE(damage()[0].find(path(file).string()), std::string::npos) << damage()[0];
    if (file == 1) fs::remove(path(1));  // a head that is wrong is seen only by who looks at it
    append("b");
    EXPECT_TRUE(damage().empty());
  }
  EXPECT_EQ(read(), "=2again +3b ");
}

TEST_F(CommitLogTest, DamagedInBothFilesItIsRefusedWithThePlace) {
  append("a");
  append("b");
  for (const int file : {1, 2}) {
    std::string flipped = bytes(file);
    const std::size_t at = flipped.find("+1") == std::string::npos ? 64 + 48 + 8 + 48 : 0;
    flipped[at] = static_cast<char>(flipped[at] ^ 4);
    write(file, flipped);
  }
  EXPECT_ERROR(IoError, read(), "the checksum of commit 1 is wrong");
}

TEST_F(CommitLogTest, ACommitCountsWhenTheSecondFileHasItWhole) {
  append("a");
  const std::string before = bytes(2);
  append("bcdefghij");
  const std::string after = bytes(2);
  // The first file has it, and the second some of it.
  for (std::size_t length = before.size(); length <= after.size(); ++length) {
    write(1, after);
    write(2, after.substr(0, length));
    EXPECT_EQ(read(), length < after.size() ? "=0all +1a " : "=0all +1a +2bcdefghij ") << length;
    append("c");
    EXPECT_EQ(read(), length < after.size() ? "=0all +1a +2c " : "=0all +1a +2bcdefghij +3c ");
    EXPECT_EQ(bytes(1), bytes(2));
    // The second file is long enough, but holds something else: the first one was first on disk.
    write(1, after);
    write(2, after.substr(0, length) + std::string(after.size() - length, '\0'));
    EXPECT_EQ(read(), "=0all +1a +2bcdefghij ") << length;
  }
  // The first file has some of it.
  for (std::size_t length = before.size(); length < after.size(); ++length) {
    write(1, after.substr(0, length));
    write(2, before);
    EXPECT_EQ(read(), "=0all +1a ");
    append("c");
    EXPECT_EQ(read(), "=0all +1a +2c ");
    EXPECT_EQ(bytes(1), bytes(2));
  }
}

TEST_F(CommitLogTest, AFileThatIsMissingIsMadeAgainOrAskedFor) {
  append("a");
  const std::string second = bytes(2);
  fs::remove(path(1));
  EXPECT_EQ(read(), "=0all +1a ");
  EXPECT_EQ(damage().size(), 1);
  append("b");
  EXPECT_EQ(read(), "=1again +2b ");
  fs::remove(path(2));
  EXPECT_ERROR(IoError, read(), "catalog.2");
}

TEST_F(CommitLogTest, FilesOfTwoGenerationsAreBroughtTogether) {
  append("a");
  const std::string old_second = bytes(2);
  CommitLog writer(folder_, Sync::never);
  (void)read(writer);
  writer.rewrite("both");
  write(2, old_second);  // killed between the two
  EXPECT_EQ(read(), "=0all +1a ");
  EXPECT_EQ(damage().size(), 1);
  append("b");
  EXPECT_EQ(read(), "=1again +2b ");
  EXPECT_TRUE(damage().empty());
}

TEST_F(CommitLogTest, WhatWasSeenAndTakenBackIsForgotten) {
  append("a");
  CommitLog reader(folder_, Sync::never);
  const std::string before = bytes(2);
  append("b");
  EXPECT_EQ(read(reader), "=0all +1a +2b ");
  write(2, before);
  write(1, before);
  EXPECT_EQ(read(reader), "=0all +1a ");
  append("c");  // as long as what was there
  EXPECT_EQ(read(reader), "+2c ");
}

TEST_F(CommitLogTest, ThatWasTakenBackWhileAnotherTookItsPlace) {
  append("a");
  const std::string before = bytes(2);
  append("b");
  CommitLog reader(folder_, Sync::never);
  EXPECT_EQ(read(reader), "=0all +1a +2b ");
  write(2, before);
  append("c");
  EXPECT_EQ(read(reader), "=0all +1a +2c ");
}

}  // namespace
}  // namespace tessera::store
