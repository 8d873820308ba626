#include "exec/memory_limit.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <limits>

#include "base/bytes.h"
#include "exec/spill_file.h"
#include "support/expectations.h"
#include "tile/buffer.h"
#include "tile/kept_memory.h"

namespace tessera {
namespace {

/// What the environment says while this lives.
class Environment {
 public:
  explicit Environment(const char* limit) {
    if (const char* said = std::getenv(name)) before_ = said;
    ::setenv(name, limit, 1);
  }
  ~Environment() {
    if (before_.empty())
      ::unsetenv(name);
    else
      ::setenv(name, before_.c_str(), 1);
  }

 private:
  static constexpr const char* name = "TESSERA_MEMORY_LIMIT";
  std::string before_;
};

TEST(MemoryLimit, EveryNumberThatCanBeCountedIsRead) {
  EXPECT_EQ(parse_bytes("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parse_bytes("9007199254740993"), 9007199254740993);  // which no double is
  EXPECT_EQ(parse_bytes("1EB"), 1'000'000'000'000'000'000);
  EXPECT_EQ(parse_bytes("1 EiB"), std::int64_t{1} << 60);
  EXPECT_EQ(bytes_text(2'000'000'000'000'000'000), "2.00 EB");
  for (const char* more : {"9223372036854775808", "10EB", "1e30", "1e30MB"})
    EXPECT_ERROR(TypeError, parse_bytes(more), "is too large: at most");
}

TEST(MemoryLimit, TheEnvironmentSaysIt) {
  {
    const Environment said("64MB");
    EXPECT_EQ(exec::default_memory_limit(), 64'000'000);
  }
  for (const char* none : {"0", "0.5", "0MB"}) {
    const Environment said(none);
    EXPECT_ERROR(TypeError, exec::default_memory_limit(), "must be greater than 0");
  }
  const Environment said("apples");
  EXPECT_ERROR(TypeError, exec::default_memory_limit(),
               "TESSERA_MEMORY_LIMIT in the environment: 'apples' is not a number of bytes");
}

TEST(MemoryLimit, RunsThatOverlapKeepTheLeastOfWhatTheyMay) {
  const std::size_t before = retain_at_most(std::numeric_limits<std::size_t>::max());
  auto first = std::make_unique<KeepAtMost>(1000);
  auto second = std::make_unique<KeepAtMost>(2000);
  EXPECT_EQ(retain_at_most(1000), std::min<std::size_t>(1000, before));
  first.reset();  // not the one that came last
  EXPECT_EQ(retain_at_most(2000), std::min<std::size_t>(2000, before));
  second.reset();
  EXPECT_EQ(retain_at_most(before), before);
}

TEST(MemoryLimit, AFolderWithoutRoomIsNamed) {
  exec::SpillFile nowhere("/nonexistent/folder");
  EXPECT_ERROR(IoError, nowhere.write({Tile::zeros({DType::f64, {4}})}),
               "cannot spill data to '/nonexistent/folder'");
  exec::SpillFile again("/nonexistent/folder");
  EXPECT_ERROR(IoError, again.write({Tile::zeros({DType::f64, {4}})}),
               "choose another temporary_folder (or TMPDIR)");
}

}  // namespace
}  // namespace tessera
