#pragma once

#include <atomic>
#include <map>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "tessera/database.h"

namespace tessera::crash {

/// What a database should hold: the seed of what is stored under each name.
using Contents = std::map<std::string, std::uint64_t>;

/// What is stored for a seed: dense, sparse, of several columns, small or of several megabytes.
Relation relation_of(std::uint64_t seed);
std::uint64_t small(std::uint64_t seed);  // a seed of something small

/// A statement of a test, and how it went. It lies in memory that several processes share, so that
/// it tells what a process was doing that is no more.
struct Step {
  enum class Kind { store, drop, rename, vacuum, checkpoint } kind = Kind::store;
  char name[32] = {};
  char to[32] = {};
  std::uint64_t seed = 0;
  enum class State { begun, done, failed } state = State::begun;
  char message[400] = {};  // the error's kind and text
};
std::string to_string(const Step& step);
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
  const std::string& some_name();
  std::uint64_t pick(std::uint64_t below) { return random_() % below; }

  const char letter_;
  const bool only_small_;
  std::mt19937_64 random_;
  Contents contents_;
};

}  // namespace tessera::crash
