// SPDX-License-Identifier: Apache-2.0
// eventspace/export/interval_sort.cpp — merge of sorted runs in a file.
#include "eventspace/export/interval_sort.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <queue>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "eventspace/group_record.hpp"
#include "eventspace/transfer_record.hpp"

namespace eventspace {
namespace {

constexpr std::size_t run_spans_min = 64;

auto key(const Span& span) {
  const EventRecord& record = span.record;
  // If a group record begins at the same time as the operation that contains it, the group record
  // comes second.
  const std::uint64_t sequence = is_of_group(record) || is_transfer(record)
                                     ? std::numeric_limits<std::uint64_t>::max()
                                     : record.sequence;
  return std::tuple(span.track, +record.down_nanos, sequence, span.depth, +record.up_nanos);
}

bool is_before(const Span& one, const Span& other) { return key(one) < key(other); }

}  // namespace

/// Reader of a sorted run in the file. Only a part of the run is in memory.
class SpanSort::Run {
 public:
  Run(const File& file, std::uint64_t begin, std::uint64_t end, std::size_t spans)
      : file_(&file), next_(begin), end_(end), spans_(spans) {
    fill();
  }
  bool is_empty() const { return at_ == held_.size(); }
  const Span& first() const { return held_[at_]; }
  void drop_first() {
    if (++at_ == held_.size()) fill();
  }

 private:
  void fill() {
    at_ = 0;
    held_.resize(std::min<std::uint64_t>(spans_, end_ - next_));
    const auto bytes = std::as_writable_bytes(std::span(held_));
    if (file_->read(next_ * sizeof(Span), bytes) < bytes.size())
      throw std::runtime_error("the part that was sorted is no longer there");
    next_ += held_.size();
  }

  const File* file_;
  std::uint64_t next_;
  std::uint64_t end_;
  std::size_t spans_;
  std::vector<Span> held_;
  std::size_t at_ = 0;
};

SpanSort::SpanSort(std::filesystem::path scratch, std::size_t bytes)
    : scratch_(std::move(scratch)), held_max_(std::max<std::size_t>(1, bytes / sizeof(Span))) {}

void SpanSort::add(const Span& span) {
  if (held_.size() >= held_max_) write_run();
  // Sets the capacity explicitly, because the vector's own growth could exceed held_max_.
  if (held_.size() == held_.capacity())
    held_.reserve(std::min(held_max_, std::max<std::size_t>(1024, 2 * held_.size())));
  held_.push_back(span);
  is_sorted_ = false;
}

void SpanSort::sort_held() {
  if (!std::exchange(is_sorted_, true)) std::sort(held_.begin(), held_.end(), is_before);
}

void SpanSort::write_run() {
  sort_held();
  if (!to_write_) {
    static std::atomic<std::uint64_t> next{0};
    const std::filesystem::path path =
        fmt::format("{}.{}.{}.sorting", scratch_.string(), ::getpid(), next.fetch_add(1));
    to_write_ = std::make_unique<File>(File::create(path));
    to_read_ = std::make_unique<File>(File::to_read(path));
    ::unlink(path.c_str());
  }
  to_write_->append(std::as_bytes(std::span(held_)));
  run_ends_.push_back((run_ends_.empty() ? 0 : run_ends_.back()) + held_.size());
  held_.clear();
}

void SpanSort::for_each(const std::function<void(const Span&)>& visit) {
  if (!run_ends_.empty()) return merge(visit);
  sort_held();
  for (const Span& span : held_) visit(span);
}

void SpanSort::merge(const std::function<void(const Span&)>& visit) {
  if (!held_.empty()) write_run();
  held_.shrink_to_fit();
  const std::size_t spans = std::max(run_spans_min, held_max_ / run_ends_.size());
  std::vector<Run> runs;
  runs.reserve(run_ends_.size());
  std::uint64_t begin = 0;
  for (const std::uint64_t end : run_ends_)
    runs.emplace_back(*to_read_, std::exchange(begin, end), end, spans);
  // If spans are equal, the span that was added first comes first.
  const auto is_later = [&](std::size_t one, std::size_t other) {
    if (is_before(runs[one].first(), runs[other].first())) return false;
    return is_before(runs[other].first(), runs[one].first()) || one > other;
  };
  std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(is_later)> next(is_later);
  for (std::size_t run = 0; run < runs.size(); ++run) next.push(run);
  while (!next.empty()) {
    const std::size_t run = next.top();
    next.pop();
    visit(runs[run].first());
    runs[run].drop_first();
    if (!runs[run].is_empty()) next.push(run);
  }
}

}  // namespace eventspace
