#include "session/statement_texts.h"

#include "store/string_block.h"

namespace tessera::session {

/// The code is a hash: two texts have the same one in about one of 2^62 cases, and are refused
/// where they meet.
std::vector<std::int64_t> StatementTexts::codes(const std::vector<std::string>& texts) {
  std::vector<std::int64_t> codes;
  codes.reserve(texts.size());
  for (const std::string& text : texts) {
    codes.push_back(code_of(text));
    const auto& [known, is_new] = known_.emplace(codes.back(), text);
    store::require_same_string(known->second, text);
  }
  return codes;
}

std::vector<std::string> StatementTexts::texts(const std::vector<std::int64_t>& codes) {
  std::vector<std::int64_t> unknown;
  for (const std::int64_t code : codes)
    if (!known_.contains(code)) unknown.push_back(code);
  if (!unknown.empty()) {
    const std::vector<std::string> found = snapshot_.strings(unknown);
    for (std::size_t i = 0; i < unknown.size(); ++i) known_.emplace(unknown[i], found[i]);
  }
  std::vector<std::string> texts;
  texts.reserve(codes.size());
  for (const std::int64_t code : codes) texts.push_back(known_.at(code));
  return texts;
}

}  // namespace tessera::session
