#include "store/formats/source_process.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/check.h"
#include "tile/buffer.h"

namespace tessera::store {
namespace {

// What is said, to both sides: numbers, then bytes. The first number is how many bytes follow, or,
// if it is negative, that those that follow it are the text of an error of a kind.
constexpr std::int64_t io_error = -1, type_error = -2, value_error = -3, other_error = -4;

bool send_all(int socket, const void* data, std::size_t bytes) {
  const auto* from = static_cast<const std::byte*>(data);
  while (bytes > 0) {
    const ssize_t count = ::send(socket, from, bytes, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    from += count;
    bytes -= static_cast<std::size_t>(count);
  }
  return true;
}

bool receive_all(int socket, void* data, std::size_t bytes) {
  auto* into = static_cast<std::byte*>(data);
  while (bytes > 0) {
    const ssize_t count = ::recv(socket, into, bytes, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    into += count;
    bytes -= static_cast<std::size_t>(count);
  }
  return true;
}

void send_error(int socket, std::int64_t kind, const std::string& text) {
  const std::int64_t head[] = {kind, static_cast<std::int64_t>(text.size())};
  (void)(send_all(socket, head, sizeof head) && send_all(socket, text.data(), text.size()));
}

/// The life of the process that reads.
void serve(int socket, const std::function<std::unique_ptr<ArraySource>()>& open) {
  try {
    const std::unique_ptr<ArraySource> source = open();
    const StoredArray& array = source->array();
    std::vector<std::int64_t> hello{static_cast<std::int64_t>(source->what().size()),
                                    static_cast<std::int64_t>(array.element.number),
                                    array.element.swapped,
                                    array.column_major,
                                    source->bytes_in_file(),
                                    array.shape.rank()};
    hello.resize(6 + max_rank);
    std::copy(array.shape.begin(), array.shape.end(), hello.begin() + 6);
    if (!send_all(socket, hello.data(), hello.size() * 8)) return;
    if (!send_all(socket, source->what().data(), source->what().size())) return;
    const int rank = array.shape.rank();
    Box box{Shape(rank, 0), Shape(rank, 0)};
    char go = 0;
    while (receive_all(socket, &go, 1) &&
           receive_all(socket, box.begin.begin(), static_cast<std::size_t>(rank) * 8) &&
           receive_all(socket, box.end.begin(), static_cast<std::size_t>(rank) * 8)) {
      const std::int64_t bytes = box.shape().elements() * size_of(array.element);
      const auto buffer = allocate_buffer(static_cast<std::size_t>(bytes));
      source->read(box, buffer.get());
      if (!send_all(socket, &bytes, 8) ||
          !send_all(socket, buffer.get(), static_cast<std::size_t>(bytes)))
        return;
    }
  } catch (const IoError& error) {
    send_error(socket, io_error, error.what());
  } catch (const TypeError& error) {
    send_error(socket, type_error, error.what());
  } catch (const ValueError& error) {
    send_error(socket, value_error, error.what());
  } catch (const std::exception& error) {
    send_error(socket, other_error, error.what());
  }
}

}  // namespace

/// The end of the line in this process.
class SourceProcess::Channel {
 public:
  Channel(int socket, pid_t process, std::string file, std::function<void()> still_wanted)
      : socket_(socket),
        process_(process),
        file_(std::move(file)),
        still_wanted_(std::move(still_wanted)) {}
  ~Channel() {
    (void)::close(socket_);
    if (process_ <= 0) return;
    (void)::kill(process_, SIGKILL);
    (void)reap();
  }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  void say(const void* data, std::size_t bytes) {
    if (!send_all(socket_, data, bytes)) fail();
  }

  void hear(void* data, std::size_t bytes) {
    auto* into = static_cast<std::byte*>(data);
    while (bytes > 0) {
      constexpr int nap = 100;  // milliseconds
      pollfd wait{socket_, POLLIN, 0};
      if (::poll(&wait, 1, nap) <= 0) {
        still_wanted_();
        continue;
      }
      const ssize_t count = ::recv(socket_, into, bytes, MSG_DONTWAIT);
      if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (count <= 0) fail();
      into += count;
      bytes -= static_cast<std::size_t>(count);
    }
  }

  /// How many bytes follow; throws the error that was told instead.
  std::int64_t hear_length() {
    std::int64_t length = 0;
    hear(&length, sizeof length);
    if (length >= 0) return length;
    std::int64_t letters = 0;
    hear(&letters, sizeof letters);
    std::string text(static_cast<std::size_t>(std::clamp<std::int64_t>(letters, 0, 1 << 20)), ' ');
    hear(text.data(), text.size());
    if (length == type_error) throw TypeError(text);
    if (length == value_error) throw ValueError(text);
    if (length == io_error) throw IoError(text);
    throw IoError(fmt::format("{} cannot be read: {}", file_, text));
  }

 private:
  int reap() {
    int status = 0;
    while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = 0;
    return status;
  }

  [[noreturn]] void fail() {
    const int status = process_ > 0 ? reap() : 0;
    throw IoError(fmt::format(
        "{} cannot be read: the library that reads it crashed{}; the file is malformed", file_,
        WIFSIGNALED(status) ? fmt::format(" ({})", ::strsignal(WTERMSIG(status))) : ""));
  }

  const int socket_;
  pid_t process_;
  const std::string file_;
  const std::function<void()> still_wanted_;
};

SourceProcess::SourceProcess(std::unique_ptr<Channel> channel, StoredArray array,
                             const std::string& what, std::int64_t bytes_in_file)
    : ArraySource(std::move(array), what, Access::one_at_a_time),
      channel_(std::move(channel)),
      bytes_in_file_(bytes_in_file) {}

SourceProcess::~SourceProcess() = default;

std::unique_ptr<SourceProcess> SourceProcess::start(
    const std::function<std::unique_ptr<ArraySource>()>& open, const std::string& file,
    std::function<void()> still_wanted, std::shared_ptr<const void> until_then) {
  int sockets[2];
  TESSERA_REQUIRE(IoError, ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) == 0,
                  "cannot read {}: cannot create a socket: {}", file, std::strerror(errno));
  const pid_t process = ::fork();
  if (process == 0) {
    // It ends when nobody listens any more, whatever its library does.
    (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)::close(sockets[0]);
    for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGINT})
      (void)std::signal(signal, SIG_DFL);
    serve(sockets[1], open);
    ::_exit(0);  // nothing of the other process is ended or written
  }
  until_then.reset();
  (void)::close(sockets[1]);
  if (process < 0) (void)::close(sockets[0]);
  TESSERA_REQUIRE(IoError, process > 0, "cannot read {}: cannot start a process: {}", file,
                  std::strerror(errno));
  auto channel = std::make_unique<Channel>(sockets[0], process, file, std::move(still_wanted));
  const std::int64_t letters = channel->hear_length();
  std::int64_t hello[5 + max_rank];
  channel->hear(hello, sizeof hello);
  std::string what(static_cast<std::size_t>(letters), ' ');
  channel->hear(what.data(), what.size());
  const bool sound = hello[0] >= 0 && hello[0] <= static_cast<std::int64_t>(Number::f64) &&
                     hello[4] >= 0 && hello[4] <= max_rank;
  TESSERA_REQUIRE(IoError, sound, "{} cannot be read: the library that reads it crashed", file);
  StoredArray array{{static_cast<Number>(hello[0]), hello[1] != 0},
                    Shape(hello + 5, hello + 5 + hello[4]),
                    hello[2] != 0};
  return std::unique_ptr<SourceProcess>(
      new SourceProcess(std::move(channel), std::move(array), what, hello[3]));
}

void SourceProcess::read(const Box& box, std::byte* into) {
  const std::int64_t bytes = box.shape().elements() * size_of(array().element);
  if (bytes == 0) return;
  const char go = 1;
  channel_->say(&go, 1);
  channel_->say(box.begin.begin(), static_cast<std::size_t>(box.begin.rank()) * 8);
  channel_->say(box.end.begin(), static_cast<std::size_t>(box.end.rank()) * 8);
  TESSERA_REQUIRE(IoError, channel_->hear_length() == bytes,
                  "{} cannot be read: the library that reads it crashed", what());
  channel_->hear(into, static_cast<std::size_t>(bytes));
}

}  // namespace tessera::store
