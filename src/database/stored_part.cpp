#include "database/stored_part.h"

#include <nlohmann/json.hpp>

namespace tessera {

using nlohmann::json;

StoredPart finish_part(RelationWriter& writer, Appender& appender) {
  StoredPart part;
  if (!writer.entries().empty()) part.directories.push_back(writer.append_directory());
  part.segments = appender.segments().lengths();
  part.bytes = writer.bytes();
  part.statistics = writer.statistics().to_numbers();
  return part;
}

std::string to_text(const StoredPart& part) {
  json directories = json::array(), segments = json::array();
  for (const auto& [segment, place] : part.directories)
    directories.push_back({segment, place.offset, place.bytes, place.checksum});
  for (const auto& [segment, bytes] : part.segments) segments.push_back({segment, bytes});
  return json{directories, segments, part.bytes, part.statistics, part.mark}.dump();
}

StoredPart part_of(const std::string& text) {
  const json said = json::parse(text);
  StoredPart part{{}, {}, said.at(2), said.at(3), said.at(4)};
  for (const json& at : said.at(0))
    part.directories.push_back({at.at(0), {at.at(1), at.at(2), at.at(3)}});
  for (const json& segment : said.at(1)) part.segments[segment.at(0)] = segment.at(1);
  return part;
}

store::Definition whole_of(const std::vector<StoredPart>& parts, const RelationType& type,
                           const std::optional<store::Edges>& edges) {
  StatisticsBuilder statistics;
  store::Definition whole{"", type, edges};
  for (const StoredPart& part : parts) {
    statistics.add(part.statistics);
    whole.bytes += part.bytes;
    whole.directories.insert(whole.directories.end(), part.directories.begin(),
                             part.directories.end());
  }
  whole.statistics = statistics.finish(type);
  return whole;
}

}  // namespace tessera
