// The table in docs/development.md that leads from the text of a statement to the product names the
// files that are really on that way: those on the stack when a kernel runs.

#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "tessera/kernel.h"
#include "tessera/session.h"

namespace tessera {
namespace {

std::vector<void*> stack_of_kernel;

/// A product that remembers who called it.
void register_watched_product() {
  register_kernel(
      {.name = "watched_product",
       .description = "a product of matrices",
       .min_arguments = 2,
       .max_arguments = 2,
       .infer =
           [](Types types, const Params&) {
             return std::vector<TileType>{{DType::f64, {types[0].shape[0], types[1].shape[1]}}};
           },
       .implementations = {{.name = "loop",
                            .layouts = {LayoutPattern::dense, LayoutPattern::dense},
                            .run = [](Tiles tiles, const Params&) {
                              stack_of_kernel.resize(200);
                              const int depth = backtrace(stack_of_kernel.data(), 200);
                              stack_of_kernel.resize(static_cast<std::size_t>(depth));
                              return std::vector<Tile>{Tile::zeros(
                                  DType::f64, {tiles[0].shape()[0], tiles[1].shape()[1]})};
                            }}}});
}

std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return text;
  char buffer[4096];
  while (const std::size_t read = fread(buffer, 1, sizeof buffer, pipe)) text.append(buffer, read);
  pclose(pipe);
  return text;
}

/// The sources below src that functions on the stack stand in, those that were inlined included,
/// from the first caller on.
std::vector<std::string> files_on(const std::vector<void*>& stack) {
  struct Frame {
    std::string object;
    std::ptrdiff_t offset;
  };
  std::vector<Frame> frames;
  std::map<std::string, std::string> offsets;  // by object
  for (auto address = stack.rbegin(); address != stack.rend(); ++address) {
    Dl_info info;
    if (dladdr(*address, &info) == 0) continue;
    const auto offset = static_cast<char*>(*address) - static_cast<char*>(info.dli_fbase) - 1;
    frames.push_back({info.dli_fname, offset});
    offsets[info.dli_fname] += fmt::format(" {:#x}", offset);
  }
  // Of each address a line that repeats it, and then the places, the innermost first.
  std::map<std::pair<std::string, std::ptrdiff_t>, std::vector<std::string>> places;
  for (const auto& [object, all] : offsets) {
    std::istringstream lines(output_of(fmt::format("addr2line -a -i -e '{}'{}", object, all)));
    std::ptrdiff_t of = 0;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("0x"))
        of = static_cast<std::ptrdiff_t>(std::stoll(line, nullptr, 16));
      else
        places[{object, of}].push_back(line.substr(0, line.rfind(':')));
    }
  }
  const std::string root = std::string(TESSERA_SOURCE) + "/src/";
  std::vector<std::string> files;
  for (const Frame& frame : frames) {
    const std::vector<std::string>& here = places[{frame.object, frame.offset}];
    for (auto path = here.rbegin(); path != here.rend(); ++path) {
      if (!path->starts_with(root) || !path->ends_with(".cpp")) continue;
      const std::string file = path->substr(root.size());
      if (files.empty() || files.back() != file) files.push_back(file);
    }
  }
  return files;
}

/// "folder/file.cpp" of each file in the table, in order.
std::vector<std::string> files_in_table() {
  std::ifstream page(std::string(TESSERA_SOURCE) + "/docs/development.md");
  std::vector<std::string> files;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("| folder | what happens there")) inside = true;
    if (inside && line.empty()) break;
    if (!inside || !line.starts_with("| `")) continue;
    const std::regex quoted("`([^`]+)`");
    std::vector<std::string> names;
    for (std::sregex_iterator found(line.begin(), line.end(), quoted), end; found != end; ++found)
      names.push_back((*found)[1]);
    for (std::size_t i = 1; i < names.size(); ++i)
      if (names[i].ends_with(".cpp")) files.push_back(names.front() + "/" + names[i]);
  }
  return files;
}

TEST(Page, ThePathOfAStatementNamesTheFilesOnTheStack) {
  register_watched_product();
  SessionOptions options;
  options.run.threads = 1;  // so that the caller itself runs the tasks
  Session session(Database::temporary(), options);
  session.execute(
      "CREATE TABLE A (r INT, c INT, mat MATRIX[2][2]); INSERT INTO A VALUES (0, 0, [[1, 2], [3, "
      "4]]);"
      "SELECT A.r, B.c, SUM(watched_product(A.mat, B.mat)) FROM A, A AS B WHERE A.c = B.r "
      "GROUP BY A.r, B.c");
  const std::vector<std::string> stack = files_on(stack_of_kernel), table = files_in_table();
  const std::set<std::string> named(table.begin(), table.end());
  ASSERT_GT(stack.size(), 5U) << "no sources are found for what is on the stack";
  for (const std::string& file : stack)
    EXPECT_TRUE(named.contains(file)) << file << " is on the way, and the table lacks it";
}

}  // namespace
}  // namespace tessera
