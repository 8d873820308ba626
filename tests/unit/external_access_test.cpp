#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "base/outside.h"
#include "support/database_folder.h"
#include "support/expectations.h"
#include "tessera/session.h"

// Which files and servers statements may use, and links in the place of a database's own files.

namespace tessera {
namespace {

namespace fs = std::filesystem;

class External : public DatabaseFolder {
 protected:
  External() {
    fs::remove_all(files_);
    fs::create_directories(inside_ / "below");
    fs::create_directories(outside_);
    for (const fs::path& folder : {inside_, outside_})
      std::ofstream(folder / "t.csv") << "1,2\n3,4\n";
    Session(open()).execute("CREATE TABLE t (a INT, b INT); CREATE TENSOR X AS [[1.0, 2], [3, 4]]");
  }
  ~External() override { fs::remove_all(files_); }

  /// What a statement ends with in a session that may reach only so much.
  std::string told(const ExternalAccess& access, const std::string& sql) const {
    return message_of([&] { Session(open(), {.external_access = access}).execute(sql); });
  }
  std::string read_of(const fs::path& file) const {
    return fmt::format("COPY t FROM '{}'", file.string());
  }
  std::string write_to(const fs::path& file) const {
    return fmt::format("COPY X TO '{}'", file.string());
  }

  const fs::path files_ = fs::temp_directory_path() / fmt::format("tessera-files-{}", ::getpid());
  const fs::path inside_ = files_ / "inside", outside_ = files_ / "outside";
  const std::string well_ = "nothing was thrown";
};

TEST_F(External, IsParsedAndPrinted) {
  EXPECT_EQ(ExternalAccess().to_string(), "on");
  EXPECT_EQ(ExternalAccess::parse("on").to_string(), "on");
  EXPECT_EQ(ExternalAccess::parse("off").to_string(), "off");
  const std::string both = fs::canonical(inside_).string() + ":" + fs::canonical(outside_).string();
  EXPECT_EQ(ExternalAccess::parse(both).to_string(), both);
  EXPECT_ERROR(IoError, ExternalAccess::parse("/no/such/folder"), "is not an existing folder");
  EXPECT_ERROR(IoError, ExternalAccess::parse((inside_ / "t.csv").string()),
               "is not an existing folder");
  EXPECT_ERROR(TypeError, ExternalAccess::parse(""), "on, off, or a list of folders");
  EXPECT_ERROR(TypeError, ExternalAccess::parse("/tmp::/"), "on, off, or a list of folders");
}

TEST_F(External, WhatTwoAllowIsWhatBothDo) {
  const auto in = ExternalAccess::only({inside_}), all = ExternalAccess::only({files_});
  EXPECT_EQ(in.and_only(all).to_string(), fs::canonical(inside_).string());
  EXPECT_EQ(in.and_only(ExternalAccess::only({outside_})).to_string(), "off");
  EXPECT_EQ(in.and_only(ExternalAccess::on()), in);
  EXPECT_EQ(ExternalAccess::on().and_only(in), in);
  // A folder whose name begins like another's is another one.
  fs::create_directories(files_ / "inside2");
  EXPECT_FALSE(in.allows(fs::canonical(files_ / "inside2") / "x"));
  EXPECT_TRUE(in.allows(fs::canonical(inside_) / "x"));
}

TEST_F(External, OffRefusesFilesAndServers) {
  const auto off = ExternalAccess::off();
  for (const std::string& sql :
       {read_of(inside_ / "t.csv"),
        std::string("CREATE TENSOR n FROM '/etc/hostname' WITH (format = csv)"),
        write_to(inside_ / "x.npy"),
        std::string("COPY (SELECT 1 AS a) TO '/dev/stdout' WITH (format = csv)"),
        std::string("CREATE TENSOR n FROM 'postgresql://localhost/x' WITH (query = 'SELECT 1')"),
        std::string("COPY X TO 'postgresql://localhost/x' WITH (query = 't')"),
        std::string("CREATE TENSOR n FROM 'host=localhost' WITH (format = postgresql, query = "
                    "'SELECT 1')")})
    EXPECT_NE(told(off, sql).find("external_access is off in this session"), std::string::npos)
        << sql << ": " << told(off, sql);
  EXPECT_EQ(told(off, "SELECT * FROM t; CREATE TENSOR Y AS X @ X; VACUUM"), well_);
}

TEST_F(External, AListOfFoldersAllowsTheirFilesAndNoServers) {
  const auto some = ExternalAccess::only({inside_});
  EXPECT_EQ(told(some, read_of(inside_ / "t.csv")), well_);
  EXPECT_EQ(told(some, read_of(inside_ / "below" / ".." / "t.csv")), well_);
  EXPECT_EQ(told(some, write_to(inside_ / "below" / "x.npy")), well_);
  EXPECT_EQ(told(some, write_to(inside_ / "x.npz")), well_);
  EXPECT_EQ(told(some, write_to(inside_ / "x.h5")), well_);
  EXPECT_EQ(told(some, write_to(inside_ / "x.npy") + ";" + write_to(inside_ / "x.npy")), well_);
  for (const char* file : {"x.npy", "x.npz", "x.h5"})
    EXPECT_EQ(told(some, fmt::format("CREATE TENSOR N FROM '{}'; DROP TENSOR N",
                                     (inside_ / file).string())),
              well_)
        << file;
  EXPECT_EQ(told(some, fmt::format("COPY t TO '{}'", (inside_ / "u.csv").string())), well_);
  EXPECT_EQ(fs::file_size(inside_ / "u.csv"), 20);

  const std::string refused =
      "external_access of this session allows only files in " + fs::canonical(inside_).string();
  for (const std::string& sql :
       {read_of(outside_ / "t.csv"), read_of(inside_ / ".." / "outside" / "t.csv"),
        read_of(outside_ / "not there.csv"), write_to(outside_ / "x.npy"),
        write_to(outside_ / "not there" / "x.npy"), write_to("/dev/full") + " WITH (format = npy)",
        std::string("CREATE TENSOR n FROM 'postgresql://localhost/x' WITH (query = 'SELECT 1')")})
    EXPECT_NE(told(some, sql).find(refused), std::string::npos) << sql << ": " << told(some, sql);
  EXPECT_TRUE(fs::is_empty(outside_) || !fs::exists(outside_ / "x.npy"));
  // Of what is inside, it is told what is wrong, by its name.
  EXPECT_NE(told(some, read_of(inside_ / "not there.csv")).find("No such file"), std::string::npos);
  std::ofstream(inside_ / "bad.csv") << "1,x\n";
  EXPECT_NE(told(some, read_of(inside_ / "bad.csv")).find((inside_ / "bad.csv").string()),
            std::string::npos);
}

TEST_F(External, LinksLeadNowhereElse) {
  const auto some = ExternalAccess::only({inside_});
  fs::create_symlink(outside_ / "t.csv", inside_ / "link.csv");
  fs::create_directory_symlink(outside_, inside_ / "folder");
  fs::create_symlink(outside_ / "new.npy", inside_ / "new.npy");
  fs::create_symlink(inside_ / "t.csv", outside_ / "back.csv");
  for (const std::string& sql :
       {read_of(inside_ / "link.csv"), read_of(inside_ / "folder" / "t.csv"),
        write_to(inside_ / "folder" / "x.npy"), write_to(inside_ / "new.npy"),
        write_to(inside_ / "link.csv")})
    EXPECT_NE(told(some, sql).find("external_access of this session allows"), std::string::npos)
        << sql << ": " << told(some, sql);
  EXPECT_FALSE(fs::exists(outside_ / "x.npy") || fs::exists(outside_ / "new.npy"));
  EXPECT_EQ(told(some, read_of(outside_ / "back.csv")), well_);
}

TEST_F(External, WhatWasLookedAtIsWhatIsRead) {
  const InputFile input = input_file((inside_ / "t.csv").string(), ExternalAccess::only({inside_}));
  std::ofstream(outside_ / "secret") << "secret";
  fs::remove(inside_ / "t.csv");
  fs::create_symlink(outside_ / "secret", inside_ / "t.csv");
  EXPECT_EQ(open_to_read(input).size(), 8);
  const auto folder = output_folder(inside_ / "below", "x", ExternalAccess::only({inside_}));
  fs::rename(inside_ / "below", inside_ / "moved");
  fs::create_directory_symlink(outside_, inside_ / "below");
  std::ofstream(folder.path / "x") << "x";
  EXPECT_TRUE(fs::exists(inside_ / "moved" / "x"));
  EXPECT_FALSE(fs::exists(outside_ / "x"));
}

TEST_F(External, IsFixedWhenASessionBegins) {
  for (const std::string sql : {"SET external_access = on", "SET external_access = 'on'",
                                "RESET external_access", "SET EXTERNAL_ACCESS = off"})
    EXPECT_NE(told(ExternalAccess::off(), sql).find("cannot be changed in a running session"),
              std::string::npos);
  Session session(open(), {.external_access = ExternalAccess::off()});
  const ResultTable settings = session.query("SHOW SETTINGS");
  EXPECT_EQ(settings.text(settings.rows() - 1, 0), "external_access");
  EXPECT_EQ(settings.text(settings.rows() - 1, 1), "off");
}

TEST_F(External, OfADatabaseHoldsForItsSessions) {
  Database database = open({.external_access = ExternalAccess::off()});
  EXPECT_ERROR(IoError, database.import_file("n", (inside_ / "t.csv").string()),
               "external_access is off");
  EXPECT_ERROR(IoError, database.export_file({"X"}, (inside_ / "x.npy").string()),
               "external_access is off");
  Session session(database, {.external_access = ExternalAccess::on()});
  EXPECT_NE(message_of([&] {
              session.execute(read_of(inside_ / "t.csv"));
            }).find("external_access is off"),
            std::string::npos);
}

TEST_F(External, RowsAreReadFromFilesAlone) {
  ASSERT_EQ(::mkfifo((inside_ / "pipe.csv").c_str(), 0600), 0);
  for (const fs::path& file : {inside_ / "pipe.csv", fs::path("/dev/zero")}) {
    const std::string sql = read_of(file) + " WITH (format = csv)";
    for (const auto& access : {ExternalAccess::on(), ExternalAccess::only({"/dev", inside_})})
      EXPECT_NE(told(access, sql).find("is a pipe or a device, and only files can be read"),
                std::string::npos)
          << told(access, sql);
  }
}

TEST_F(External, ALinkInThePlaceOfAFileOfTheDatabaseIsNotFollowed) {
  const std::string link = "it is a symbolic link, and a database must not contain any";
  std::ofstream(outside_ / "victim") << "precious";
  fs::remove(folder_ / "lock");
  fs::create_symlink(outside_ / "victim", folder_ / "lock");
  EXPECT_NE(message_of([&] { open().drop("X"); }).find(link), std::string::npos);
  EXPECT_EQ(fs::file_size(outside_ / "victim"), 8);
  fs::remove(folder_ / "lock");

  const fs::path segment = folder_ / "segments" / "00000001.seg";
  fs::rename(segment, outside_ / "segment");
  fs::create_symlink(outside_ / "segment", segment);
  EXPECT_NE(message_of([&] { (void)open().read("X"); }).find(link), std::string::npos);
  fs::remove(segment);
  fs::rename(outside_ / "segment", segment);

  for (const fs::path& file : fs::directory_iterator(folder_)) {
    if (!fs::is_regular_file(file) || file.filename() == "lock") continue;
    fs::rename(file, outside_ / "catalogue");
    fs::create_symlink(outside_ / "catalogue", file);
    EXPECT_NE(message_of([&] { open().drop("X"); }).find(link), std::string::npos) << file;
    fs::remove(file);
    fs::rename(outside_ / "catalogue", file);
  }
  // Of the folder of segments, what is not known to the catalogue would be removed.
  fs::create_directory(outside_ / "segments");
  std::ofstream(outside_ / "segments" / "00000009.seg") << "precious";
  fs::rename(folder_ / "segments", folder_ / "elsewhere");
  fs::create_directory_symlink(outside_ / "segments", folder_ / "segments");
  EXPECT_NE(message_of([&] { (void)open().read("X"); }).find("it is a symbolic link"),
            std::string::npos);
  EXPECT_TRUE(fs::exists(outside_ / "segments" / "00000009.seg"));
  fs::remove(folder_ / "segments");
  fs::rename(folder_ / "elsewhere", folder_ / "segments");
  EXPECT_EQ(message_of([&] { open().drop("X"); }), well_);
}

TEST_F(External, APipeInThePlaceOfAFileOfTheDatabaseIsRefused) {
  for (const fs::path file : {"catalog.1", "catalog.2", "lock", "segments/00000001.seg"}) {
    fs::rename(folder_ / file, outside_ / "own");
    ASSERT_EQ(::mkfifo((folder_ / file).c_str(), 0600), 0);
    EXPECT_NE(message_of([&] {
                Database database = open();
                (void)database.read("X");
                database.rename("X", "Y");
                database.rename("Y", "X");
              }).find("it is not a regular file"),
              std::string::npos)
        << file;
    fs::remove(folder_ / file);
    fs::rename(outside_ / "own", folder_ / file);
  }
  EXPECT_EQ(message_of([&] { open().drop("X"); }), well_);
}

TEST_F(External, ALockThatIsAnotherFileTooIsNotWrittenTo) {
  std::ofstream(outside_ / "precious") << "precious";
  fs::remove(folder_ / "lock");
  fs::create_hard_link(outside_ / "precious", folder_ / "lock");
  EXPECT_EQ(message_of([&] { open().drop("X"); }), well_);
  EXPECT_EQ(fs::file_size(outside_ / "precious"), 8);
}

}  // namespace
}  // namespace tessera
