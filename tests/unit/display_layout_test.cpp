#include <gtest/gtest.h>

#include "display/display_width.h"
#include "display/table_layout.h"

namespace tessera::display {
namespace {

class DisplayLayout : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { use_utf8(); }
};

TEST_F(DisplayLayout, WidthsAreThoseOfATerminal) {
  EXPECT_EQ(display_width("abc"), 3);
  EXPECT_EQ(display_width("äöü…"), 4);
  EXPECT_EQ(display_width("漢字"), 4);
  EXPECT_EQ(display_width("e\u0301"), 1);  // an accent that stands on the letter before it
  EXPECT_EQ(display_width("\xff"), 1);
}

TEST_F(DisplayLayout, WhatIsCutEndsWithAMarkAndIsNeverTooWide) {
  EXPECT_EQ(cut_to("abcdef", 6), "abcdef");
  EXPECT_EQ(cut_to("abcdef", 5), "abcd…");
  EXPECT_EQ(cut_to("漢字漢", 4), "漢…");
  EXPECT_EQ(cut_to("漢字", 3), "漢…");
  EXPECT_EQ(cut_to("abc", 1), "…");
  EXPECT_EQ(cut_to("abc", 0), "");
  EXPECT_EQ(cut_to("", 0), "");
  for (int width = 0; width < 12; ++width)
    EXPECT_LE(display_width(cut_to("aä漢e\u0301字xyz", width)), width);
}

TEST_F(DisplayLayout, WhatATerminalWouldActOnIsEscaped) {
  EXPECT_EQ(printable("a\nb\tc"), "a\\nb\\tc");
  EXPECT_EQ(printable("\x1b[2J\x7f"), "\\x1b[2J\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"), "\\x9b");  // the same as ESC [
  EXPECT_EQ(printable("a\xff"), "a\uFFFD");
  EXPECT_EQ(printable("ü…漢"), "ü…漢");
}

TextTable table_of(int columns, int width) {
  TextTable table;
  for (int c = 0; c < columns; ++c) table.columns.push_back({"c" + std::to_string(c)});
  table.rows.emplace_back(columns, std::string(static_cast<std::size_t>(width), 'x'));
  return table;
}

TEST_F(DisplayLayout, TheWidestColumnsGiveFirst) {
  TextTable table = table_of(3, 10);
  table.rows[0] = {"1", std::string(50, 'x'), std::string(20, 'y')};
  EXPECT_EQ(fitted_widths(table, 0), (std::vector<int>{2, 50, 20}));
  EXPECT_EQ(fitted_widths(table, 100), (std::vector<int>{2, 50, 20}));
  EXPECT_EQ(fitted_widths(table, 70), (std::vector<int>{2, 40, 20}));
  const std::vector<int> both = fitted_widths(table, 40);
  EXPECT_EQ(both[0], 2);
  EXPECT_NEAR(both[1], both[2], 1);
}

TEST_F(DisplayLayout, NoLineIsWiderThanTheTerminal) {
  for (int columns = 1; columns < 40; columns += 3)
    for (int width = 12; width < 130; width += 7) {
      const std::string text = drawn(table_of(columns, 30), width, false);
      for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
        ASSERT_LE(display_width(std::string_view(text).substr(at, text.find('\n', at) - at)), width)
            << columns << " columns\n"
            << text;
    }
}

TEST_F(DisplayLayout, ColumnsThatDoNotFitAreLeftOutAndThatIsSeen) {
  const std::string text = drawn(table_of(20, 30), 40, false);
  EXPECT_NE(text.find("│ …\n"), std::string::npos);
  EXPECT_LT(fitted_widths(table_of(20, 30), 40).size(), 20u);
}

TEST_F(DisplayLayout, NumbersStandAtTheRight) {
  TextTable table{{{"n", Align::right}, {"word"}}, {{"1", "a"}, {"100", "漢"}}};
  EXPECT_EQ(drawn(table, 0, false),
            "   n │ word\n"
            "─────┼──────\n"
            "   1 │ a\n"
            " 100 │ 漢\n");
  EXPECT_NE(drawn(table, 0, true).find("\x1b[1m"), std::string::npos);
}

}  // namespace
}  // namespace tessera::display
