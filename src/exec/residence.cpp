#include "exec/residence.h"

#include <algorithm>
#include <limits>

#include "exec/perform.h"

namespace tessera::exec {
namespace {

/// How full a sparse tile is taken to be as long as nobody knows.
constexpr std::int64_t guessed_entries = 16;  // one of so many elements

std::int64_t bytes_of(const std::vector<TileType>& types) {
  double bytes = 0;  // of a hypersparse tile they may exceed any integer
  for (const TileType& type : types) {
    double elements = 1;
    for (const std::int64_t extent : type.shape) elements *= static_cast<double>(extent);
    const auto size = static_cast<double>(size_of(type.dtype));
    bytes += type.is_sparse() ? std::min(elements / guessed_entries * (8 + size), 64e6)
                              : elements * size;
  }
  return static_cast<std::int64_t>(std::min(bytes, 9e18));
}

}  // namespace

std::vector<std::int64_t> predicted_bytes(const TaskGraph& graph) {
  std::vector<std::int64_t> by_types;
  for (const std::vector<TileType>& types : graph.types.lists())
    by_types.push_back(bytes_of(types));
  std::vector<std::int64_t> bytes(graph.values.size(), 0);
  for (std::size_t v = 0; v < bytes.size(); ++v)
    if (graph.values[v].types != unknown_types) bytes[v] = by_types[graph.values[v].types];
  for (const TaskGraph::Given& given : graph.given) {
    if (given.tiles != nullptr) {
      bytes[given.value] = 0;
      continue;
    }
    const op::Input& input = *given.input;
    const auto& types = graph.types[graph.values[given.value].types];
    const bool sparse = std::any_of(types.begin(), types.end(),
                                    [](const TileType& type) { return type.is_sparse(); });
    if (sparse && input.facts.bytes > 0 && input.listing && !input.listing->tuples.empty())
      bytes[given.value] =
          input.facts.bytes / static_cast<std::int64_t>(input.listing->tuples.size()) + 1;
  }
  return bytes;
}

Residence::Residence(const TaskGraph& graph, const std::vector<bool>& mine,
                     std::vector<std::int64_t> bytes, std::int64_t limit)
    : graph_(graph),
      mine_(mine),
      bytes_(std::move(bytes)),
      limit_(limit),
      where_(graph.values.size(), Where::nowhere),
      is_sent_(graph.values.size(), 0),
      has_copy_(graph.values.size(), 0),
      pins_(graph.values.size(), 0),
      readers_left_(graph.values.size(), 0),
      next_reader_(graph.values.size(), 0),
      is_finished_(graph.tasks.size(), 0),
      room_(graph.tasks.size(), 0),
      is_leaving_(graph.values.size(), 0) {
  for (std::size_t v = 0; v < graph.values.size(); ++v)
    readers_left_[v] = static_cast<std::int32_t>(graph.readers_of(static_cast<ValueId>(v)).size());
  for (const TaskGraph::Output& output : graph.outputs) ++readers_left_[output.value];
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

/// A sum is taken in place if nobody else reads the accumulator. A product that is made to be
/// folded takes room of its own meanwhile.
std::int64_t Residence::room_for_output(const Task& task) const {
  // What goes to another process is sent from where it is.
  if (task.kind == TaskKind::transfer) return 0;
  const std::int64_t made = bytes_[task.output];
  if (!is_folding(task.kind)) return made;
  const ValueId accumulator = graph_.inputs_of(task).front();
  const bool in_place = readers_left_[accumulator] == 1 && bytes_[accumulator] == made;
  return (in_place ? 0 : made) + (task.kind == TaskKind::multiply_add ? 0 : made);
}

std::int64_t Residence::need_of(TaskId id) const {
  const Task& task = graph_.tasks[id];
  std::int64_t bytes = room_for_output(task);
  const auto inputs = graph_.inputs_of(task);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (std::find(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(i), inputs[i]) ==
        inputs.begin() + static_cast<std::ptrdiff_t>(i))
      bytes += bytes_[inputs[i]];
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
    needed -= bytes_[value];
    if (has_copy_[value]) {
      where_[value] = Where::disk;
      orders.drop.push_back(value);
    } else {
      where_[value] = Where::writing;
      leaving_ += bytes_[value];
      ++under_way_;
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
    needed += bytes_[input];
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
    ++under_way_;
    orders.read.push_back(input);
  }
  for (const ValueId input : to_come) where_[input] = Where::coming;
  for (const ValueId input : inputs) ++next_reader_[input];  // pinned: not in the set
  ++running_;
  ++next_;
  skip_others();
  return id;
}

int Residence::missing(TaskId task) const {
  int count = 0;
  for (const ValueId input : graph_.inputs_of(graph_.tasks[task]))
    if (!is_in_memory(input)) ++count;
  return count;
}

void Residence::there(ValueId value, std::int64_t bytes, std::vector<TaskId>& waiting) {
  if (where_[value] == Where::reading) --under_way_;
  if (where_[value] == Where::reading || where_[value] == Where::coming) promised_ -= bytes_[value];
  if (bytes >= 0) bytes_[value] = bytes;
  where_[value] = Where::memory;
  // All readers that were admitted and have not finished have counted it as missing.
  const auto readers = graph_.readers_of(value);
  for (std::int32_t i = next_reader_[value] - 1, left = pins_[value]; i >= 0 && left > 0; --i)
    if (!is_finished_[readers[i]]) {
      waiting.push_back(readers[i]);
      --left;
    }
  reconsider(value, false);
}

bool Residence::written(ValueId value) {
  leaving_ -= bytes_[value];
  --under_way_;
  has_copy_[value] = 1;
  const bool unwanted = pins_[value] == 0;
  where_[value] = unwanted ? Where::disk : Where::memory;
  return unwanted;
}

void Residence::finished(TaskId id) {
  const Task& task = graph_.tasks[id];
  is_finished_[id] = 1;
  --running_;
  promised_ -= room_[id];
  for (const ValueId input : graph_.inputs_of(task)) {
    --readers_left_[input];
    unpin(input);
  }
}

void Residence::storing(ValueId value) {
  pin(value);
  ++under_way_;
  if (readers_left_[value] > 1) return;
  is_leaving_[value] = 1;
  leaving_ += bytes_[value];
}

void Residence::stored(ValueId value) {
  if (is_leaving_[value]) leaving_ -= bytes_[value];
  is_leaving_[value] = 0;
  --under_way_;
  --readers_left_[value];
  unpin(value);
}

}  // namespace tessera::exec
