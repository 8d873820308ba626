#pragma once

#include <functional>
#include <string>
#include <vector>

#include "exec/task_graph.h"

namespace tessera::exec {

/// What a transport tells the scheduler, from any thread.
class Receiver {
 public:
  virtual ~Receiver() = default;
  /// The tiles of a value of one of our sites are there: its readers may run.
  virtual void arrived(ValueId value, std::vector<Tile> tiles) = 0;
  /// Everybody runs the same plan of the same inputs: the run may end.
  virtual void agreed() = 0;
  /// Another process has failed, and says so itself: the run ends with a ClusterError.
  virtual void failed_elsewhere(const std::string& message) = 0;
  /// The others cannot be reached, or do something else: the run ends with an IoError.
  virtual void failed(const std::string& message) = 0;
};

/// Carries values between sites. Everybody knows the whole graph, so that a receiver knows what
/// will come: value, sender and types.
class Transport {
 public:
  virtual ~Transport() = default;
  /// Whether the run may end only when the receiver was told that all agree.
  virtual bool waits_for_agreement() const { return false; }
  /// Before the first send; from then on the receiver may be called.
  virtual void start(Receiver& receiver) = 0;
  /// Sends `value`, which is the output of a transfer, to its site. Called by any worker, by
  /// several at once; it does not wait for the receiver. `sent`, if there is one, is called when
  /// the tiles are needed no more, be it after the end of the run.
  virtual void send(ValueId value, const std::vector<Tile>& tiles, int from_site, int to_site,
                    std::function<void()> sent) = 0;
  /// This run has failed by itself: tells the others, who need not wait for what will not come.
  virtual void fail(const std::string& message) = 0;
  /// The run is over, well or not. When this returns, what was sent before a failure no longer
  /// needs this process, and the receiver is not called any more.
  virtual void finish() = 0;
  /// For a receiver that lets the transport's thread wait: others are told that we live.
  virtual void still_here() {}
};

}  // namespace tessera::exec
