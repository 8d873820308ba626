// Mutates files of a format and reads them:
//   format_fuzz [--format NAME] [--seconds N] [--seed S]
// A file is read, or refused with an error that is not our own bug; in either case in the same way
// whatever memory and threads there are. What is not so is printed, with the file.

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <string_view>

#include "fuzz/format_seeds.h"
#include "support/command_line.h"
#include "support/memory_tensors.h"

namespace tessera {
namespace {

struct Options {
  std::string format;
  double seconds = 10;
  std::uint64_t seed = 0;
};

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t limit) {
  return random() % std::max<std::size_t>(1, limit);
}

/// Pieces that files of text, and heads of others, are made of, and numbers that are at some edge.
constexpr std::string_view pieces[] = {"0",
                                       "-1",
                                       "1",
                                       "2147483648",
                                       "9223372036854775807",
                                       "9223372036854775808",
                                       "4611686018427387903",
                                       "1e999",
                                       "-1e-999",
                                       "nan",
                                       "inf",
                                       ".",
                                       "e",
                                       "-",
                                       "+",
                                       ":",
                                       ",",
                                       ";",
                                       " ",
                                       "\t",
                                       "\n",
                                       "\r\n",
                                       "\r",
                                       "\"",
                                       "\"\"",
                                       "#",
                                       "%",
                                       "0:0",
                                       "1:1",
                                       "true",
                                       "NA",
                                       "qid:1",
                                       "1e5",
                                       "0.5",
                                       "99999999999999999999999",
                                       "\xef\xbb\xbf",
                                       "\xff\xfe",
                                       "array",
                                       "coordinate",
                                       "pattern",
                                       "symmetric",
                                       "integer",
                                       "'<f2'",
                                       "'|b1'",
                                       "(3, 5)",
                                       "True",
                                       "'shape'",
                                       "npy"};

/// An integer as binary files have them, of another size or at some edge.
void overwrite_integer(std::string& bytes, std::size_t at, Random& random) {
  constexpr std::int64_t edges[] = {0, 1, -1, 2, 7, 8, 64, 255, 256, 65535, INT32_MAX, INT64_MAX};
  std::int64_t value = edges[below(random, std::size(edges))];
  if (below(random, 4) == 0) value = std::int64_t{1} << below(random, 63);
  for (std::size_t size = std::size_t{1} << below(random, 4); size > 0 && at < bytes.size();
       --size) {
    bytes[at++] = static_cast<char>(value);
    value >>= 8;
  }
}

void mutate(std::string& text, const std::string& other, Random& random) {
  const std::size_t at = below(random, text.size() + 1);
  const std::size_t length = std::min(text.size() - at, below(random, 12));
  switch (below(random, 12)) {
    case 0: text.insert(at, pieces[below(random, std::size(pieces))]); break;
    case 1: text.replace(at, length, pieces[below(random, std::size(pieces))]); break;
    case 2: text.erase(at, length); break;
    case 3: text.insert(below(random, text.size() + 1), text.substr(at, length)); break;
    case 4:
      if (at < text.size()) text[at] = static_cast<char>(random());
      break;
    case 5: text.resize(at); break;
    case 6:
      text.insert(at, other.substr(below(random, other.size() + 1), below(random, 40)));
      break;
    case 8:
    case 9: overwrite_integer(text, at, random); break;
    case 10:
      if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(random, 8)));
      break;
    case 7: text.insert(at, std::string(below(random, 6000), "0 \n1,:"[below(random, 6)])); break;
    default:  // lines again, so that there are several blocks
      for (std::size_t i = below(random, 10); i-- > 0 && text.size() < 20000;)
        text += text.substr(at);
  }
}

/// Not more than fits: a few bytes of a compressed file may stand for very much, or take forever.
class BoundedReceiver : public MemoryReceiver {
 public:
  void add(int tensor, const Key& key, const Tile& tile) override {
    constexpr std::int64_t most = 20'000'000;
    if ((elements_ += tile.elements()) > most) throw Interrupted("that is enough");
    MemoryReceiver::add(tensor, key, tile);
  }
  void advance(std::int64_t bytes, std::int64_t rows) override {
    if (std::chrono::steady_clock::now() > end_) throw Interrupted("that is enough");
    MemoryReceiver::advance(bytes, rows);
  }

 private:
  std::atomic<std::int64_t> elements_ = 0;
  const std::chrono::steady_clock::time_point end_ =
      std::chrono::steady_clock::now() + std::chrono::seconds(5);
};

/// What came of reading a file: the tensors, or the error. InternalError and all others get out.
std::string outcome(const FormatSeed& seed, const std::string& path, std::int64_t memory,
                    int threads) {
  BoundedReceiver into;
  FormatOptions options = seed.options;
  options.memory = memory;
  options.threads = threads;
  try {
    store::find_format(path, seed.format).read({path, path}, options, into);
  } catch (const InternalError&) {
    throw;
  } catch (const Error& error) {
    return fmt::format("{}: {}", error.kind(), error.what());
  }
  std::string found;
  for (const Received& tensor : into.tensors()) {
    std::int64_t entries = 0;
    for (const auto& [key, tile] : tensor.tiles) entries += tile.stored();
    found += fmt::format("{}{} with {} entries; ", to_string(tensor.head.tile.dtype),
                         to_string(*tensor.shape), entries);
  }
  return found;
}

bool is_error(const std::string& outcome) { return outcome.find("Error: ") != std::string::npos; }

int run(const Options& options) {
  std::vector<FormatSeed> seeds;
  for (const auto& some : {text_seeds(), binary_seeds()})
    for (const FormatSeed& seed : some)
      if (options.format.empty() || seed.format == options.format) seeds.push_back(seed);
  if (seeds.empty()) {
    fmt::print("there are no files of the format '{}'\n", options.format);
    return 2;
  }
  const std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("format-fuzz-{}", ::getpid())).string();
  const auto begin = std::chrono::steady_clock::now();
  std::int64_t cases = 0, read = 0, wrong = 0;
  for (; std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() <
         options.seconds;
       ++cases) {
    Random random(options.seed + static_cast<std::uint64_t>(cases));
    const FormatSeed& seed = seeds[below(random, seeds.size())];
    std::string text = seed.content;
    for (std::size_t i = below(random, 6); i-- > 0;)
      mutate(text, seeds[below(random, seeds.size())].content, random);
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
    std::string problem;
    try {
      const std::string one = outcome(seed, path, std::int64_t{64} << 20, 1);
      const std::string two = outcome(seed, path, 0, 2);
      // Of several errors in a file, which is told may depend on where blocks end.
      const bool both_refused = is_error(one) && is_error(two);
      // What HDF5 makes of a broken file depends on how much of it is in its cache.
      if (one != two && !both_refused && seed.format != "hdf5")
        problem = one + "\nis with little memory and two threads\n" + two;
      read += is_error(one) ? 0 : 1;
    } catch (const std::exception& error) {
      problem = error.what();
    }
    if (problem.empty()) continue;
    fmt::print("WRONG {} --seed {}: {}\n--- the file:\n{}\n---\n", seed.format,
               options.seed + static_cast<std::uint64_t>(cases), problem, text.substr(0, 2000));
    if (++wrong == 10) break;
  }
  std::filesystem::remove(path);
  fmt::print("{} files from seed {}, {} of them read, {} wrong\n", cases, options.seed, read,
             wrong);
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace tessera

int main(int count, char** arguments) {
  tessera::Options options;
  if (!tessera::read_command_line(
          count, arguments,
          {{"format", &options.format}, {"seconds", &options.seconds}, {"seed", &options.seed}}))
    return 2;
  return tessera::run(options);
}
