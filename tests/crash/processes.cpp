#include "crash/processes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <thread>

namespace tessera::crash {

namespace fs = std::filesystem;

pid_t start(const std::function<void()>& body) {
  std::cout.flush();
  const pid_t process = ::fork();
  if (process != 0) {
    EXPECT_GT(process, 0);
    return process;
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // none stays behind a test that was stopped
  int status = 0;
  try {
    body();
  } catch (const std::exception& error) {
    std::cerr << "in a process of a test: " << error.what() << std::endl;
    status = 1;
  }
  ::_exit(status);
}

bool wait_for(pid_t process, std::chrono::seconds at_most, bool* killed) {
  const auto until = std::chrono::steady_clock::now() + at_most;
  int status = 0;
  while (::waitpid(process, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > until) {
      ADD_FAILURE() << "a process has not ended after " << at_most.count() << " s";
      kill_and_wait(process);
      return false;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
  if (killed != nullptr) *killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool kill_and_wait(pid_t process) {
  int status = 0;
  ::kill(process, SIGKILL);
  ::waitpid(process, &status, 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

bool any_ended(const std::vector<pid_t>& processes) {
  for (const pid_t process : processes) {
    siginfo_t said{};
    if (::waitid(P_PID, static_cast<id_t>(process), &said, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        said.si_pid != 0)
      return true;
  }
  return false;
}

void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

int runs_or(int usual) {
  const char* said = std::getenv("RUNS");
  return said != nullptr && *said != '\0' ? std::atoi(said) : usual;
}

std::uint64_t seed_or(std::uint64_t usual) {
  const char* said = std::getenv("SEED");
  return said != nullptr && *said != '\0' ? std::strtoull(said, nullptr, 10) : usual;
}

Folder::Folder() {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  std::error_code error;
  const fs::path base = fs::is_directory("/dev/shm", error) && ::access("/dev/shm", W_OK) == 0
                            ? fs::path("/dev/shm")
                            : fs::temp_directory_path();
  std::string name = fmt::format("tessera-{}-{}", ::getpid(), test->name());
  std::replace(name.begin(), name.end(), '/', '-');  // of a test with a parameter
  path_ = base / name;
  fs::remove_all(path_);
  fs::create_directories(path_);
}
Folder::~Folder() {
  std::error_code error;
  fs::remove_all(path_, error);
}

}  // namespace tessera::crash
