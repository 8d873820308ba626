#include "fuzz/database_mutation.h"

#include <fmt/format.h>

#include <cstring>

#include "store/catalog_file.h"
#include "store/stored_relation.h"
#include "support/sealed_record.h"

namespace tessera::hostile {
namespace {

using store::Catalog;
using store::Definition;
using store::Directory;

/// Numbers that break what does not look at them.
std::int64_t number(Random& random, std::int64_t was) {
  constexpr std::int64_t least = INT64_MIN, most = INT64_MAX;
  switch (random.between(0, 9)) {
    case 0: return was + 1;
    case 1: return was - 1;
    case 2: return -was;
    case 3: return 0;
    case 4: return random.pick<std::int64_t>({1, 2, 3, 7, 8, 9, 16, 255, 4096, 1 << 20});
    case 5: return random.pick<std::int64_t>({least, least + 1, most, most - 1, most / 8, -1});
    case 6: return std::int64_t{1} << random.between(0, 62);
    case 7: return was ^ (std::int64_t{1} << random.between(0, 62));
    case 8: return was + random.between(-1000, 1000);
    default: return static_cast<std::int64_t>(random.bits());
  }
}

/// Without an overflow of our own.
std::int64_t changed(Random& random, std::int64_t was) {
  return was > INT64_MAX / 4 || was < INT64_MIN / 4 ? random.between(-8, 8) : number(random, was);
}

template <class Numbers>
void change_some(Numbers& numbers, Random& random, int most = 2) {
  if (numbers.empty()) return;
  for (std::int64_t i = random.between(1, most); i > 0; --i) {
    auto& at = numbers[static_cast<std::size_t>(random.between(0, std::ssize(numbers) - 1))];
    at = changed(random, at);
  }
}

/// Bytes of a record: words that say what it is, offsets, coordinates, values.
void change_bytes(std::vector<std::byte>& bytes, Random& random) {
  for (std::int64_t i = random.between(1, 3); i > 0; --i) {
    if (random.chance(0.7) && bytes.size() >= 8) {
      const auto at = 8 * static_cast<std::size_t>(random.between(0, std::ssize(bytes) / 8 - 1));
      std::int64_t word = 0;
      std::memcpy(&word, bytes.data() + at, 8);
      word = changed(random, word);
      std::memcpy(bytes.data() + at, &word, 8);
    } else {
      auto& byte = bytes[static_cast<std::size_t>(random.between(0, std::ssize(bytes) - 1))];
      byte = static_cast<std::byte>(random.between(0, 255));
    }
  }
  if (random.chance(0.05))
    bytes.resize(static_cast<std::size_t>(random.between(0, std::ssize(bytes))));
  if (random.chance(0.05))
    bytes.resize(bytes.size() + static_cast<std::size_t>(random.between(1, 64)));
}

/// A text that is JSON, or SQL, or neither any more.
void change_text(std::string& text, Random& random) {
  static const std::vector<std::string> pieces = {"null",    "[]",          "{}",
                                                  "\"\"",    "-1",          "99999999999999999999",
                                                  "1e999",   "true",        "\"nan\"",
                                                  "[[[[",    "k0",          "k9",
                                                  "\\u0000", "\xff",        ",",
                                                  "}",       "]",           "SELECT",
                                                  "*",       "FROM elders", "9223372036854775807"};
  for (std::int64_t i = random.between(1, 3); i > 0; --i) {
    const std::int64_t size = std::ssize(text);
    const auto at = static_cast<std::size_t>(random.between(0, size));
    const auto length =
        static_cast<std::size_t>(random.between(0, std::min<std::int64_t>(12, size)));
    const std::size_t digit = text.find_first_of("0123456789", at);
    switch (random.between(0, 5)) {
      case 0: text.insert(at, random.pick(pieces)); break;
      case 1: text.erase(at, length); break;
      case 2: text.replace(at, std::min(length, text.size() - at), random.pick(pieces)); break;
      case 3:
        if (at < text.size()) text[at] = static_cast<char>(random.between(0, 255));
        break;
      default: {  // a number, which it stays
        if (digit == std::string::npos) break;
        const std::size_t end = std::min(text.find_first_not_of("0123456789", digit), text.size());
        text.replace(digit, end - digit, std::to_string(changed(random, random.between(0, 9))));
      }
    }
  }
}

void change_shape(Shape& shape, Random& random) {
  if (random.chance(0.2) && shape.rank() < max_rank) shape.push_back(random.between(0, 5));
  if (random.chance(0.1) && shape.rank() > 0) shape.resize(shape.size() - 1);
  change_some(shape, random);
}

/// What can be changed of what the catalogue says of a relation.
std::string change_definition(Definition& definition, Random& random) {
  RelationType& type = definition.type;
  switch (random.between(0, 10)) {
    case 0: change_some(type.frontier, random); return "the frontier";
    case 1: change_some(definition.statistics.distinct, random); return "how many are distinct";
    case 2:
      definition.statistics.tuples = changed(random, definition.statistics.tuples);
      return "how many tuples there are";
    case 3:
      definition.statistics.nonzeros = changed(random, definition.statistics.nonzeros);
      return "how many are no zeros";
    case 4:
      type.presence = static_cast<Presence>(random.between(0, 2));
      return "what an absent key means";
    case 5: {
      auto& column =
          type.columns[static_cast<std::size_t>(random.between(0, std::ssize(type.columns) - 1))];
      if (random.chance(0.3)) column.type.dtype = static_cast<DType>(random.between(0, 3));
      if (random.chance(0.3)) column.type.sparse_dims = static_cast<int>(random.between(-1, 4));
      change_shape(column.type.shape, random);
      return "the type of a column";
    }
    case 6:
      if (random.chance(0.5))
        type.columns.push_back({"more", {DType::f64, {2}}});
      else
        type.columns.pop_back();
      return "the columns";
    case 7:
      if (!definition.extents.edges) definition.extents.edges.emplace();
      change_shape(definition.extents.edges->last, random);
      return "the edges";
    case 8:
      if (random.chance(0.3)) definition.extents.edges.reset();
      if (definition.extents.absent)
        for (auto& column : definition.extents.absent->columns)
          for (store::KeyRule& rule : column) {
            if (random.chance(0.3) && !rule.runs.empty()) {
              store::KeyRule::Run& run =
                  rule.runs[static_cast<std::size_t>(random.between(0, std::ssize(rule.runs) - 1))];
              (random.chance(0.5) ? run.length : run.value) = changed(random, run.value);
            }
            if (random.chance(0.2) && !rule.parts.empty())
              rule.parts[0].component = static_cast<int>(random.between(-2, 17));
            if (random.chance(0.2) && !rule.parts.empty())
              rule.parts[0].distinct = changed(random, rule.parts[0].distinct);
          }
      return "what absent tiles are";
    case 9: definition.bytes = changed(random, definition.bytes); return "its bytes";
    default: {
      if (definition.directories.empty()) return "nothing";
      store::Address& part = definition.directories[static_cast<std::size_t>(
          random.between(0, std::ssize(definition.directories) - 1))];
      std::int64_t* numbers[] = {&part.segment, &part.range.offset, &part.range.bytes};
      std::int64_t& one = *numbers[random.between(0, 2)];
      one = changed(random, one);
      if (random.chance(0.2)) definition.directories.push_back(part);
      return "where its directories are";
    }
  }
}

/// Writes a directory anew in the place of all parts that there were.
void replace_directory(const std::filesystem::path& folder, Definition& definition,
                       const std::vector<std::int64_t>& numbers) {
  const store::Record record = store::record_of(numbers);
  std::vector<std::byte> bytes = record.head;
  for (const auto& piece : record.payload) bytes.insert(bytes.end(), piece.begin(), piece.end());
  definition.directories = {append(folder, definition.directories.at(0).segment, bytes)};
}

class Mutation {
 public:
  Mutation(const std::filesystem::path& folder, Random& random)
      : folder_(folder),
        random_(random),
        file_(folder, store::Sync::never),
        catalog_(*file_.now()) {}

  std::string apply() {
    switch (random_.between(0, 14)) {
      case 0:
      case 1:
      case 2:
      case 3: return record();
      case 4:
      case 5:
      case 6: return directory();
      case 7:
      case 8: return definition();
      case 9:
      case 10:
      case 11: return text();
      case 12: return segments();
      case 13: return changes();
      default: return names();
    }
  }

 private:
  template <class Change>
  void commit(const Change& change) {
    change();
    (void)file_.commit(std::move(catalog_));
  }
  /// After bytes were appended to segments.
  void commit_appended(const Definition& definition) {
    commit([&] {
      count_appended(folder_, catalog_);
      catalog_.update(definition);
    });
  }
  Definition some_relation() {
    Definition found = catalog_.find(random_.pick(catalog_.names())).value();
    while (found.directories.empty()) found = catalog_.find(random_.pick(catalog_.names())).value();
    return found;
  }

  /// Bytes of a tuple's record; its directory says what they hash to now.
  std::string record() {
    Definition definition = some_relation();
    if (!definition.strings.empty() && random_.chance(0.5)) return strings(definition);
    const store::StoredRelation stored(folder_, definition);
    if (stored.entries().empty()) return "nothing";
    Directory directory{stored.entries()};
    store::Entry& entry = directory.entries[static_cast<std::size_t>(
        random_.between(0, std::ssize(directory.entries) - 1))];
    const File file = File::open(store::segment_path(folder_, entry.address.segment));
    std::vector<std::byte> bytes = bytes_of(file, entry.address.range);
    change_bytes(bytes, random_);
    entry.address = append(folder_, entry.address.segment, std::move(bytes));
    replace_directory(folder_, definition, to_numbers(directory));
    commit_appended(definition);
    return fmt::format("the record of {} at {}", definition.name, to_string(entry.key));
  }

  /// Bytes of a block of strings.
  std::string strings(Definition& definition) {
    store::Address& block = definition.strings[static_cast<std::size_t>(
        random_.between(0, std::ssize(definition.strings) - 1))];
    const File file = File::open(store::segment_path(folder_, block.segment));
    std::vector<std::byte> bytes = bytes_of(file, block.range);
    change_bytes(bytes, random_);
    block = append(folder_, block.segment, std::move(bytes));
    commit_appended(definition);
    return fmt::format("the strings of {}", definition.name);
  }

  std::string directory() {
    Definition definition = some_relation();
    const store::StoredRelation stored(folder_, definition);
    std::vector<std::int64_t> numbers = store::to_numbers(Directory{stored.entries()});
    change_some(numbers, random_, 3);
    const auto at = random_.between(0, std::ssize(numbers) - 1);
    if (random_.chance(0.1)) numbers.erase(numbers.begin() + at);
    if (random_.chance(0.1)) numbers.insert(numbers.begin() + at, random_.between(0, 9));
    if (random_.chance(0.05)) numbers.resize(static_cast<std::size_t>(at));
    replace_directory(folder_, definition, numbers);
    commit_appended(definition);
    return fmt::format("the directory of {}", definition.name);
  }

  /// Of the relation itself, or of the text that says what it is.
  std::string definition() {
    Definition definition = some_relation();
    std::string what = "the text";
    if (random_.chance(0.3)) {
      std::string type = type_text(definition), statistics = statistics_text(definition);
      change_text(random_.chance(0.7) ? type : statistics, random_);
      Definition read{.name = definition.name, .type = {}};
      try {
        read_texts(type, statistics, read);
      } catch (const IoError&) {
        return "a text that is refused";
      }
      read.bytes = definition.bytes;
      read.directories = definition.directories;
      read.strings = definition.strings;
      definition = std::move(read);
    } else {
      what = change_definition(definition, random_);
    }
    commit([&] { catalog_.update(definition); });
    return fmt::format("{} of {}", what, definition.name);
  }

  std::string text() {
    const std::map<std::string, std::string> texts = catalog_.texts("");
    std::vector<std::string> names;
    for (const auto& [name, text] : texts) names.push_back(name);
    std::string name = random_.pick(names), value = texts.at(name);
    if (random_.chance(0.1)) value = texts.at(random_.pick(names));  // of something else
    if (random_.chance(0.1)) change_text(name, random_);
    change_text(value, random_);
    commit([&] { catalog_.set_text(name, value); });
    return fmt::format("the text {}", name);
  }

  std::string segments() {
    const auto [segment, bytes] = *catalog_.segments().begin();
    const std::int64_t number = random_.chance(0.5) ? segment : changed(random_, segment);
    const std::int64_t length = changed(random_, bytes);
    commit([&] { catalog_.set_segments({{number, length}}); });
    return fmt::format("segment {} has {} bytes", number, length);
  }

  /// The bytes of a commit: letters, lengths of texts, numbers.
  std::string changes() {
    const std::string image = catalog_.image();
    std::vector<std::byte> bytes(image.size());
    std::memcpy(bytes.data(), image.data(), image.size());
    change_bytes(bytes, random_);
    store::CommitLog log(folder_, store::Sync::never);
    log.read([](const store::CommitLog::Entry&) {});
    log.append({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    return "the bytes of a commit";
  }

  std::string names() {
    if (random_.chance(0.3)) {
      const PastRun run{"",
                        "x",
                        "plan",
                        random_.uniform(-1e300, 1e300),
                        changed(random_, 1),
                        random_.uniform(-1e300, 1e300),
                        changed(random_, 1),
                        changed(random_, 1),
                        changed(random_, 1)};
      commit([&] {
        catalog_.record(run);
        catalog_.record(KernelRate{"matmul", changed(random_, 1), -1, 1e300, -5});
      });
      return "the history";
    }
    const std::vector<std::string> known = catalog_.names();
    const std::string from = random_.pick(known);
    const std::string to = random_.pick<std::string>({"", "f[3]", "w[0]", "f[", "[", "~job x 0",
                                                      "people[0]", "\xff\xfe", "a/b", "elders", "P",
                                                      "sql/table/people", std::string(1000, 'x')});
    if (std::find(known.begin(), known.end(), to) != known.end()) return "nothing";
    commit([&] { catalog_.rename(from, to); });
    return fmt::format("{} is called {}", from, to);
  }

  const std::filesystem::path folder_;
  Random& random_;
  store::CatalogFile file_;
  Catalog catalog_;  // a copy, which is changed
};

}  // namespace

std::string mutate(const std::filesystem::path& folder, Random& random) {
  std::string what;
  for (std::int64_t i = random.chance(0.2) ? 2 : 1; i > 0; --i) {
    try {
      what += (what.empty() ? "" : ", ") + Mutation(folder, random).apply();
    } catch (const IoError&) {
      break;  // what is broken already cannot be read to be changed once more
    }
  }
  return what;
}

}  // namespace tessera::hostile
