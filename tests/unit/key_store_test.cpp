#include "exec/key_store.h"

#include <gtest/gtest.h>

#include "support/expectations.h"

namespace tessera::exec {

TEST(KeyStore, KeepsKeysOfAnyLength) {
  KeyStore keys;
  std::vector<KeyId> ids;
  for (int i = 0; i < 5000; ++i) ids.push_back(keys.add(Key(static_cast<std::size_t>(i % 4), i)));
  for (int i = 0; i < 5000; ++i)
    EXPECT_EQ(keys[ids[static_cast<std::size_t>(i)]], Key(static_cast<std::size_t>(i % 4), i));
}

TEST(KeyStore, RefusesMoreThanItMayHold) {
  KeyStore keys(32'000);  // bytes: 2,048 words fit, 4,096 do not
  const auto add = [&](int count) {
    for (int i = 0; i < count; ++i) (void)keys.add({i, i, i});
    return 0;
  };
  EXPECT_EQ(add(500), 0);
  EXPECT_ERROR(OutOfMemory, add(1000), "use larger tiles, or add a condition to the join");
}

}  // namespace tessera::exec
