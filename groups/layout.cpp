// SPDX-License-Identifier: Apache-2.0
// groups/layout.cpp — ranks, hosts, blocks.
#include "groups/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/digest.hpp"
#include "base/usage_error.hpp"
#include "runtime/wait.hpp"

namespace groups {

using collectives::Collective;

namespace {

bool are_all(const std::vector<std::uint32_t>& threads, std::uint32_t count) {
  if (threads.size() != count) return false;
  for (std::uint32_t rank = 0; rank < count; ++rank)
    if (threads[rank] != rank) return false;
  return true;
}

}  // namespace

Layout::Layout(const paths::Plan& plan, const std::vector<std::uint32_t>* threads) {
  if (threads != nullptr && !are_all(*threads, plan.thread_count())) threads_ = *threads;
  if (threads != nullptr && threads->empty()) throw base::UsageError("a group of no threads");
  const std::size_t count = threads == nullptr ? plan.thread_count() : threads->size();
  std::uint32_t rank = 0, next = 0;
  for (std::uint32_t host = 0; host < plan.hosts.size(); ++host)
    for (std::uint32_t index = 0; index < plan.hosts[host].threads; ++index, ++rank) {
      if (next == count || thread(next) != rank) continue;
      if (hosts_.empty() || hosts_.back() != host) {
        hosts_.push_back(host);
        first_.push_back(next);
      }
      ++next;
    }
  first_.push_back(next);
  if (next == 0 || next != count)
    throw base::UsageError(
        fmt::format("a group of some of the {} threads, in their order, has none of number {}",
                    rank, next == count ? 0 : thread(next)));
  for (std::uint32_t host = 0; host < hosts_.size(); ++host)
    is_even_ = is_even_ && members_on(host) == members_on(0);
}

std::shared_ptr<const Layout> Layout::of(const paths::Plan& plan,
                                         const std::vector<std::uint32_t>* threads) {
  static runtime::Mutex mutex;
  static std::vector<std::weak_ptr<const Layout>> all;
  auto made = std::make_shared<const Layout>(plan, threads);
  runtime::Lock lock(mutex);
  std::erase_if(all, [](const auto& one) { return one.expired(); });
  for (const auto& one : all)
    if (const auto known = one.lock(); known && *known == *made) return known;
  all.push_back(made);
  return made;
}

bool Layout::has(const std::vector<std::uint32_t>* threads) const {
  if (!threads_.empty()) return threads != nullptr && *threads == threads_;
  return threads == nullptr || are_all(*threads, size());
}

std::uint32_t Layout::participant_of(std::uint32_t rank) const {
  return static_cast<std::uint32_t>(std::upper_bound(first_.begin(), first_.end() - 1, rank) -
                                    first_.begin() - 1);
}

namespace {

bool has_blocks(Collective collective) {
  return collective == Collective::gather || collective == Collective::scatter ||
         collective == Collective::allgather || collective == Collective::reduce_scatter;
}

std::uint64_t sum_of(std::uint64_t left, std::uint64_t right) {
  if (left > std::numeric_limits<std::uint64_t>::max() - right)
    throw base::UsageError("the counts are together more than 64 bits can tell");
  return left + right;
}

}  // namespace

CallCounts::CallCounts(const Call& call, const Layout& layout) : call_(call), size_(layout.size()) {
  const bool is_alltoall = call.collective == Collective::alltoall;
  const std::size_t blocks = is_alltoall                   ? std::size_t{size_} * size_
                             : has_blocks(call.collective) ? size_
                                                           : 1;
  if (call.counts.size() != 1 && call.counts.size() != blocks)
    throw base::UsageError(
        fmt::format("{}: expected {} counts{}, found {}", name_of(call.collective),
                    blocks == 1 ? "1" : fmt::format("1 or {}", blocks),
                    is_alltoall ? ", one for each pair" : "", call.counts.size()));
  is_even_ = call.counts.size() == 1;
  if (is_even_) {
    each_ = call.counts.front();
    if (each_ > std::numeric_limits<std::uint64_t>::max() / blocks) sum_of(each_, ~each_ + 1);
    total_ = each_ * blocks;
    return;
  }
  counts_ = call.counts;
  if (!is_alltoall) {
    for (const std::uint64_t count : counts_) {
      begins_.push_back(total_);
      total_ = sum_of(total_, count);
    }
    return;
  }
  row_.assign(std::size_t{size_} * (size_ + 1), 0);
  column_ = row_;
  for (std::uint32_t source = 0; source < size_; ++source)
    for (std::uint32_t target = 0; target < size_; ++target) {
      const std::uint64_t count = pair(source, target);
      std::uint64_t* const row = &row_[std::size_t{source} * (size_ + 1) + target];
      std::uint64_t* const column = &column_[std::size_t{target} * (size_ + 1) + source];
      row[1] = sum_of(row[0], count);
      column[1] = sum_of(column[0], count);
      total_ = sum_of(total_, count);
    }
}

std::uint64_t CallCounts::in(std::uint32_t rank) const {
  switch (call_.collective) {
    case Collective::barrier:
    case Collective::broadcast: return 0;
    case Collective::scatter: return rank == call_.root ? total_ : 0;
    case Collective::gather:
    case Collective::allgather: return block(rank);
    case Collective::alltoall: return given_before(rank, size_);
    default: return total_;
  }
}

std::uint64_t CallCounts::out(std::uint32_t rank) const {
  switch (call_.collective) {
    case Collective::barrier: return 0;
    case Collective::reduce:
    case Collective::gather: return rank == call_.root ? total_ : 0;
    case Collective::scatter:
    case Collective::reduce_scatter: return block(rank);
    case Collective::alltoall: return taken_before(rank, size_);
    default: return total_;
  }
}

collectives::Counts CallCounts::between_hosts(const Layout& layout) const {
  using collectives::Counts;
  const auto hosts = static_cast<std::uint32_t>(layout.hosts().size());
  const bool are_alike = is_even_ && layout.is_even();
  if (call_.collective == Collective::barrier) return Counts::each(1, 1);
  if (call_.collective == Collective::alltoall) {
    const std::uint64_t members = layout.members_on(0);
    if (are_alike) return Counts::each(each_ * members * members, std::size_t{hosts} * hosts);
    std::vector<std::uint64_t> counts;
    for (std::uint32_t from = 0; from < hosts; ++from)
      for (std::uint32_t to = 0; to < hosts; ++to) {
        const std::uint32_t first = layout.first_on(to), last = layout.first_on(to + 1);
        std::uint64_t count = 0;
        for (std::uint32_t source = layout.first_on(from); source < layout.first_on(from + 1);
             ++source)
          count += given_before(source, last) - given_before(source, first);
        counts.push_back(count);
      }
    return Counts::listed(counts);
  }
  if (!has_blocks(call_.collective)) return Counts::each(total_, 1);
  if (are_alike) return Counts::each(each_ * layout.members_on(0), hosts);
  std::vector<std::uint64_t> counts;
  for (std::uint32_t host = 0; host < hosts; ++host) {
    std::uint64_t count = 0;
    for (std::uint32_t rank = layout.first_on(host); rank < layout.first_on(host + 1); ++rank)
      count += block(rank);
    counts.push_back(count);
  }
  return Counts::listed(counts);
}

std::string CallCounts::text() const {
  if (is_even_) return fmt::format("{}", each_);
  return "counts " + base::digest_of(std::as_bytes(std::span(counts_))).text();
}

}  // namespace groups
