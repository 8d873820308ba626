#include "crash/workload.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstring>

#include "base/check.h"
#include "crash/disk.h"

namespace tessera::crash {
namespace {

constexpr std::size_t most_names = 10;
constexpr std::uint64_t small_mark = std::uint64_t{1} << 62;

void copy(char* into, std::size_t room, const std::string& text) {
  std::snprintf(into, room, "%s", text.c_str());
}

}  // namespace

std::uint64_t small(std::uint64_t seed) { return seed | small_mark; }

Relation relation_of(std::uint64_t seed) {
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

std::string to_string(const Step& step) {
  const char* const words[] = {"store", "drop", "rename", "vacuum", "checkpoint"};
  const char* const states[] = {"begun", "done", "failed: "};
  return fmt::format("{} {} {} ({}) {}{}", words[static_cast<int>(step.kind)], step.name, step.to,
                     step.seed, states[static_cast<int>(step.state)], step.message);
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
}

void perform(const Step& step, Database& database) {
  switch (step.kind) {
    case Step::Kind::store: return database.store(step.name, relation_of(step.seed));
    case Step::Kind::drop: return database.drop(step.name);
    case Step::Kind::rename: return database.rename(step.name, step.to);
    case Step::Kind::vacuum: return (void)database.vacuum();
    case Step::Kind::checkpoint: return database.checkpoint();
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

const std::string& Workload::some_name() {
  return std::next(contents_.begin(), static_cast<std::ptrdiff_t>(pick(contents_.size())))->first;
}

Step Workload::next() {
  Step step;
  const std::uint64_t choice = pick(100);
  if (choice < 6) {
    step.kind = Step::Kind::vacuum;
  } else if (choice < 10) {
    step.kind = Step::Kind::checkpoint;
  } else if (contents_.empty() || (choice < 60 && contents_.size() < most_names)) {
    step.seed = only_small_ ? small(random_()) : random_();
    copy(step.name, sizeof step.name, new_name());
  } else {
    step.kind = choice < 85 ? Step::Kind::drop : Step::Kind::rename;
    copy(step.name, sizeof step.name, some_name());
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
    if (is_in_doubt(step)) contents_.erase(step.name);  // and is not touched again
  }
}

}  // namespace tessera::crash
