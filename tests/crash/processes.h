#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace tessera::crash {

/// Runs a body in a process of its own, which ends without any farewell. Nothing of a database may
/// be open in this process when it is called.
pid_t start(const std::function<void()>& body);
/// Waits for a process to end; kills it when it takes too long. Whether it ended by itself and
/// well; `killed` says whether a SIGKILL ended it.
bool wait_for(pid_t process, std::chrono::seconds at_most, bool* killed = nullptr);
/// Whether that ended it, and it had not ended by itself.
bool kill_and_wait(pid_t process);
bool any_ended(const std::vector<pid_t>& processes);

/// In such a process, which ends badly if this does not hold.
void require(bool holds, const std::string& what);

/// How often a test is to be tried: RUNS in the environment, or else this many times.
int runs_or(int usual);
/// A seed for this test, printed if it fails: SEED in the environment, or else always the same.
std::uint64_t seed_or(std::uint64_t usual);

/// A folder for the databases of a test, gone after it. In memory where there is such a place: who
/// kills a process loses nothing of what the system holds.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace tessera::crash
