#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tessera/tessera.h"

namespace tessera {

/// Whether two tiles have the same dtype, shape and elements (NaN equals NaN), in any layout.
inline ::testing::AssertionResult tiles_equal(const Tile& actual, const Tile& expected) {
  const auto differ = [&](const std::string& how) {
    return ::testing::AssertionFailure()
           << how << "\nactual " << to_string(actual.type()) << "\n"
           << to_string(actual) << "\nexpected " << to_string(expected.type()) << "\n"
           << to_string(expected);
  };
  if (actual.dtype() != expected.dtype() || actual.shape() != expected.shape())
    return differ("the types differ");
  Index index(actual.shape().size(), 0);
  for (std::int64_t i = 0; i < actual.elements(); ++i) {
    const bool same =
        actual.dtype() == DType::i64
            ? actual.at<std::int64_t>(index) == expected.at<std::int64_t>(index)
            : actual.at<double>(index) == expected.at<double>(index) ||
                  (std::isnan(actual.at<double>(index)) && std::isnan(expected.at<double>(index)));
    if (!same) return differ("they differ at " + to_string(index));
    for (std::size_t d = index.size(); d-- > 0;) {
      if (++index[d] < actual.shape()[d]) break;
      index[d] = 0;
    }
  }
  return ::testing::AssertionSuccess();
}

/// Whether two relations have the same tiles at the same keys, in any layout.
inline ::testing::AssertionResult tuples_equal(const Relation& actual, const Relation& expected) {
  if (actual.size() != expected.size())
    return ::testing::AssertionFailure()
           << actual.size() << " tuples instead of " << expected.size();
  for (std::size_t i = 0; i < actual.tuples().size(); ++i) {
    const Tuple& a = actual.tuples()[i];
    const Tuple& e = expected.tuples()[i];
    if (a.key != e.key)
      return ::testing::AssertionFailure()
             << "key " << to_string(a.key) << " instead of " << to_string(e.key);
    for (std::size_t c = 0; c < a.tiles.size(); ++c)
      if (auto same = tiles_equal(a.tiles[c], e.tiles[c]); !same)
        return same << "\nat key " << to_string(a.key);
  }
  return ::testing::AssertionSuccess();
}

inline ::testing::AssertionResult types_equal(const RelationType& actual,
                                              const RelationType& expected) {
  if (to_string(actual) == to_string(expected)) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "the types differ: actual " << to_string(actual)
                                       << ", expected " << to_string(expected);
}

/// Whether the tiles of zeros have the same shapes that two sparse relations leave out.
inline ::testing::AssertionResult absent_tiles_equal(const Relation& actual,
                                                     const Relation& expected) {
  constexpr std::int64_t most = 100'000;
  const Key& frontier = expected.frontier();
  Key key(frontier.size(), 0);
  for (std::int64_t i = std::min(most, count_below(frontier)); i > 0; --i) {
    if (expected.find(key) == nullptr)
      for (std::size_t c = 0; c < expected.type().columns.size(); ++c) {
        const Shape a = actual.absent_types()(key)[c].shape;
        const Shape e = expected.absent_types()(key)[c].shape;
        if (a != e)
          return ::testing::AssertionFailure()
                 << "the absent tile at " << to_string(key) << ", column " << c << ", is of "
                 << to_string(a) << " instead of " << to_string(e);
      }
    for (std::size_t d = key.size(); d-- > 0;) {
      if (++key[d] < frontier[d]) break;
      key[d] = 0;
    }
  }
  return ::testing::AssertionSuccess();
}

/// Whether two relations have the same type and the same tiles at the same keys, and would have
/// the same where they are sparse and have none.
inline ::testing::AssertionResult relations_equal(const Relation& actual,
                                                  const Relation& expected) {
  const auto same = types_equal(actual.type(), expected.type());
  if (!same) return same;
  const auto equal = tuples_equal(actual, expected);
  if (!equal || expected.type().presence != Presence::sparse) return equal;
  return absent_tiles_equal(actual, expected);
}

/// The elements of a tile in row-major order, which must be of this dtype.
template <class T>
std::vector<T> elements(const Tile& tile) {
  const Tile dense = tile.contiguous();
  EXPECT_EQ(dense.dtype(), dtype_of<T>) << to_string(tile.type());
  return std::vector<T>(dense.data<T>(), dense.data<T>() + dense.elements());
}

/// The message of the error of this kind that it ends with.
template <class Kind, class Work>
std::string message_of(const Work& work) {
  try {
    work();
  } catch (const Kind& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another error: " << error.what();
    return {};
  }
  ADD_FAILURE() << "no error";
  return {};
}

}  // namespace tessera

#define EXPECT_TILE_EQ(actual, expected) EXPECT_TRUE(::tessera::tiles_equal(actual, expected))

/// The statement throws an error of this kind whose message contains the text.
#define EXPECT_ERROR(Kind, statement, text)                            \
  try {                                                                \
    (void)(statement);                                                 \
    ADD_FAILURE() << #statement << " did not throw " << #Kind;         \
  } catch (const Kind& error) {                                        \
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) \
        << "the message is: " << error.what();                         \
  }
