#include "store/record.h"

#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/failed_allocation.h"
#include "base/running_hash.h"
#include "base/stop.h"
#include "tile/buffer.h"
#include "tile/parcel.h"
#include "tile/parcel_flaws.h"

namespace tessera::store {
namespace {

// A record: a head of fixed size, the words that say what it is, the sizes of its pieces, and the
// pieces one after the other, or compressed together. All numbers have the byte order of the
// machine, which the segment's own head tells.
struct Head {
  std::uint32_t magic = 0;
  std::uint32_t compressed = 0;
  std::int64_t words = 0;
  std::int64_t pieces = 0;
  std::int64_t stored = 0;  // bytes of the payload
  std::uint64_t check = 0;  // of all before the pieces, this being zero
};
constexpr std::uint32_t magic_number = 0x43455254;  // "TREC"

using Pieces = std::vector<std::span<const std::byte>>;

std::size_t total(const Pieces& pieces) {
  std::size_t bytes = 0;
  for (const auto& piece : pieces) bytes += piece.size();
  return bytes;
}

/// zstd allocates as it goes.
void refuse_without_memory(std::size_t result) {
  if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation) throw std::bad_alloc();
}

/// The pieces compressed together; empty if that takes more room than they do.
std::shared_ptr<std::vector<std::byte>> compressed(const Pieces& pieces) {
  const std::size_t before = total(pieces);
  auto packed = std::make_shared<std::vector<std::byte>>(ZSTD_compressBound(before));
  const std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> context(
      allocated(ZSTD_createCCtx()), ZSTD_freeCCtx);
  ZSTD_CCtx_setPledgedSrcSize(context.get(), before);
  ZSTD_outBuffer out{packed->data(), packed->size(), 0};
  for (std::size_t i = 0; i <= pieces.size(); ++i) {
    const bool last = i == pieces.size();
    ZSTD_inBuffer in{last ? nullptr : pieces[i].data(), last ? 0 : pieces[i].size(), 0};
    std::size_t left = 0;
    do {
      left = ZSTD_compressStream2(context.get(), &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
      refuse_without_memory(left);
      TESSERA_INVARIANT(!ZSTD_isError(left), "{}", ZSTD_getErrorName(left));
    } while (last ? left > 0 : in.pos < in.size);
  }
  packed->resize(out.pos);
  return packed->size() < before ? packed : nullptr;
}

Record make(const std::vector<std::int64_t>& words, Pieces pieces,
            std::shared_ptr<const void> keeps, Compression compression) {
  Record record;
  std::vector<std::int64_t> numbers = words;
  for (const auto& piece : pieces) numbers.push_back(static_cast<std::int64_t>(piece.size()));
  Head head{magic_number,
            0,
            static_cast<std::int64_t>(words.size()),
            static_cast<std::int64_t>(pieces.size()),
            0,
            0};
  record.payload = std::move(pieces);
  record.keeps = std::move(keeps);
  if (compression == Compression::zstd)
    if (auto packed = compressed(record.payload)) {
      head.compressed = 1;
      record.payload = {std::span<const std::byte>(*packed)};
      record.keeps = packed;
    }
  head.stored = static_cast<std::int64_t>(total(record.payload));
  record.head.resize(sizeof head + numbers.size() * sizeof(std::int64_t));
  std::memcpy(record.head.data(), &head, sizeof head);
  std::memcpy(record.head.data() + sizeof head, numbers.data(),
              numbers.size() * sizeof(std::int64_t));
  head.check = XXH3_64bits(record.head.data(), record.head.size());
  std::memcpy(record.head.data(), &head, sizeof head);
  record.bytes = static_cast<std::int64_t>(record.head.size()) + head.stored;
  return record;
}

/// Pieces are read and written a part at a time, which is hashed while it is in the cache.
template <class Bytes, class Visit>
void by_parts(std::span<Bytes> piece, const Visit& visit) {
  constexpr std::size_t part = 256 << 10;
  for (std::size_t at = 0; at < piece.size(); at += part) {
    refuse_if_stopped("tiles were read or written");
    visit(at, piece.subspan(at, std::min(part, piece.size() - at)));
  }
}

[[noreturn]] void damaged(const std::string& what, const File& file, const FileRange& range,
                          const std::string& reason) {
  throw IoError(fmt::format("{} is damaged: {} ({} at byte {}); restore it from a copy, or drop it",
                            what, reason, file.path().string(), range.offset));
}

/// The part of a record before its pieces, and what is needed to check the rest.
struct Opened {
  Head head;
  std::vector<std::int64_t> words, sizes;
  std::int64_t payload_at = 0;
  RunningHash hash;
};

/// The bytes of the pieces, if they can come from what is stored. A block of zstd has at least 3
/// bytes, and makes at most 128 KiB of them.
void check_sizes(const File& file, const FileRange& range, const Opened& record,
                 const std::string& what) {
  constexpr std::int64_t most_of_a_byte = (128 << 10) / 3 + 1;
  std::int64_t bytes = 0;
  bool well = true;
  for (const std::int64_t size : record.sizes)
    well = well && size >= 0 && !__builtin_add_overflow(bytes, size, &bytes);
  const std::int64_t stored = record.head.stored;
  well = well && (record.head.compressed == 0 ? bytes == stored : bytes / most_of_a_byte <= stored);
  if (!well) damaged(what, file, range, "its parts are larger than its stored data");
}

Opened open_record(const File& file, const FileRange& range, const std::string& what) {
  Opened opened;
  // A place comes from a catalogue or a directory, which anybody may have written: nothing is made
  // room for that the file does not hold.
  if (range.offset < 0 || range.bytes < static_cast<std::int64_t>(sizeof(Head)))
    damaged(what, file, range, "it is too short");
  if (const std::int64_t there = file.size(); range.bytes > there - range.offset)
    damaged(what, file, range, fmt::format("the file ends after {} bytes: it is truncated", there));
  const auto room = static_cast<std::size_t>(range.bytes);
  std::vector<std::byte> front(std::min<std::size_t>(room, 4096));
  file.read(range.offset, front);
  std::memcpy(&opened.head, front.data(), sizeof(Head));
  const Head& head = opened.head;
  const auto most = static_cast<std::int64_t>(room / sizeof(std::int64_t));
  if (head.magic != magic_number || head.compressed > 1 || head.words < 0 || head.pieces < 0 ||
      head.stored < 0 || head.words > most || head.pieces > most || head.stored > range.bytes ||
      static_cast<std::int64_t>(sizeof(Head)) + (head.words + head.pieces) * 8 + head.stored !=
          range.bytes)
    damaged(what, file, range, "its header is not the header of a record");
  const std::size_t before = sizeof(Head) + static_cast<std::size_t>(head.words + head.pieces) * 8;
  if (before > front.size()) {
    const std::size_t there = front.size();
    front.resize(before);
    file.read(range.offset + static_cast<std::int64_t>(there), std::span(front).subspan(there));
  }
  opened.words.resize(static_cast<std::size_t>(head.words));
  opened.sizes.resize(static_cast<std::size_t>(head.pieces));
  auto take = [at = front.data() + sizeof(Head)](std::vector<std::int64_t>& into) mutable {
    if (!into.empty()) std::memcpy(into.data(), at, into.size() * 8);
    at += into.size() * 8;
  };
  take(opened.words);
  take(opened.sizes);
  opened.hash.add(front.data(), before);
  std::memset(front.data() + offsetof(Head, check), 0, sizeof head.check);
  if (XXH3_64bits(front.data(), before) != head.check)
    damaged(what, file, range, "its header has a wrong checksum");
  opened.payload_at = range.offset + static_cast<std::int64_t>(before);
  check_sizes(file, range, opened, what);
  return opened;
}

/// Fills the pieces from the file, and checks them.
void fill(const File& file, const FileRange& range, Opened& record,
          const std::vector<std::span<std::byte>>& pieces, const std::string& what) {
  const char* other = "its data has a wrong checksum";
  if (record.head.compressed == 0) {
    std::int64_t at = record.payload_at;
    for (const auto& piece : pieces) {
      by_parts(piece, [&](std::size_t from, std::span<std::byte> part) {
        file.read(at + static_cast<std::int64_t>(from), part);
        record.hash.add(part.data(), part.size());
      });
      at += static_cast<std::int64_t>(piece.size());
    }
    if (record.hash.value() != range.checksum) damaged(what, file, range, other);
    return;
  }
  std::vector<std::byte> packed(static_cast<std::size_t>(record.head.stored));
  file.read(record.payload_at, packed);
  record.hash.add(packed.data(), packed.size());
  if (record.hash.value() != range.checksum) damaged(what, file, range, other);
  const std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> context(
      allocated(ZSTD_createDCtx()), ZSTD_freeDCtx);
  ZSTD_inBuffer in{packed.data(), packed.size(), 0};
  for (const auto& piece : pieces) {
    ZSTD_outBuffer out{piece.data(), piece.size(), 0};
    while (out.pos < out.size) {
      const std::size_t before = out.pos + in.pos;
      const std::size_t result = ZSTD_decompressStream(context.get(), &out, &in);
      refuse_without_memory(result);
      if (ZSTD_isError(result)) damaged(what, file, range, ZSTD_getErrorName(result));
      if (out.pos + in.pos == before) damaged(what, file, range, "it ends too early");
    }
  }
}

}  // namespace

Record record_of(const Key& key, const std::vector<Tile>& tiles, Compression compression) {
  Parcel parcel = pack(tiles);
  std::vector<std::int64_t> words{static_cast<std::int64_t>(key.size())};
  words.insert(words.end(), key.begin(), key.end());
  words.insert(words.end(), parcel.description.begin(), parcel.description.end());
  return make(words, std::move(parcel.pieces), std::move(parcel.keeps), compression);
}

Record record_of(const std::vector<std::int64_t>& numbers) {
  const auto kept = std::make_shared<const std::vector<std::int64_t>>(numbers);
  return make({}, {std::as_bytes(std::span(*kept))}, kept, Compression::none);
}

FileRange write(File& file, std::int64_t offset, const Record& record) {
  RunningHash hash;
  file.write(offset, record.head);
  hash.add(record.head.data(), record.head.size());
  std::int64_t at = offset + static_cast<std::int64_t>(record.head.size());
  for (const auto& piece : record.payload) {
    by_parts(piece, [&](std::size_t from, std::span<const std::byte> part) {
      hash.add(part.data(), part.size());
      file.write(at + static_cast<std::int64_t>(from), part);
    });
    at += static_cast<std::int64_t>(piece.size());
  }
  return {offset, record.bytes, hash.value()};
}

std::vector<Tile> read_tiles(const File& file, const FileRange& range, const Key& key,
                             const std::string& what) {
  Opened record = open_record(file, range, what);
  const std::span<const std::int64_t> words(record.words);
  const std::size_t arity = key.size();
  if (words.size() <= arity + 1 || words[0] != static_cast<std::int64_t>(arity) ||
      !std::equal(key.begin(), key.end(), words.begin() + 1))
    damaged(what, file, range, "it has the tiles of another key");
  const auto description = words.subspan(arity + 1);
  if (const std::string flaw = flaw_of_parcel(description, record.sizes); !flaw.empty())
    damaged(what, file, range, flaw);
  Unpacking unpacking(description, record.sizes);
  const std::vector<std::span<std::byte>> pieces = unpacking.memory();
  fill(file, range, record, pieces, what);
  if (const std::string flaw = flaw_of_pieces(description, pieces); !flaw.empty())
    damaged(what, file, range, flaw);
  return std::move(unpacking).tiles();
}

std::vector<std::int64_t> read_numbers(const File& file, const FileRange& range,
                                       const std::string& what) {
  Opened record = open_record(file, range, what);
  if (record.sizes.size() != 1 || record.sizes[0] % 8 != 0 || record.head.compressed != 0)
    damaged(what, file, range, "it does not have a list of numbers");
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(record.sizes[0]) / 8);
  fill(file, range, record, {std::as_writable_bytes(std::span(numbers))}, what);
  return numbers;
}

}  // namespace tessera::store
