#include "database/written_parts.h"

#include <nlohmann/json.hpp>

namespace tessera {

using nlohmann::json;

Written finish(std::deque<RelationWriter>& writers, Appender& appender) {
  Written written;
  for (RelationWriter& writer : writers) {
    StoredPart& part = written.parts.emplace_back();
    if (!writer.entries().empty()) part.directories.push_back(writer.append_directory());
    part.bytes = writer.bytes();
    part.statistics = writer.statistics().to_numbers();
    part.codes.assign(writer.codes().begin(), writer.codes().end());
  }
  written.segments = appender.segments().lengths();
  return written;
}

std::string to_text(const Written& written) {
  json parts = json::array(), segments = json::array();
  for (const StoredPart& part : written.parts) {
    json directories = json::array();
    for (const auto& [segment, range] : part.directories)
      directories.push_back({segment, range.offset, range.bytes, range.checksum});
    parts.push_back({directories, part.bytes, part.statistics, part.codes});
  }
  for (const auto& [segment, bytes] : written.segments) segments.push_back({segment, bytes});
  return json{parts, segments, written.mark}.dump();
}

Written written_of(const std::string& text) {
  const json said = json::parse(text);
  Written written{{}, {}, said.at(2)};
  for (const json& of : said.at(0)) {
    StoredPart& part = written.parts.emplace_back(StoredPart{{}, of.at(1), of.at(2), of.at(3)});
    for (const json& at : of.at(0))
      part.directories.push_back({at.at(0), {at.at(1), at.at(2), at.at(3)}});
  }
  for (const json& segment : said.at(1)) written.segments[segment.at(0)] = segment.at(1);
  return written;
}

store::Definition whole_of(const std::vector<StoredPart>& parts, const RelationType& type,
                           const store::Extents& extents) {
  StatisticsBuilder statistics;
  store::Definition whole{"", type, extents};
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
