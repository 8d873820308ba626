#include "test_file.h"

#include <fstream>
#include <map>
#include <stdexcept>

namespace tessera::testing {

std::vector<SqlCase> read_cases(const std::string& path) {
  static const std::map<std::string, SqlCase::Kind> kinds{{"statement", SqlCase::Kind::statement},
                                                          {"query", SqlCase::Kind::query},
                                                          {"ordered", SqlCase::Kind::ordered},
                                                          {"plan", SqlCase::Kind::plan},
                                                          {"error", SqlCase::Kind::error}};
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::vector<SqlCase> cases;
  enum class Where { between, text, expected } where = Where::between;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.starts_with('#')) continue;
    if (line.empty()) {
      where = Where::between;
    } else if (where == Where::between) {
      const std::string_view chosen = " chosen tiles";
      const bool shows_tiles = line.ends_with(chosen);
      const auto kind = kinds.find(line.substr(0, line.size() - (shows_tiles ? chosen.size() : 0)));
      if (kind == kinds.end())
        throw std::runtime_error(path + ":" + std::to_string(number) + ": '" + line +
                                 "' is no kind of case");
      cases.push_back({kind->second, "", {}, number, shows_tiles});
      where = Where::text;
    } else if (where == Where::text && line == "----") {
      where = Where::expected;
    } else if (where == Where::text) {
      cases.back().text += (cases.back().text.empty() ? "" : "\n") + line;
    } else {
      cases.back().expected.push_back(line);
    }
  }
  return cases;
}

}  // namespace tessera::testing
