#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "tessera/database.h"

namespace tessera::crash {

/// What a database should hold: the seed of what is stored under each name, relations and texts.
using Contents = std::map<std::string, std::uint64_t>;
bool is_text(const std::string& name);  // or a relation

/// What is stored for a seed: dense, sparse, of several columns, small or of several megabytes.
Relation relation_of(std::uint64_t seed);
std::uint64_t small(std::uint64_t seed);  // a seed of something small
std::string text_of(std::uint64_t seed);
/// A seed of something to which tuples are appended, one by one: the seed after it, of one tuple
/// more, and that tuple.
std::uint64_t series(std::uint64_t seed);
bool is_series(std::uint64_t seed);
inline std::uint64_t grown(std::uint64_t seed) { return seed + 1; }
Relation growth_of(std::uint64_t seed);

/// What one sees of a database at a glance: names, and how many tuples or what text they stand for.
using Glance = std::map<std::string, std::string>;
Glance glance_at(const std::vector<StoredInfo>& relations,
                 const std::map<std::string, std::string>& texts);
bool fits(const Glance& glance, const Contents& contents);

/// A statement of a test, and how it went. It lies in memory that several processes share, so that
/// it tells what a process was doing that is no more.
struct Step {
  enum class Kind { store, drop, rename, vacuum, checkpoint, change } kind = Kind::store;
  char name[32] = {};
  char to[32] = {};
  std::uint64_t seed = 0;
  // A change drops `name`, stores two results, under `to` and `second`, and may besides
  char replaced[32] = {};        // store something again as it was, by a plan that reads it,
  char grown[32] = {};           // append to something, whose seed is
  std::uint64_t grown_seed = 0;  // this one,
  char text[32] = {};            // and set a text, or remove it.
  bool text_removed = false;
  enum class State { begun, done, failed } state = State::begun;
  char message[400] = {};  // the error's kind and text
};
std::string to_string(const Step& step);
std::string second(const Step& step);
/// What a change may not be without, of what is there.
std::vector<std::string> needed_by(const Step& step);
/// Whether it may have happened or not: it was not acknowledged, or has failed and says so.
bool is_in_doubt(const Step& step);
void apply(const Step& step, Contents& contents);
void perform(const Step& step, Database& database);  // as the error says if it fails

/// The statements of one thread of a process, in memory that is shared with the one that made it.
class History {
 public:
  static constexpr std::size_t most = 2000;
  Step& begin(const Step& step);  // the next one; it counts from here on
  std::size_t size() const { return count_.load(); }
  bool full() const { return size() == most; }
  const Step& operator[](std::size_t i) const { return steps_[i]; }
  void clear() { count_ = 0; }

 private:
  std::atomic<std::size_t> count_ = 0;
  Step steps_[most];
};

void* shared_memory(std::size_t bytes);
void give_back(void* memory, std::size_t bytes);
/// An object in memory that this process shares with those that it makes.
template <class T>
class Shared {
 public:
  Shared() : object_(new (shared_memory(sizeof(T))) T) {}
  ~Shared() {
    object_->~T();
    give_back(object_, sizeof(T));
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  T& operator*() const { return *object_; }
  T* operator->() const { return object_; }

 private:
  T* object_;
};

/// Chooses statements at random: names begin with a letter that is its own.
class Workload {
 public:
  Workload(char letter, std::uint64_t seed, Contents contents = {}, bool only_small = false);
  Step next();  // of what is there
  void happened(const Step& step) { apply(step, contents_); }
  /// Begins, performs and notes one statement.
  void run_one(Database& plain, Database& compressing, History& history);

 private:
  std::string new_name();
  /// Some of those that are as wanted; empty if there is none.
  std::string some_name(const std::function<bool(const std::string&, std::uint64_t)>& wanted);
  std::string some_relation();
  Step some_change();
  std::uint64_t pick(std::uint64_t below) { return random_() % below; }

  const char letter_;
  const bool only_small_;
  std::mt19937_64 random_;
  Contents contents_;
};

}  // namespace tessera::crash
