#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace tessera::exec {

/// Messages between the processes of a cluster. A message is a header of numbers and pieces of
/// memory; between two processes messages arrive in the order they were sent. This is all that a
/// plug-in implements: it knows nothing of tiles, and links nothing of ours.
class Wire {
 public:
  using Header = std::vector<std::int64_t>;
  using Memory = std::span<std::byte>;

  /// Receives messages. Only one thread, the wire's own, calls it.
  class Handler {
   public:
    virtual ~Handler() = default;
    /// A message begins: where its pieces are to be written. `sizes` has as many as were sent.
    virtual std::vector<Memory> begun(int from, const Header& header,
                                      const std::vector<std::int64_t>& sizes) = 0;
    /// All pieces are written.
    virtual void ended(int from, const Header& header) = 0;
    virtual void broken(const std::string& message) = 0;
    /// About each second: time to look whether the others still live.
    virtual void second_passed() {}
  };

  virtual ~Wire() = default;  // says good-bye, and waits for everybody else to
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual int local_size() const = 0;  // processes on this machine
  /// What a message calls a process: "rank 2 (process 4711 on host b)".
  virtual std::string name(int rank) const { return "rank " + std::to_string(rank); }
  /// Seconds since the last sign of life of another process, of which it gives one each second
  /// whatever it computes, unless it is stopped or cannot be reached. Time in which this process
  /// was stopped itself does not count.
  virtual double silence(int rank) const {
    (void)rank;
    return 0;
  }
  /// For the wire's own thread, within a call of the handler that takes long: gives a sign of life.
  virtual void still_here() {}
  /// A process is lost. The destructor, which would wait for its good-bye, ends all processes
  /// instead.
  virtual void give_up(const std::string& why) { (void)why; }
  virtual void start(Handler& handler) = 0;
  /// Does not wait. The pieces stay as they are until `sent` is called, by the wire's thread. From
  /// the destructor's good-bye on, nothing is sent any more, and `sent` is dropped uncalled.
  virtual void send(int to, Header header, std::vector<std::span<const std::byte>> pieces,
                    std::function<void()> sent) = 0;
};

/// The one function of a plug-in, by its name. It waits so many seconds for the others to come, and
/// throws std::runtime_error, which names those who have not.
inline constexpr const char* open_wire_symbol = "tessera_open_wire";
using OpenWire = Wire* (*)(double patience);

}  // namespace tessera::exec
