#include "exec/residence.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "exec/perform.h"

namespace tessera::exec {
Residence::Residence(const TaskGraph& graph, const std::vector<bool>& mine, ValueSizes sizes,
                     std::int64_t limit, AdmissionLimits admission)
    : graph_(graph),
      mine_(mine),
      sizes_(std::move(sizes)),
      limit_(limit),
      admission_(admission),
      where_(graph.values.size(), Where::nowhere),
      is_sent_(graph.values.size(), 0),
      has_copy_(graph.values.size(), 0),
      pins_(graph.values.size(), 0),
      readers_left_(graph.count_readers()),
      next_reader_(graph.values.size(), 0),
      stage_(graph.tasks.size(), Stage::waiting),
      missing_(graph.tasks.size(), 0),
      learnt_(graph.types.lists().size(), -1),
      room_(graph.tasks.size(), 0),
      is_leaving_(graph.values.size(), 0) {
  for (const Task& task : graph.tasks)
    if (task.kind == TaskKind::transfer && !mine[task.site]) is_sent_[task.output] = 1;
  for (const TaskGraph::Given& given : graph.given) {
    where_[given.value] = given.tiles != nullptr ? Where::memory : Where::disk;
    has_copy_[given.value] = 1;
  }
  skip_others();
}

/// Tasks of other processes are run by these.
void Residence::skip_others() {
  while (next_ < graph_.tasks.size() && !mine_[graph_.tasks[next_].site]) ++next_;
}

/// What a value takes, or will as far as is known by now.
std::int64_t Residence::expected(ValueId value) const {
  if (!sizes_.guessed[value]) return sizes_.bytes[value];
  const std::int64_t learnt = learnt_[graph_.values[value].types];
  return learnt >= 0 ? learnt : sizes_.bytes[value];
}

/// A sum is taken in place if nobody else reads the accumulator. A product that is made to be
/// folded takes room of its own meanwhile, and so does what a chain of kernels hands on.
std::int64_t Residence::room_for_output(const Task& task) const {
  // What goes to another process is sent from where it is.
  if (task.kind == TaskKind::transfer) return 0;
  const std::int64_t transient = graph_.transients[task.cost];
  const std::int64_t made = expected(task.output);
  if (!is_folding(task.kind)) return made + transient;
  const ValueId accumulator = graph_.inputs_of(task).front();
  const bool in_place = readers_left_[accumulator] == 1 && !sizes_.guessed[task.output] &&
                        sizes_.bytes[accumulator] == made && where_[accumulator] != Where::writing;
  return (in_place ? 0 : made) + (task.kind == TaskKind::multiply_add ? 0 : made) + transient;
}

std::int64_t Residence::need_of(TaskId id) const {
  const Task& task = graph_.tasks[id];
  std::int64_t bytes = room_for_output(task);
  const auto read = graph_.inputs_of(task);
  for (const ValueId input : std::set<ValueId>(read.begin(), read.end())) bytes += expected(input);
  return bytes;
}

std::int64_t Residence::known_need_of(TaskId id) const {
  const Task& task = graph_.tasks[id];
  std::int64_t bytes =
      sizes_.guessed[task.output] ? graph_.transients[task.cost] : room_for_output(task);
  const auto read = graph_.inputs_of(task);
  for (const ValueId input : std::set<ValueId>(read.begin(), read.end()))
    bytes += sizes_.known(input);
  return bytes;
}

std::int64_t Residence::next_reader(ValueId value) const {
  const auto readers = graph_.readers_of(value);
  const auto next = static_cast<std::size_t>(next_reader_[value]);
  return next < readers.size() ? readers[next] : std::numeric_limits<std::int64_t>::max();
}

bool Residence::may_leave(ValueId value) const {
  return where_[value] == Where::memory && pins_[value] == 0 && counts(value) && !is_dead(value);
}

/// Keeps the set of values that may leave as it should be. `could_leave`: it was in the set, under
/// its next reader of now.
void Residence::reconsider(ValueId value, bool could_leave) {
  const bool can = may_leave(value);
  if (can == could_leave) return;
  std::set<Leaving>& set = has_copy_[value] ? to_drop_ : to_write_;
  const Leaving entry{-next_reader(value), value};
  if (can)
    set.insert(entry);
  else
    set.erase(entry);
}

void Residence::pin(ValueId value) {
  const bool could = may_leave(value);
  ++pins_[value];
  reconsider(value, could);
}

void Residence::unpin(ValueId value) {
  const bool could = may_leave(value);
  --pins_[value];
  reconsider(value, could);
}

/// Orders values to go until so many bytes fewer are held.
void Residence::make_room(std::int64_t needed, bool may_write, Orders& orders) {
  const auto distance = [&](const std::set<Leaving>& set) {
    return set.empty() ? -1.0
                       : static_cast<double>(-set.begin()->first) - static_cast<double>(next_);
  };
  for (needed -= leaving_; needed > 0;) {
    const double drop = distance(to_drop_), write = may_write ? distance(to_write_) / 2 : -1;
    if (drop < 0 && write < 0) return;
    std::set<Leaving>& set = drop >= write ? to_drop_ : to_write_;
    const ValueId value = set.begin()->second;
    set.erase(set.begin());
    needed -= sizes_.bytes[value];
    if (has_copy_[value]) {
      where_[value] = Where::disk;
      orders.drop.push_back(value);
    } else {
      where_[value] = Where::writing;
      leaving_ += sizes_.bytes[value];
      ++writing_;
      orders.write.push_back(value);
    }
  }
}

void Residence::relieve(std::int64_t held, Orders& orders) {
  make_room(held + promised_ - limit_, true, orders);
}

TaskId Residence::admit(std::int64_t held, bool soon, Orders& orders) {
  if (all_admitted()) return -1;
  const auto id = static_cast<TaskId>(next_);
  const Task& task = graph_.tasks[next_];
  const auto inputs = graph_.inputs_of(task);
  for (const ValueId input : inputs) pin(input);
  const std::int64_t room = room_for_output(task);
  std::int64_t needed = room;
  std::vector<ValueId> to_read, to_come;
  for (const ValueId input : inputs) {
    const bool comes = where_[input] == Where::nowhere && is_sent_[input];
    if (!comes && where_[input] != Where::disk) continue;
    std::vector<ValueId>& list = comes ? to_come : to_read;
    if (std::find(list.begin(), list.end(), input) != list.end()) continue;
    list.push_back(input);
    sizes_.bytes[input] = expected(input);
    needed += sizes_.bytes[input];
  }
  if (held + promised_ + needed > limit_) {
    make_room(held + promised_ + needed - limit_, soon, orders);
    for (const ValueId input : inputs) unpin(input);
    return -1;
  }
  promised_ += needed;
  room_[next_] = room;
  for (const ValueId input : to_read) {
    where_[input] = Where::reading;
    ++reading_;
    orders.read.push_back(input);
  }
  for (const ValueId input : to_come) where_[input] = Where::coming;
  for (const ValueId input : inputs) {
    ++next_reader_[input];  // pinned: not in the set
    if (!is_in_memory(input)) ++missing_[next_];
  }
  if (missing_[next_] == 0) ++able_;
  stage_[next_] = Stage::admitted;
  ++running_;
  ++next_;
  skip_others();
  return id;
}

bool Residence::may_start(TaskId task, std::int64_t held, Orders& orders) {
  const std::int64_t lacking = held + started_room_ + room_[task] - limit_;
  if (lacking <= 0) return true;
  if (started_ > 0 || leaving_ > 0) return false;
  make_room(lacking, true, orders);
  return orders.drop.empty() && orders.write.empty();  // nothing can go: it runs alone
}

void Residence::started(TaskId task) {
  stage_[task] = Stage::started;
  started_room_ += room_[task];
  ++started_;
}

/// A value of a type whose sizes are guessed has turned out larger than those before it: others
/// will be too, those included for which tasks have been admitted.
void Residence::learn(TypesId types, std::int64_t bytes) {
  if (bytes <= learnt_[types]) return;
  learnt_[types] = bytes;
  for (; oldest_ < next_; ++oldest_)
    if (mine_[graph_.tasks[oldest_].site] && stage_[oldest_] != Stage::finished) break;
  for (std::size_t t = oldest_; t < next_; ++t) {
    const Task& task = graph_.tasks[t];
    if ((stage_[t] != Stage::admitted && stage_[t] != Stage::started) ||
        !sizes_.guessed[task.output] || graph_.values[task.output].types != types)
      continue;
    const std::int64_t more = room_for_output(task) - room_[t];
    room_[t] += more;
    promised_ += more;
    if (stage_[t] == Stage::started) started_room_ += more;
  }
}

void Residence::there(ValueId value, std::int64_t bytes, std::vector<TaskId>& able) {
  if (where_[value] == Where::reading) --reading_;
  if (where_[value] == Where::reading || where_[value] == Where::coming)
    promised_ -= sizes_.bytes[value];
  if (bytes >= 0) {
    const bool guessed = std::exchange(sizes_.guessed[value], 0);
    sizes_.bytes[value] = bytes;
    if (guessed) learn(graph_.values[value].types, bytes);
  }
  where_[value] = Where::memory;
  // All readers that were admitted and have not finished have counted it as missing.
  const auto readers = graph_.readers_of(value);
  for (std::int32_t i = next_reader_[value] - 1, left = pins_[value]; i >= 0 && left > 0; --i)
    if (stage_[readers[i]] == Stage::admitted) {
      if (--missing_[readers[i]] == 0) {
        ++able_;
        able.push_back(readers[i]);
      }
      --left;
    }
  reconsider(value, false);
}

bool Residence::written(ValueId value) {
  leaving_ -= sizes_.bytes[value];
  --writing_;
  has_copy_[value] = 1;
  const bool unwanted = pins_[value] == 0;
  where_[value] = unwanted ? Where::disk : Where::memory;
  return unwanted;
}

void Residence::finished(TaskId id) {
  const Task& task = graph_.tasks[id];
  if (stage_[id] == Stage::started) {
    started_room_ -= room_[id];
    --started_;
  }
  stage_[id] = Stage::finished;
  --running_;
  --able_;
  promised_ -= room_[id];
  for (const ValueId input : graph_.inputs_of(task)) {
    --readers_left_[input];
    unpin(input);
  }
}

void Residence::storing(ValueId value) {
  pin(value);
  ++storing_;
  if (readers_left_[value] > 1) return;
  is_leaving_[value] = 1;
  leaving_ += sizes_.bytes[value];
}

void Residence::stored(ValueId value) {
  if (is_leaving_[value]) leaving_ -= sizes_.bytes[value];
  is_leaving_[value] = 0;
  --storing_;
  --readers_left_[value];
  unpin(value);
}

}  // namespace tessera::exec
