#include "store/catalog.h"

#include <algorithm>

#include "base/check.h"
#include "base/packing.h"
#include "store/consistency.h"

namespace tessera::store {

// A change is a letter and what belongs to it. An image is the changes that make all of it out of
// nothing, so that there is one way to read both.
enum class Catalog::Change : std::uint8_t {
  relation = 'R',  // is there from now on, in the place of one of its name
  removal = 'D',
  text = 'T',
  text_removal = 'U',
  segment = 'S',
  segment_removal = 'F',
  next_segment = 'N',
  run = 'H',
  rate = 'K',  // more of it
  old_string = 'O',
};

namespace {

/// Runs that are remembered. Older ones are forgotten; the rates of kernels keep what they showed.
constexpr std::size_t most_remembered = 1000;

void put(PackedWriter& into, const std::vector<Address>& addresses) {
  into.put(static_cast<std::int64_t>(addresses.size()));
  for (const Address& at : addresses)
    into.put(at.segment).put(at.range.offset).put(at.range.bytes).put(at.range.checksum);
}

std::vector<Address> addresses_in(PackedReader& from) {
  std::vector<Address> addresses(static_cast<std::size_t>(from.count(sizeof(Address))));
  for (Address& at : addresses) {
    at.segment = from.integer();
    at.range.offset = from.integer();
    at.range.bytes = from.integer();
    at.range.checksum = from.number<std::uint64_t>();
  }
  return addresses;
}

std::int64_t segment_in(PackedReader& from) {
  const std::int64_t number = from.integer();
  TESSERA_REQUIRE(IoError, number >= 1 && number <= most_stored,
                  "the catalogue is damaged: invalid segment {}", number);
  return number;
}

}  // namespace

/// How changes are written and read.
struct CatalogChanges {
  using Row = Catalog::Row;
  using Change = Catalog::Change;

  static PackedWriter of(Change change) {
    PackedWriter bytes;
    bytes.put(static_cast<std::uint8_t>(change));
    return bytes;
  }
  static std::string relation(const std::string& name, const Row& row) {
    PackedWriter bytes = of(Change::relation);
    bytes.put(name).put(row.type).put(row.statistics).put(row.bytes);
    put(bytes, row.directories);
    put(bytes, row.strings);
    return bytes.take();
  }
  static std::string named(Change change, const std::string& name) {
    return of(change).put(name).take();
  }
  static std::string text(const std::string& name, const std::string& value) {
    return of(Change::text).put(name).put(value).take();
  }
  static std::string segment(std::int64_t number, std::int64_t bytes) {
    return of(Change::segment).put(number).put(bytes).take();
  }
  static std::string next_segment(std::int64_t number) {
    return of(Change::next_segment).put(number).take();
  }
  static std::string old_string(std::int64_t code, const std::string& value) {
    return of(Change::old_string).put(code).put(value).take();
  }
  static std::string run(const PastRun& run) {
    return of(Change::run)
        .put(run.at)
        .put(run.name)
        .put(run.plan)
        .put(run.seconds)
        .put(run.tasks)
        .put(run.flops)
        .put(run.peak_bytes)
        .put(run.bytes_read)
        .put(run.bytes_spilled)
        .take();
  }
  static std::string rate(const KernelRate& rate) {
    return of(Change::rate)
        .put(rate.kernel)
        .put(rate.tasks)
        .put(rate.flops)
        .put(rate.bytes)
        .put(rate.seconds)
        .take();
  }

  static Row row_in(PackedReader& from) {
    Row row;
    row.type = from.text();
    row.statistics = from.text();
    row.bytes = from.integer();
    row.directories = addresses_in(from);
    row.strings = addresses_in(from);
    return row;
  }
  static PastRun run_in(PackedReader& from) {
    PastRun run;
    run.at = from.text();
    run.name = from.text();
    run.plan = from.text();
    run.seconds = from.number<double>();
    run.tasks = from.integer();
    run.flops = from.number<double>();
    run.peak_bytes = from.integer();
    run.bytes_read = from.integer();
    run.bytes_spilled = from.integer();
    return run;
  }

  /// What a change makes of a catalogue.
  static void apply(Catalog& to, PackedReader& from) {
    const auto change = static_cast<Change>(from.number<std::uint8_t>());
    switch (change) {
      case Change::relation: {
        std::string name = from.text();
        to.relations_[std::move(name)] = std::make_shared<const Row>(row_in(from));
        return;
      }
      case Change::removal: to.relations_.erase(from.text()); return;
      case Change::text: {
        std::string name = from.text();
        to.texts_[std::move(name)] = std::make_shared<const std::string>(from.text());
        return;
      }
      case Change::text_removal: to.texts_.erase(from.text()); return;
      case Change::segment: {
        const std::int64_t number = segment_in(from), bytes = from.integer();
        TESSERA_REQUIRE(IoError, bytes >= 0 && bytes <= most_stored,
                        "the catalogue is damaged: segment {} has {} bytes", number, bytes);
        to.segments_[number] = bytes;
        to.next_segment_ = std::max(to.next_segment_, number + 1);
        return;
      }
      case Change::segment_removal: to.segments_.erase(from.integer()); return;
      case Change::next_segment: to.next_segment_ = segment_in(from); return;
      case Change::run:
        to.history_.push_back(std::make_shared<const PastRun>(run_in(from)));
        if (to.history_.size() > most_remembered) to.history_.pop_front();
        return;
      case Change::rate: {
        const std::string kernel = from.text();
        KernelRate& rate = to.rates_[kernel];
        rate.kernel = kernel;
        rate.tasks =
            std::clamp<std::int64_t>(from.integer(), 0, most_stored - rate.tasks) + rate.tasks;
        rate.flops += from.number<double>();
        rate.bytes += from.number<double>();
        rate.seconds += from.number<double>();
        return;
      }
      case Change::old_string: {
        const std::int64_t code = from.integer();
        to.old_strings_[code] = from.text();
        return;
      }
    }
    throw IoError(fmt::format("the catalogue is damaged: it has a change of kind {}",
                              static_cast<int>(change)));
  }
};

void Catalog::apply(std::string_view changes, std::int64_t commit) {
  PackedReader from(changes, "the catalogue");
  while (!from.done()) CatalogChanges::apply(*this, from);
  commit_ = commit;
  changes_.clear();
}

Catalog Catalog::from_image(std::string_view bytes, std::int64_t commit) {
  Catalog catalog;
  catalog.apply(bytes, commit);
  return catalog;
}

std::string Catalog::image() const {
  std::string all;
  for (const auto& [name, row] : relations_) all += CatalogChanges::relation(name, *row);
  for (const auto& [name, value] : texts_) all += CatalogChanges::text(name, *value);
  for (const auto& [number, bytes] : segments_) all += CatalogChanges::segment(number, bytes);
  all += CatalogChanges::next_segment(next_segment_);
  for (const auto& run : history_) all += CatalogChanges::run(*run);
  for (const auto& [kernel, rate] : rates_) all += CatalogChanges::rate(rate);
  for (const auto& [code, value] : old_strings_) all += CatalogChanges::old_string(code, value);
  return all;
}

/// A change is made here as others make it who read it.
void Catalog::put(std::string change) {
  PackedReader from(change, "the catalogue");
  CatalogChanges::apply(*this, from);
  changes_ += change;
}

Catalog::Row Catalog::row_of(const Definition& definition) {
  return {type_text(definition), statistics_text(definition), definition.bytes,
          definition.directories, definition.strings};
}

Definition Catalog::definition_of(const std::string& name, const Row& row) const {
  Definition definition;
  definition.name = name;
  definition.bytes = row.bytes;
  definition.directories = row.directories;
  definition.strings = row.strings;
  read_texts(row.type, row.statistics, definition);
  return definition;
}

std::vector<Definition> Catalog::all() const {
  std::vector<Definition> found;
  for (const auto& [name, row] : relations_) found.push_back(definition_of(name, *row));
  return found;
}

std::optional<Definition> Catalog::find(const std::string& name) const {
  const auto found = relations_.find(name);
  if (found == relations_.end()) return std::nullopt;
  return definition_of(name, *found->second);
}

bool Catalog::still_has(const Definition& definition) const {
  const auto found = relations_.find(definition.name);
  if (found == relations_.end()) return false;
  const auto are_among = [](const std::vector<Address>& some, const std::vector<Address>& all) {
    return std::all_of(some.begin(), some.end(), [&](const Address& one) {
      return std::find(all.begin(), all.end(), one) != all.end();
    });
  };
  return are_among(definition.directories, found->second->directories) &&
         are_among(definition.strings, found->second->strings);
}

bool Catalog::same_relation(const Catalog& other, const std::string& name) const {
  const auto here = relations_.find(name), there = other.relations_.find(name);
  if (here == relations_.end() || there == other.relations_.end())
    return here == relations_.end() && there == other.relations_.end();
  return *here->second == *there->second;
}

bool Catalog::same_text(const Catalog& other, const std::string& name) const {
  return text(name) == other.text(name);
}

std::vector<std::string> Catalog::names() const {
  std::vector<std::string> found;
  for (const auto& [name, row] : relations_) found.push_back(name);
  return found;
}

void Catalog::add(const Definition& definition) {
  TESSERA_INVARIANT(!has(definition.name), "{} is in the catalogue", definition.name);
  put(CatalogChanges::relation(definition.name, row_of(definition)));
}

void Catalog::update(const Definition& definition) {
  TESSERA_INVARIANT(has(definition.name), "{} is not in the catalogue", definition.name);
  put(CatalogChanges::relation(definition.name, row_of(definition)));
}

void Catalog::remove(const std::string& name) {
  TESSERA_INVARIANT(has(name), "{} is not in the catalogue", name);
  put(CatalogChanges::named(Change::removal, name));
}

void Catalog::rename(const std::string& from, const std::string& to) {
  TESSERA_INVARIANT(has(from) && !has(to), "{} cannot become {}", from, to);
  const std::shared_ptr<const Row> row = relations_.at(from);
  put(CatalogChanges::named(Change::removal, from));
  put(CatalogChanges::relation(to, *row));
}

void Catalog::set_segments(const std::map<std::int64_t, std::int64_t>& lengths) {
  for (const auto& [segment, bytes] : lengths) put(CatalogChanges::segment(segment, bytes));
}

void Catalog::forget_segment(std::int64_t segment) {
  put(CatalogChanges::of(Change::segment_removal).put(segment).take());
}

void Catalog::set_next_segment(std::int64_t number) { put(CatalogChanges::next_segment(number)); }

void Catalog::record(const PastRun& run) { put(CatalogChanges::run(run)); }

void Catalog::record(const KernelRate& rate) { put(CatalogChanges::rate(rate)); }

void Catalog::set_old_string(std::int64_t code, const std::string& value) {
  put(CatalogChanges::old_string(code, value));
}

std::vector<PastRun> Catalog::history() const {
  std::vector<PastRun> runs;
  for (auto run = history_.rbegin(); run != history_.rend(); ++run) runs.push_back(**run);
  return runs;
}

std::vector<KernelRate> Catalog::kernel_rates() const {
  std::vector<KernelRate> rates;
  for (const auto& [kernel, rate] : rates_) rates.push_back(rate);
  return rates;
}

std::optional<std::string> Catalog::text(const std::string& name) const {
  const auto found = texts_.find(name);
  return found != texts_.end() ? std::optional(*found->second) : std::nullopt;
}

std::map<std::string, std::string> Catalog::texts(const std::string& prefix) const {
  std::map<std::string, std::string> found;
  for (auto text = texts_.lower_bound(prefix);
       text != texts_.end() && text->first.starts_with(prefix); ++text)
    found.emplace(text->first, *text->second);
  return found;
}

void Catalog::set_text(const std::string& name, const std::optional<std::string>& value) {
  put(value ? CatalogChanges::text(name, *value)
            : CatalogChanges::named(Change::text_removal, name));
}

}  // namespace tessera::store
