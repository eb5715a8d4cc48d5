// SPDX-License-Identifier: Apache-2.0
// Loads and stores of matrices in the registers of a warp: ldmatrix, stmatrix, movmatrix, wmma.load, wmma.store
// (9.7.14). Compiled once per level.
#include "emulator/exec/matrix/matrix_handlers.hpp"
#include "emulator/exec/access/access.hpp"
#include "emulator/exec/access/collisions.hpp"
#include "emulator/exec/matrix/group_handlers.hpp"
#include "emulator/exec/matrix/multiply_handlers.hpp"
#include "emulator/exec/matrix/tensor_products.hpp"

#include <cstring>

namespace warplens::exec::WARPLENS_LEVEL {

namespace {

using Word32 = std::uint32_t;
using Kind = MatrixHandler;

constexpr int kRowBytes = 16;
struct Rows {
  alignas(kRowBytes) std::byte bytes[kWarpSize][kRowBytes];
};

// ---- ldmatrix, stmatrix (9.7.14.5.15, 9.7.14.5.16): lanes 0 to 7 have the addresses of the rows of the first matrix,
// the next eight those of the second …; of row i lanes 4 i to 4 i + 3 hold four bytes each. Matrices of 16 rows have 16
// addresses and two registers.

// What a row of 16 bytes in memory holds: as many bytes, eight halves, or 16 numbers of 6 or 4 bits at its start, each
// of which becomes a byte (9.7.14.5.15, "Optional Decompression").
enum class Packed : std::uint8_t { halves, bytes, six, four };

Mask addressing(const Op* op) { return op->extra == 4 ? kFullMask : (Mask{1} << 8 * op->extra) - 1; }

template <Packed packed> void load_row(std::byte* to, const std::byte* from) {
  if constexpr (packed == Packed::halves || packed == Packed::bytes) {
    std::memcpy(to, from, kRowBytes);
  } else {
    constexpr int kBits = packed == Packed::six ? 6 : 4, kAtOnce = 8;
    for (int i = 0; i < kRowBytes; i += kAtOnce) {
      std::uint64_t numbers = 0;
      std::memcpy(&numbers, from + i * kBits / 8, kBits);
      for (int j = 0; j < kAtOnce; ++j) to[i + j] = static_cast<std::byte>(numbers >> j * kBits & ((1u << kBits) - 1));
    }
  }
}

std::uint16_t element(const std::byte* row, int column) {
  std::uint16_t e;
  std::memcpy(&e, row + 2 * column, sizeof e);
  return e;
}
void transpose_into(Word32* d, const std::byte (*matrix)[kRowBytes]) {
  for (int i = 0; i < kWarpSize; ++i)
    d[i] = element(matrix[i % 4 * 2], i / 4) | static_cast<Word32>(element(matrix[i % 4 * 2 + 1], i / 4)) << 16;
}
// Columns of 16 rows, eight of them from `first` on.
void transpose_bytes_into(Word32* d, const std::byte (*matrix)[kRowBytes], int first) {
  for (int i = 0; i < kWarpSize; ++i) {
    std::byte column[4];
    for (int j = 0; j < 4; ++j) column[j] = matrix[i % 4 * 4 + j][first + i / 4];
    std::memcpy(d + i, column, sizeof *d);
  }
}

template <Packed packed, bool transposed> bool load_matrix(const Op* op, Warp* warp) {
  HostAccess host;
  if (!resolve(op, warp, addressing(op), host)) return false;
  Rows rows;
  for (Word32 i = 0; i < 8 * op->extra; ++i) load_row<packed>(rows.bytes[i], host.at(static_cast<int>(i)));
  for (Word32 m = 0; m < op->extra; ++m) {
    Word32* const d = row<Word32>(warp, op->site->to[m]);
    if constexpr (!transposed)
      std::memcpy(d, rows.bytes[8 * m], 8 * kRowBytes);
    else if constexpr (packed == Packed::halves)
      transpose_into(d, &rows.bytes[8 * m]);
    else
      transpose_bytes_into(d, &rows.bytes[m / 2 * 16], static_cast<int>(m % 2 * 8));
  }
  return true;
}

// The rows in memory of what 32 lanes have in a register. Of bytes, it is a matrix of 16 rows, in memory 16 columns:
// lanes 4 i to 4 i + 3 hold the elements of rows i and i + 8, as they hold those of a product.
template <Packed packed, bool transposed> void rows_of_register(std::byte (*rows)[kRowBytes], const Word32* s) {
  if constexpr (!transposed) {
    std::memcpy(rows, s, 8 * kRowBytes);
  } else if constexpr (packed == Packed::halves) {
    for (int i = 0; i < kWarpSize; ++i)
      for (int j = 0; j < 2; ++j)
        std::memcpy(rows[i % 4 * 2 + j] + i / 4 * 2, reinterpret_cast<const std::byte*>(s + i) + 2 * j, 2);
  } else {
    for (int i = 0; i < kWarpSize; ++i)
      for (int j = 0; j < 4; ++j) rows[i % 4 * 2 + j % 2][i / 4 + j / 2 * 8] = static_cast<std::byte>(s[i] >> 8 * j);
  }
}

template <Packed packed, bool transposed> bool store_matrix(const Op* op, Warp* warp) {
  HostAccess host;
  if (!resolve(op, warp, addressing(op), host)) return false;
  for (Word32 m = 0; m < op->extra; ++m) {
    std::byte matrix[8][kRowBytes];
    rows_of_register<packed, transposed>(matrix, row<Word32>(warp, op->site->from[m]));
    for_each_storing_lane(Mask{0xff} << 8 * m, kRowBytes,
                          [&](int lane) { std::memcpy(host.at(lane), matrix[lane % 8], kRowBytes); });
  }
  return true;
}

// ---- movmatrix (9.7.14.5.17)
bool transpose(const Op* op, Warp* warp) {
  std::byte matrix[8][kRowBytes];
  std::memcpy(matrix, row<Word32>(warp, op->src[0]), sizeof matrix);
  transpose_into(row<Word32>(warp, op->dst[0]), matrix);
  return true;
}

// ---- wmma.load, wmma.store (9.7.14.4.3, 9.7.14.4.4): a tile holds the matrix as in memory, line by line.

constexpr int kMostBytes = 1024; // of 32 x 16 halves

struct Tile {
  alignas(64) std::byte bytes[kMostBytes];
};

const FragmentTransfer& transfer_of(const Op* op, const Warp* warp) { return warp->cta->program.fragments[op->extra]; }

// Performs the accesses in order: `move` gets a lane's piece in memory and its place in the tile.
template <class Address, class Move> bool each_piece(const Op* op, Warp* warp, const FragmentTransfer& t, Move move) {
  const int width = bits(t.fragment.element);
  const Address* const base = row<Address>(warp, op->src[0]);
  const Word32* const stride = row<Word32>(warp, t.stride);
  const bool bit_words = t.fragment.element == MatrixElement::b1; // their stride counts bits
  Op access = *op;
  access.src[0] = t.addresses;
  for (const FragmentTransfer::Access& a : t.accesses) {
    Address* const addresses = row<Address>(warp, t.addresses);
    for (int l = 0; l < kWarpSize; ++l) {
      const std::uint64_t line =
          std::uint64_t{stride[l]} * a.line[l] * static_cast<unsigned>(bit_words ? 1 : width) / 8;
      addresses[l] = static_cast<Address>(base[l] + line + a.byte[l]);
    }
    HostAccess host;
    if (!resolve(&access, warp, a.lanes, host)) return false;
    for (int l = 0; l < kWarpSize; ++l)
      if ((a.lanes >> l & 1) != 0) move(host.at(l), a.line[l] * t.line_bytes + a.byte[l]);
  }
  return true;
}
template <class Move> bool each_piece(const Op* op, Warp* warp, const FragmentTransfer& t, Move move) {
  return op->site->address32 ? each_piece<std::uint32_t>(op, warp, t, move)
                             : each_piece<std::uint64_t>(op, warp, t, move);
}

// `move` gets a place in the tile and the corresponding place in a register.
template <class Move> void each_element(Warp* warp, const FragmentTransfer& t, Move move) {
  const std::uint16_t* place = t.places.data();
  const std::size_t in_row = t.places.size() / static_cast<std::size_t>(t.fragment.registers);
  for (int r = 0; r < t.fragment.registers; ++r) {
    std::byte* values = row<std::byte>(warp, t.fragment.row[static_cast<std::size_t>(r)]);
    for (std::size_t i = 0; i < in_row; ++i, values += t.place_bytes) move(*place++, values);
  }
}

bool load_fragment(const Op* op, Warp* warp) {
  const FragmentTransfer& t = transfer_of(op, warp);
  Tile tile;
  const auto load = [&](const std::byte* from, int to) { std::memcpy(tile.bytes + to, from, t.piece); };
  if (!each_piece(op, warp, t, load)) return false;
  each_element(warp, t, [&](int from, std::byte* to) { std::memcpy(to, tile.bytes + from, t.place_bytes); });
  return true;
}

bool store_fragment(const Op* op, Warp* warp) {
  const FragmentTransfer& t = transfer_of(op, warp);
  Tile tile;
  each_element(warp, t, [&](int to, const std::byte* from) { std::memcpy(tile.bytes + to, from, t.place_bytes); });
  const auto store = [&](std::byte* to, int from) { std::memcpy(to, tile.bytes + from, t.piece); };
  return each_piece(op, warp, t, store);
}

} // namespace

Handler matrix_handler(MatrixHandler kind) {
  switch (kind) {
  case Kind::load: return by_whole_warp<load_matrix<Packed::halves, false>>;
  case Kind::load_transposed: return by_whole_warp<load_matrix<Packed::halves, true>>;
  case Kind::load_bytes_transposed: return by_whole_warp<load_matrix<Packed::bytes, true>>;
  case Kind::load_six: return by_whole_warp<load_matrix<Packed::six, false>>;
  case Kind::load_six_transposed: return by_whole_warp<load_matrix<Packed::six, true>>;
  case Kind::load_four: return by_whole_warp<load_matrix<Packed::four, false>>;
  case Kind::load_four_transposed: return by_whole_warp<load_matrix<Packed::four, true>>;
  case Kind::store: return by_whole_warp<store_matrix<Packed::halves, false>>;
  case Kind::store_transposed: return by_whole_warp<store_matrix<Packed::halves, true>>;
  case Kind::store_bytes_transposed: return by_whole_warp<store_matrix<Packed::bytes, true>>;
  case Kind::transpose: return by_whole_warp<transpose>;
  case Kind::load_fragment: return by_whole_warp<load_fragment>;
  case Kind::store_fragment: return by_whole_warp<store_fragment>;
  case Kind::group_floats:
  case Kind::group_integers:
  case Kind::group_bits: return group_handler(kind);
  case Kind::tensor_multiply: return multiply_tensors;
  default: return multiply_handler(kind);
  }
}

} // namespace warplens::exec::WARPLENS_LEVEL
