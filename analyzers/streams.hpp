// SPDX-License-Identifier: Apache-2.0
// Records the accesses of a launch's warps to global memory, and to local memory if the board has caches. Analyzers
// that depend on the order read them in an order that does not depend on the workers of the emulator.
//
// Order: block i goes to multiprocessor i % multiprocessors until each has its resident blocks, as a GPU starts them;
// these blocks form a wave. A wave ends before the next one begins. In a wave, round r is the r-th access of every
// warp: ordered by multiprocessor, then by block, then by warp. Warps with fewer accesses drop out. Barriers are
// ignored: warps with equally many accesses stay in step anyway.
//
//   2 multiprocessors, 1 resident block of 2 warps: round 0 is block 0 warp 0, block 0 warp 1, block 1 warp 0, block 1
//   warp 1; round 1 again; when all are done blocks 2 and 3 follow
//
// Local memory is placed as on a GPU: each resident warp has its own area behind global memory, in which word i of its
// 32 lanes is line i. All areas have the size of the largest area that a warp uses. The next wave reuses the areas of
// the previous one.
//
// Memory is bounded: for large launches, only some waves and the first accesses of each warp are recorded, in at most
// kWords words of 8 bytes. recorded() returns the recorded share. A small part has waves of the beginning and of the
// middle: the first blocks of many kernels work at the border of their data, and of others all later blocks are idle.
#pragma once

#include "analyzers/analyzer.hpp"
#include "analyzers/board.hpp"
#include "analyzers/line_use.hpp"

#include <functional>
#include <map>

namespace warplens::analyzers {

/// One access of a warp.
struct StreamAccess {
  std::uint32_t instruction = 0;
  exec::AccessKind kind{};
  isa::Space space{};             ///< global or local
  std::span<const LineUse> lines; ///< each once, in the order of the lanes
};

/// The origin and the time of an access.
struct StreamPlace {
  std::uint64_t round = 0;
  std::uint32_t multiprocessor = 0;
  std::uint64_t cta = 0;
  std::uint32_t warp = 0;
};

class Streams {
public:
  static constexpr std::size_t kWords = std::size_t{1} << 22; ///< 32 MB
  static constexpr std::uint64_t kWarps = std::uint64_t{1} << 15;

  /// The recorded part of a launch, from large to small.
  enum class Part : std::uint8_t {
    first_waves, ///< as many as memory allows
    glance, ///< a sixth of the warps; if two waves have more, the blocks of every second or third multiprocessor, …
    one_multiprocessor ///< of two waves, the blocks on sampled_multiprocessor()
  };
  Streams(const exec::LaunchShape& shape, const Board& board, Part part = Part::first_waves);

  class Shard;
  [[nodiscard]] std::unique_ptr<Shard> make_shard() const;
  void absorb(Shard& shard);
  /// Whether the accesses of a block are recorded.
  [[nodiscard]] bool records(std::uint64_t cta) const { return kept_.holds(cta); }
  /// Of a sampled launch: how many accesses all blocks have.
  void set_all(std::uint64_t global, std::uint64_t local) {
    recorded_.all = global;
    if (board_.l1 || board_.l2) local_.all = local;
  }

  /// How many are recorded.
  [[nodiscard]] std::uint64_t waves() const { return kept_.waves(); }
  [[nodiscard]] std::uint64_t waves_of_launch() const { return (shape_.ctas() + kept_.wave - 1) / kept_.wave; }
  using Visit = std::function<void(const StreamPlace&, const StreamAccess&)>;
  /// All accesses of a recorded wave, to global and local memory, in the order above.
  void each_of_wave(std::uint64_t wave, const Visit& visit) const;
  /// The accesses of one block to global memory, round by round.
  void each_of_cta(std::uint64_t cta, const Visit& visit) const;
  /// The accesses of a warp to global memory, in program order.
  void each_of_warp(std::uint64_t cta, std::uint32_t warp, const Visit& visit) const;
  /// The blocks of a recorded wave that are on a multiprocessor, ascending.
  [[nodiscard]] std::vector<std::uint64_t> ctas_of(std::uint64_t wave, std::uint32_t multiprocessor) const;

  /// The recorded blocks, ascending.
  [[nodiscard]] std::vector<std::uint64_t> kept_ctas() const;
  /// In the middle of those that have blocks, and recorded.
  [[nodiscard]] std::uint32_t sampled_multiprocessor() const { return kept_.sampled; }
  [[nodiscard]] const exec::LaunchShape& shape() const { return shape_; }
  [[nodiscard]] const Board& board() const { return board_; }
  /// Accesses kept, and of the whole launch.
  struct Recorded {
    std::uint64_t kept = 0, all = 0;
    void add(const Recorded& other) {
      kept += other.kept;
      all += other.all;
    }
  };
  [[nodiscard]] Recorded recorded() const { return recorded_; } ///< of global memory
  [[nodiscard]] Recorded local() const { return local_; }

  /// A warp's accesses: of each a header (instruction, kind, space, how many lines) and its lines; those of local
  /// memory count from the warp's own place.
  struct Warp {
    std::vector<LineUse> words;
    bool full = false;
    void fields(Archive& a) { a(words, full); }
  };
  using Cta = std::vector<Warp>;

private:
  struct Cursor;
  /// The blocks whose accesses are recorded: of the first waves, of some in the middle, or a part of both.
  struct Kept {
    std::uint64_t wave = 1, ctas = 0;                            ///< blocks of a wave, and of the launch
    std::uint64_t first_waves = 0, middle = 0, middle_waves = 0; ///< `middle`: the number of the first one there
    std::uint64_t every = 1; ///< those of each so many multiprocessors, `sampled` among them
    std::uint32_t multiprocessors = 1, sampled = 0;
    [[nodiscard]] std::uint64_t waves() const { return first_waves + middle_waves; }
    /// Of a recorded wave, its number in the launch.
    [[nodiscard]] std::uint64_t number(std::uint64_t recorded) const {
      return recorded < first_waves ? recorded : middle + recorded - first_waves;
    }
    [[nodiscard]] bool holds(std::uint64_t cta) const {
      const std::uint64_t own = cta / wave;
      return cta < ctas && (own < first_waves || own - middle < middle_waves) &&
             cta % multiprocessors % every == sampled % every;
    }
  };
  /// Null if it is not recorded.
  [[nodiscard]] const Cta* cta_of(std::uint64_t number) const {
    const auto found = ctas_.find(number);
    return found == ctas_.end() ? nullptr : &found->second;
  }
  void rounds(std::vector<Cursor> cursors, const Visit& visit) const;
  [[nodiscard]] std::uint64_t local_place(std::uint64_t cta, std::uint32_t warp) const;

  exec::LaunchShape shape_;
  Board board_;
  Kept kept_;
  std::size_t words_per_warp_ = 0;
  std::map<std::uint64_t, Cta> ctas_; ///< by number
  Recorded recorded_, local_;
  std::uint64_t local_lines_ = 0; ///< of a warp's place
};

class Streams::Shard final : public exec::Shard {
public:
  Shard(const Streams& streams)
      : kept_(streams.kept_), warps_(streams.shape_.warps()), words_(streams.words_per_warp_),
        with_local_(streams.board_.l1 || streams.board_.l2) {}
  bool begin_cta(std::uint64_t cta) override;
  [[nodiscard]] bool records(std::uint64_t cta) const { return kept_.holds(cta); }
  void access(const exec::Access& access) override {
    if (access.space == isa::Space::global) recorded_.all += access.count;
    if (access.space == isa::Space::local && with_local_) local_.all += access.count;
  }
  void access_rows(const exec::AccessRows& all) override {
    exec::Access sum = all[0];
    sum.count = all.count;
    access(sum);
  }
  [[nodiscard]] exec::EachWanted each_wanted() const override {
    const std::uint32_t local = with_local_ ? exec::EachWanted::bit(isa::Space::local) : 0;
    return {exec::EachWanted::bit(isa::Space::global) | local, false};
  }
  void each_access(const exec::WarpId& id, const exec::Access& access) override;
  void fields(Archive& a) override { a(ctas_, recorded_, local_, local_lines_); }

private:
  friend class Streams;
  Warp* warp_of(const exec::WarpId& id);
  Kept kept_;
  std::uint32_t warps_;
  std::size_t words_; // most of a warp
  bool with_local_;
  std::map<std::uint64_t, Cta> ctas_;
  std::uint64_t last_number_ = 0;
  Cta* last_ = nullptr; // asked for last
  Recorded recorded_, local_;
  std::uint64_t local_lines_ = 0;
};

/// An analyzer of streams. Alone it records its own; together with others it shares theirs: see Analysis.
class StreamAnalyzer : public Analyzer {
public:
  StreamAnalyzer(const AnalyzerInfo& info, std::size_t instructions, const exec::LaunchShape& shape, const Board& board)
      : Analyzer(info), instructions_(instructions), own_(shape, board) {}
  virtual void study(const Streams& streams) = 0;

  std::unique_ptr<exec::Shard> make_shard() final { return own_.make_shard(); }
  void absorb(exec::Shard& shard) final { own_.absorb(static_cast<Streams::Shard&>(shard)); }
  void conclude(const std::vector<exec::InstructionCount>&) final { study(own_); }

protected:
  /// Where to count what an instruction does; the last row is for those out of range.
  [[nodiscard]] std::size_t row_of(std::uint32_t instruction) const {
    return std::min<std::size_t>(instruction, instructions_);
  }
  std::size_t instructions_;

private:
  Streams own_;
};

} // namespace warplens::analyzers
