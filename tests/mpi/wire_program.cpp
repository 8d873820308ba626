// What tests/python/test_cluster.py starts under mpirun, as two processes: messages alone, without
// plans. One process has said good-bye and is then asked for something; it answers only when the
// other one is gone.

#include <dlfcn.h>

#include <chrono>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <thread>

#include "base/plug_in.h"
#include "exec/wire.h"

using namespace tessera;
using exec::Wire;

namespace {

constexpr std::chrono::milliseconds a_while(500);

class LateAnswer final : public Wire::Handler {
 public:
  explicit LateAnswer(Wire& wire) : wire_(wire) {}
  std::vector<Wire::Memory> begun(int, const Wire::Header&,
                                  const std::vector<std::int64_t>&) override {
    return {};
  }
  void ended(int from, const Wire::Header& header) override {
    if (header.empty()) return;
    std::this_thread::sleep_for(a_while);
    wire_.send(from, {2}, {answer_}, [] {});
  }
  void broken(const std::string& message) override { throw std::runtime_error(message); }

 private:
  Wire& wire_;
  std::vector<std::byte> answer_ = std::vector<std::byte>(1'000'000);  // more than MPI buffers
};

}  // namespace

int main() {
  const PlugIn found = load_plug_in("libtessera_mpi.so", RTLD_NOW | RTLD_GLOBAL);
  if (found.library == nullptr) return 1;
  const auto open = reinterpret_cast<exec::OpenWire>(dlsym(found.library, exec::open_wire_symbol));
  std::unique_ptr<Wire> wire(open(60));
  LateAnswer handler(*wire);
  const bool asks = wire->rank() == 0;
  wire->start(handler);
  if (asks) {
    std::this_thread::sleep_for(a_while);  // until the other one has said good-bye
    wire->send(1, {1}, {}, [] {});
  }
  wire.reset();
  if (asks) std::cout << "done" << std::endl;
}
