#pragma once

#include <future>
#include <list>
#include <mutex>
#include <string>
#include <unordered_map>

#include "kernel/form/compiled_form.h"

namespace tessera {

/// The code of the forms that were used last. Code that is running lives on when it is removed.
class FormCache {
 public:
  using Code = std::shared_ptr<const CompiledForm>;  // null: it cannot be compiled

  explicit FormCache(std::size_t most) : most_(most) {}

  /// Of what is not known, `compile` makes the code; others who ask meanwhile wait for it.
  template <class Compile>
  Code of(const std::string& structure, const Compile& compile) {
    std::promise<Code> made;
    {
      std::unique_lock lock(mutex_);
      if (const auto known = entries_.find(structure); known != entries_.end()) {
        order_.splice(order_.begin(), order_, known->second.place);
        const std::shared_future<Code> code = known->second.code;
        lock.unlock();
        return code.get();
      }
      order_.push_front(structure);
      entries_.emplace(structure, Entry{made.get_future().share(), order_.begin()});
      ++compilations_;
      if (entries_.size() > most_) {
        entries_.erase(order_.back());
        order_.pop_back();
      }
    }
    Code code;
    try {
      code = compile();
    } catch (...) {
    }
    if (code == nullptr) {
      const std::lock_guard lock(mutex_);
      ++failures_;
    }
    made.set_value(code);
    return code;
  }

  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return entries_.size();
  }
  std::int64_t compilations() const {
    const std::lock_guard lock(mutex_);
    return compilations_;
  }
  /// How many of them have made no code.
  std::int64_t failures() const {
    const std::lock_guard lock(mutex_);
    return failures_;
  }

 private:
  struct Entry {
    std::shared_future<Code> code;
    std::list<std::string>::iterator place;
  };
  mutable std::mutex mutex_;
  const std::size_t most_;
  std::int64_t compilations_ = 0, failures_ = 0;
  std::list<std::string> order_;  // the one that was used last is first
  std::unordered_map<std::string, Entry> entries_;
};

/// The one of the process.
FormCache& form_cache();

}  // namespace tessera
