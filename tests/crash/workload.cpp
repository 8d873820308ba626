#include "crash/workload.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstring>

#include "base/check.h"
#include "crash/disk.h"

namespace tessera::crash {
namespace {

constexpr std::size_t most_names = 10;
constexpr std::uint64_t small_mark = std::uint64_t{1} << 62, series_mark = small_mark >> 1;
constexpr std::uint64_t growths = 0xff;  // in the seed of a series: how many tuples were appended

void copy(char* into, std::size_t room, const std::string& text) {
  std::snprintf(into, room, "%s", text.c_str());
}

std::int64_t tuples_of_series(std::uint64_t seed) {
  return 1 + static_cast<std::int64_t>((seed >> 8) % 3 + (seed & growths));
}

Tuple tuple_of_series(std::uint64_t seed, std::int64_t at) {
  const std::uint64_t own = (seed & ~growths) + static_cast<std::uint64_t>(at);
  return {
      {at},
      {random_integers(DType::f64, {static_cast<std::int64_t>(seed >> 10) % 40 + 1}, own, 0, 100)}};
}

Relation relation_of_series(std::uint64_t seed) {
  std::vector<Tuple> tuples;
  for (std::int64_t at = 0; at < tuples_of_series(seed); ++at)
    tuples.push_back(tuple_of_series(seed, at));
  return Relation::of(std::move(tuples));
}

}  // namespace

bool is_text(const std::string& name) { return name.ends_with(".text"); }

std::uint64_t small(std::uint64_t seed) { return seed | small_mark; }
std::uint64_t series(std::uint64_t seed) { return (seed & ~growths) | small_mark | series_mark; }
bool is_series(std::uint64_t seed) { return (seed & small_mark) != 0 && (seed & series_mark) != 0; }
Relation growth_of(std::uint64_t seed) {
  return Relation::of({tuple_of_series(seed, tuples_of_series(seed))}, Presence::partial);
}

std::string text_of(std::uint64_t seed) {
  const std::uint64_t number = seed & 0xffffffff;
  return fmt::format("{} {}", number, std::string(number % 5000, 't'));
}

Glance glance_at(const std::vector<StoredInfo>& relations,
                 const std::map<std::string, std::string>& texts) {
  Glance glance = texts;
  for (const StoredInfo& info : relations)
    glance[info.name] = fmt::format("{} tuples", info.statistics.tuples);
  return glance;
}

bool fits(const Glance& glance, const Contents& contents) {
  return std::equal(glance.begin(), glance.end(), contents.begin(), contents.end(),
                    [](const auto& seen, const auto& stored) {
                      const auto& [name, seed] = stored;
                      if (seen.first != name) return false;
                      if (is_text(name)) return seen.second == text_of(seed);
                      return !is_series(seed) ||
                             seen.second == fmt::format("{} tuples", tuples_of_series(seed));
                    });
}

Relation relation_of(std::uint64_t seed) {
  if (is_series(seed)) return relation_of_series(seed);
  std::mt19937_64 random(seed);
  const auto between = [&](std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
  };
  const auto dtype = static_cast<DType>(between(0, 3));
  const std::int64_t kind = between(0, 9);
  if (kind == 0 && (seed & small_mark) == 0)
    return Relation::from_tensor(
        random_integers(DType::f64, {between(300, 900), between(300, 600)}, seed, 0, 1000),
        {between(100, 300), between(100, 300)});
  if (kind <= 2)
    return Relation::from_tensor(
        random_sparse({DType::f64, {between(10, 60), between(10, 60)}, 1}, seed, 0.01),
        {between(3, 20), between(3, 20)}, Presence::sparse);
  if (kind == 3)
    return Relation::of({{{0}, {random_integers(dtype, {3, 4}, seed, 0, 9), Tile::scalar(2.5)}},
                         {{1}, {random_integers(dtype, {3, 4}, seed + 1, 0, 9), Tile::scalar(7.)}}},
                        Presence::continuous, Key{2});
  return Relation::from_tensor(
      random_integers(dtype, {between(1, 40), between(1, 40)}, seed, 0, 100),
      {between(1, 20), between(1, 20)});
}

std::string second(const Step& step) { return std::string(step.to) + "s"; }

std::string to_string(const Step& step) {
  const char* const words[] = {"store", "drop", "rename", "vacuum", "checkpoint", "change"};
  const char* const states[] = {"begun", "done", "failed: "};
  std::string text = fmt::format("{} {} {} ({})", words[static_cast<int>(step.kind)], step.name,
                                 step.to, step.seed);
  if (step.kind == Step::Kind::change)
    text += fmt::format(" replacing {}, growing {} ({}), {} {}", step.replaced, step.grown,
                        step.grown_seed, step.text_removed ? "removing" : "setting", step.text);
  return fmt::format("{} {}{}", text, states[static_cast<int>(step.state)], step.message);
}

std::vector<std::string> needed_by(const Step& step) {
  std::vector<std::string> names;
  const bool of_names = step.kind == Step::Kind::drop || step.kind == Step::Kind::rename ||
                        step.kind == Step::Kind::change;
  if (!of_names) return names;
  for (const char* name : {step.name, step.replaced, step.grown})
    if (*name != '\0') names.emplace_back(name);
  if (step.text_removed) names.emplace_back(step.text);
  return names;
}

bool is_in_doubt(const Step& step) {
  return step.state == Step::State::begun ||
         std::strstr(step.message, "it is not known whether") != nullptr;
}

void apply(const Step& step, Contents& contents) {
  if (step.kind == Step::Kind::store) contents[step.name] = step.seed;
  if (step.kind == Step::Kind::drop) contents.erase(step.name);
  if (step.kind == Step::Kind::rename) {
    contents[step.to] = contents[step.name];
    contents.erase(step.name);
  }
  if (step.kind == Step::Kind::change) {
    contents.erase(step.name);
    contents[step.to] = step.seed;
    contents[second(step)] = series(step.seed);
    if (*step.grown != '\0') contents[step.grown] = grown(step.grown_seed);
    if (*step.text != '\0') contents[step.text] = step.seed;
    if (step.text_removed) contents.erase(step.text);
  }
}

namespace {

Changes changes_of(const Step& step, const Database& database) {
  Changes changes;
  if (*step.name != '\0') changes.dropped.emplace_back(step.name);
  if (*step.replaced != '\0') {
    changes.dropped.emplace_back(step.replaced);
    changes.results.emplace_back(step.replaced, database.plan(step.replaced));
  }
  changes.results.emplace_back(step.to, Plan::input(relation_of(step.seed)));
  changes.results.emplace_back(second(step), Plan::input(relation_of(series(step.seed))));
  if (*step.grown != '\0') changes.appended.emplace_back(step.grown, growth_of(step.grown_seed));
  if (*step.text != '\0')
    changes.texts[step.text] = step.text_removed ? std::nullopt : std::optional(text_of(step.seed));
  return changes;
}

}  // namespace

void perform(const Step& step, Database& database) {
  switch (step.kind) {
    case Step::Kind::store: return database.store(step.name, relation_of(step.seed));
    case Step::Kind::drop: return database.drop(step.name);
    case Step::Kind::rename: return database.rename(step.name, step.to);
    case Step::Kind::vacuum: return (void)database.vacuum();
    case Step::Kind::checkpoint: return database.checkpoint();
    case Step::Kind::change: return (void)database.change(changes_of(step, database));
  }
}

Step& History::begin(const Step& step) {
  Step& begun = steps_[count_.load()];
  begun = step;
  begun.state = Step::State::begun;
  ++count_;
  return begun;
}

void* shared_memory(std::size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  TESSERA_INVARIANT(memory != MAP_FAILED, "{}", std::strerror(errno));
  return memory;
}
void give_back(void* memory, std::size_t bytes) { ::munmap(memory, bytes); }

Workload::Workload(char letter, std::uint64_t seed, Contents contents, bool only_small)
    : letter_(letter), only_small_(only_small), random_(seed) {
  for (const auto& [name, of] : contents)
    if (name[0] == letter) contents_[name] = of;
}

std::string Workload::new_name() { return fmt::format("{}{}", letter_, random_() % 1'000'000'000); }

std::string Workload::some_name(
    const std::function<bool(const std::string&, std::uint64_t)>& wanted) {
  std::vector<std::string> names;
  for (const auto& [name, seed] : contents_)
    if (wanted(name, seed)) names.push_back(name);
  return names.empty() ? "" : names[pick(names.size())];
}

std::string Workload::some_relation() {
  return some_name([](const std::string& name, std::uint64_t) { return !is_text(name); });
}

Step Workload::some_change() {
  Step step;
  step.kind = Step::Kind::change;
  step.seed = only_small_ ? small(random_()) : random_();
  copy(step.to, sizeof step.to, new_name());
  if (pick(3) == 0) copy(step.name, sizeof step.name, some_relation());
  const auto stays = [&](const std::string& name) { return !is_text(name) && name != step.name; };
  if (pick(3) == 0)
    copy(step.replaced, sizeof step.replaced,
         some_name([&](const std::string& name, std::uint64_t) { return stays(name); }));
  if (pick(3) != 0)
    copy(step.grown, sizeof step.grown, some_name([&](const std::string& name, std::uint64_t seed) {
           return stays(name) && is_series(seed) && (seed & growths) < growths;
         }));
  if (*step.grown != '\0') step.grown_seed = contents_.at(step.grown);
  const std::string text =
      some_name([](const std::string& name, std::uint64_t) { return is_text(name); });
  copy(step.text, sizeof step.text, text.empty() || pick(3) == 0 ? new_name() + ".text" : text);
  step.text_removed = step.text == text && pick(2) == 0;
  return step;
}

Step Workload::next() {
  Step step;
  const std::uint64_t choice = pick(100);
  const std::string relation = some_relation();
  if (choice < 6) {
    step.kind = Step::Kind::vacuum;
  } else if (choice < 10) {
    step.kind = Step::Kind::checkpoint;
  } else if (choice < 45 && contents_.size() < most_names) {
    return some_change();
  } else if (relation.empty() || (choice < 65 && contents_.size() < most_names)) {
    step.seed = only_small_ ? small(random_()) : random_();
    copy(step.name, sizeof step.name, new_name());
  } else {
    step.kind = choice < 88 ? Step::Kind::drop : Step::Kind::rename;
    copy(step.name, sizeof step.name, relation);
    copy(step.to, sizeof step.to, step.kind == Step::Kind::rename ? new_name() : "");
  }
  return step;
}

void Workload::run_one(Database& plain, Database& compressing, History& history) {
  Step& step = history.begin(next());
  disk_note(2 * static_cast<std::int64_t>(history.size()) - 1);
  try {
    perform(step, pick(2) == 0 ? plain : compressing);
    happened(step);
    disk_note(2 * static_cast<std::int64_t>(history.size()));
    step.state = Step::State::done;
  } catch (const Error& error) {
    copy(step.message, sizeof step.message, fmt::format("{}: {}", error.kind(), error.what()));
    step.state = Step::State::failed;
    if (!is_in_doubt(step)) return;
    // What it is about is not touched again.
    for (const std::string& name : needed_by(step)) contents_.erase(name);
    contents_.erase(step.text);
  }
}

}  // namespace tessera::crash
