#include <fmt/format.h>

#include <iostream>

#include "shell/commands.h"
#include "shell/control_characters.h"
#include "tessera/database.h"

namespace tessera::shell {
namespace {

int list(const std::string& folder) {
  const Database database = Database::open(folder, {.create = false, .read_only = true});
  std::vector<std::array<std::string, 4>> rows{{"name", "type", "shape", "bytes"}};
  const std::vector<StoredInfo> all = database.list();
  bool damaged = false;
  for (const StoredInfo& info : all) {
    if (!info.damage.empty()) {
      rows.push_back({info.name, "damaged", "", ""});
      std::cerr << fmt::format("IoError: {}\n", without_control_characters(info.damage));
      damaged = true;
      continue;
    }
    rows.push_back({info.name, to_string(info.type), info.shape ? to_string(*info.shape) : "",
                    std::to_string(info.bytes)});
  }
  std::array<std::size_t, 4> widths{};
  for (const auto& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  for (const auto& [name, type, shape, bytes] : rows)
    std::cout << fmt::format("{:{}}  {:{}}  {:{}}  {:>{}}\n", name, widths[0], type, widths[1],
                             shape, widths[2], bytes, widths[3]);
  return damaged ? failed : 0;
}

}  // namespace

void add_list(CLI::App& program, Action& chosen) {
  CLI::App* command =
      program.add_subcommand("list", "List the stored relations with their types and shapes");
  auto folder = std::make_shared<std::string>();
  command->add_option("DATABASE", *folder, "The database folder")->required();
  command->callback([folder, &chosen] { chosen = [folder] { return list(*folder); }; });
}

}  // namespace tessera::shell
