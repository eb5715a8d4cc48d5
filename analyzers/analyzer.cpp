#include "analyzers/analyzer.hpp"

#include <algorithm>
#include <bit>

namespace warplens::analyzers {

namespace {
constexpr std::size_t kStrided = static_cast<std::size_t>(exec::Shape::strided);
constexpr std::size_t kSingleLane = 4;
} // namespace

void AccessSite::add(exec::Shape shape, std::int64_t stride, exec::Mask mask, std::uint64_t count) {
  if (count == 0) return;
  const std::size_t kind = std::has_single_bit(mask) ? kSingleLane : static_cast<std::size_t>(shape);
  if (kind == kStrided) {
    least_stride_ = counts_[kStrided] ? std::min(least_stride_, stride) : stride;
    largest_stride_ = counts_[kStrided] ? std::max(largest_stride_, stride) : stride;
  }
  counts_[kind] += count;
}

void AccessSite::merge(const AccessSite& other) {
  if (other.counts_[kStrided]) {
    least_stride_ = counts_[kStrided] ? std::min(least_stride_, other.least_stride_) : other.least_stride_;
    largest_stride_ = counts_[kStrided] ? std::max(largest_stride_, other.largest_stride_) : other.largest_stride_;
  }
  for (std::size_t i = 0; i < std::size(counts_); ++i) counts_[i] += other.counts_[i];
}

std::size_t AccessSite::most_frequent() const {
  const auto shapes = std::max_element(counts_, counts_ + kSingleLane);
  return *shapes ? static_cast<std::size_t>(shapes - counts_) : kSingleLane;
}

std::int64_t AccessSite::stride() const {
  return most_frequent() == kStrided && least_stride_ == largest_stride_ ? least_stride_ : 0;
}

std::string AccessSite::pattern() const {
  const std::size_t kind = most_frequent();
  if (counts_[kind] == 0) return {};
  std::string text;
  for (std::size_t i = 0; i < kSingleLane; ++i)
    if (i != kind && counts_[i]) text = "mostly ";
  switch (kind) {
  case static_cast<std::size_t>(exec::Shape::contiguous): return text + "unit stride";
  case static_cast<std::size_t>(exec::Shape::broadcast): return text + "broadcast";
  case kStrided: return text + (stride() ? "stride " + std::to_string(stride()) + " bytes" : "several strides");
  case static_cast<std::size_t>(exec::Shape::irregular): return text + "irregular";
  default: return "single lane";
  }
}

} // namespace warplens::analyzers
