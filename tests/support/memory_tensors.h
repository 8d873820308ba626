#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "store/formats/format.h"

namespace tessera {

/// A tensor, or relation, that a reader of a file has handed over.
struct Received {
  store::TensorHead head;
  std::map<Key, Tile> tiles;
  std::optional<Shape> shape = {};
  bool ended = false;

  Tile whole() const;  // dense
};

/// Takes what a reader finds into memory, and holds the reader to what it must do: keys are there
/// once, tiles have the types that they should, whole tensors have all of them. InternalError if
/// not.
class MemoryReceiver : public store::Receiver {
 public:
  int begin(const store::TensorHead& head) override;
  void add(int tensor, const Key& key, const Tile& tile) override;
  void end(int tensor, const std::optional<Shape>& shape) override;
  void advance(std::int64_t bytes, std::int64_t rows) override;

  /// After the reader has returned.
  const Received& tensor(const std::string& suffix = "") const;
  const std::vector<Received>& tensors() const { return tensors_; }
  std::size_t count() const { return tensors_.size(); }
  std::int64_t bytes() const { return bytes_; }
  std::int64_t rows() const { return rows_; }

  std::int64_t interrupt_after_rows = -1;  // -1: never

 private:
  std::mutex mutex_;
  std::vector<Received> tensors_;
  std::int64_t bytes_ = 0, rows_ = 0;
};

/// A tensor in memory as the writers of files see it.
class MemoryReader : public store::TensorReader {
 public:
  MemoryReader(std::string name, Relation relation, std::optional<Shape> shape)
      : name_(std::move(name)), relation_(std::move(relation)), shape_(shape) {}
  /// A tensor cut into tiles.
  static MemoryReader of(const Tile& tensor, const Shape& tile,
                         Presence presence = Presence::continuous) {
    return {"x", Relation::from_tensor(tensor, tile, presence), tensor.shape()};
  }
  const std::string& name() const override { return name_; }
  const RelationType& type() const override { return relation_.type(); }
  const std::optional<Shape>& shape() const override { return shape_; }
  std::vector<Key> keys() const override;
  Tile read(const Key& key) const override { return relation_.at(key); }
  void advance(std::int64_t, std::int64_t) override {}
  void finish() override {}

 private:
  std::string name_;
  Relation relation_;
  std::optional<Shape> shape_;
};

}  // namespace tessera
