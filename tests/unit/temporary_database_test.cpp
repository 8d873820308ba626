#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "support/database_folder.h"
#include "support/expectations.h"

// Databases that go with who has them.

namespace tessera {
namespace {

namespace fs = std::filesystem;

/// TMPDIR is a folder of the test's own.
class Temporary : public DatabaseFolder {
 protected:
  Temporary() {
    fs::create_directories(folder_);
    const char* said = std::getenv("TMPDIR");
    if (said != nullptr) before_ = said;
    ::setenv("TMPDIR", folder_.c_str(), 1);
  }
  ~Temporary() override {
    before_ ? ::setenv("TMPDIR", before_->c_str(), 1) : ::unsetenv("TMPDIR");
  }
  std::size_t folders() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), {}));
  }
  /// Runs in a process of its own, and waits for its end.
  template <class Body>
  static int status_of(Body&& body) {
    const pid_t process = ::fork();
    if (process == 0) {
      body();
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(process, &status, 0);
    return status;
  }

 private:
  std::optional<std::string> before_;
};

const Relation one = Relation::of({{{0}, {Tile::scalar(1.)}}});

TEST_F(Temporary, WorksLikeAnyOther) {
  Database database = Database::temporary();
  EXPECT_EQ(database.folder().parent_path(), folder_);
  database.store("A", one);
  database.change({.results = {{"B", database.plan("A").transform("neg")}}, .texts = {{"a", "b"}}});
  EXPECT_EQ(names_in(database), "A B");
  database.drop("A");
  database.vacuum();
  database.checkpoint();
  EXPECT_TRUE(database.check().empty());
  // Whoever knows the name may look into it.
  EXPECT_EQ(names_in(Database::open(database.folder(), {.read_only = true})), "B");
}

TEST_F(Temporary, GoesWithItsLastHandle) {
  fs::path path;
  {
    std::optional<Database> first = Database::temporary();
    path = first->folder();
    const Database second = *first;
    first->store("A", one);
    first.reset();
    EXPECT_EQ(names_in(second), "A");
  }
  EXPECT_FALSE(fs::exists(path));
  EXPECT_EQ(folders(), 0);
}

TEST_F(Temporary, GoesWithAnException) {
  try {
    Database database = Database::temporary();
    database.store("A", one);
    database.store("A", one);
    FAIL();
  } catch (const TypeError&) {
    EXPECT_EQ(folders(), 0);
  }
}

TEST_F(Temporary, TwoAreTwo) {
  Database one_of_two = Database::temporary(), other = Database::temporary();
  EXPECT_NE(one_of_two.folder(), other.folder());
  one_of_two.store("A", one);
  EXPECT_EQ(names_in(other), "");
  EXPECT_EQ(folders(), 2);
}

TEST_F(Temporary, WhatAKilledProcessHasLeftIsRemovedByTheNext) {
  const int status = status_of([] {
    Database database = Database::temporary();
    database.store("A", one);
    ::kill(::getpid(), SIGKILL);
  });
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(folders(), 1);
  fs::create_directory(folder_ / "somebody's own");
  std::ofstream(folder_ / "tessera-temporary-file") << "is no folder";
  {
    const Database next = Database::temporary();
    EXPECT_EQ(folders(), 3);
    EXPECT_EQ(names_in(next), "");
  }
  EXPECT_EQ(folders(), 2);
}

TEST_F(Temporary, IsLeftToItsOwnerByProcessesThatItForks) {
  std::optional<Database> database = Database::temporary();
  database->store("A", one);
  EXPECT_EQ(status_of([&] { database.reset(); }), 0);
  EXPECT_EQ(names_in(*database), "A");
}

TEST_F(Temporary, NeedsAFolder) {
  ::setenv("TMPDIR", (folder_ / "none").c_str(), 1);
  EXPECT_EQ(
      message_of([] { (void)Database::temporary(); }),
      fmt::format("IoError: cannot create a folder for a temporary database in {}: No such file "
                  "or directory; set TMPDIR to use another place",
                  (folder_ / "none").string()));
}

}  // namespace
}  // namespace tessera
