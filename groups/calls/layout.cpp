// SPDX-License-Identifier: Apache-2.0
// groups/calls/layout.cpp — ranks, hosts and blocks of a group.
#include "groups/calls/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

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

/// Validates threads_, and computes the place of each rank and the rank of each place.
void Layout::order(std::uint32_t threads_of_plan) {
  if (threads_.empty()) throw base::UsageError("a group of no threads");
  std::vector<std::uint32_t> ranks(threads_.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  std::sort(ranks.begin(), ranks.end(),
            [&](auto left, auto right) { return threads_[left] < threads_[right]; });
  if (threads_[ranks.back()] >= threads_of_plan)
    throw base::UsageError(fmt::format("a group of some of the {} threads has none of number {}",
                                       threads_of_plan, threads_[ranks.back()]));
  for (std::size_t place = 1; place < ranks.size(); ++place)
    if (threads_[ranks[place - 1]] == threads_[ranks[place]])
      throw base::UsageError(fmt::format(
          "a group has each thread once, and that has number {} twice", threads_[ranks[place]]));
  if (std::is_sorted(ranks.begin(), ranks.end())) return;
  places_.resize(ranks.size());
  for (std::uint32_t place = 0; place < ranks.size(); ++place) places_[ranks[place]] = place;
  ranks_ = std::move(ranks);
}

Layout::Layout(const paths::Plan& plan, const std::vector<std::uint32_t>* threads) {
  const std::uint32_t all = plan.thread_count();
  if (threads != nullptr && !are_all(*threads, all)) {
    threads_ = *threads;
    order(all);
  }
  const std::uint32_t count = threads_.empty() ? all : static_cast<std::uint32_t>(threads_.size());
  std::uint32_t place = 0;
  for (std::uint32_t host = 0; host < plan.hosts.size() && place < count; ++host) {
    const std::uint32_t behind = plan.hosts[host].first_thread + plan.hosts[host].threads;
    if (plan.hosts[host].threads == 0 || thread_at(place) >= behind) continue;
    hosts_.push_back(host);
    first_.push_back(place);
    if (threads_.empty()) place = behind;
    while (place < count && thread_at(place) < behind) ++place;
  }
  first_.push_back(place);
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

std::uint64_t Layout::digest() const {
  return threads_.empty() ? 0 : base::digest_of(std::as_bytes(std::span(threads_))).low;
}

bool Layout::has(const std::vector<std::uint32_t>* threads) const {
  if (!threads_.empty()) return threads != nullptr && *threads == threads_;
  return threads == nullptr || are_all(*threads, size());
}

std::uint32_t Layout::participant_at(std::uint32_t place) const {
  return static_cast<std::uint32_t>(std::upper_bound(first_.begin(), first_.end() - 1, place) -
                                    first_.begin() - 1);
}

namespace {

bool has_blocks(Collective collective) {
  return collective == Collective::gather || collective == Collective::scatter ||
         collective == Collective::allgather || collective == Collective::reduce_scatter;
}

std::uint64_t sum_of(std::uint64_t left, std::uint64_t right) {
  if (left > std::numeric_limits<std::uint64_t>::max() - right)
    throw base::UsageError("the counts are together more than 64 bits can hold");
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
    begins_.push_back(total_);
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

/// Returns the counts of an alltoall for each pair of hosts.
collectives::Counts CallCounts::pairs_of_hosts(const Layout& layout) const {
  const auto hosts = static_cast<std::uint32_t>(layout.hosts().size());
  std::vector<std::uint64_t> counts;
  for (std::uint32_t from = 0; from < hosts; ++from)
    for (std::uint32_t to = 0; to < hosts; ++to) {
      std::uint64_t count = 0;
      for (std::uint32_t at = layout.first_on(from); at < layout.first_on(from + 1); ++at)
        layout.each_run(to, [&](std::uint32_t first, std::uint32_t behind) {
          count += given_before(layout.rank(at), behind) - given_before(layout.rank(at), first);
        });
      counts.push_back(count);
    }
  return collectives::Counts::listed(counts);
}

collectives::Counts CallCounts::between_hosts(const Layout& layout, Collective between) const {
  using collectives::Counts;
  const auto hosts = static_cast<std::uint32_t>(layout.hosts().size());
  const std::uint64_t members = layout.members_on(0);
  // If hosts gather the values of a reduction, the block of each member is its whole vector.
  const bool has_vectors = between != call_.collective && has_blocks(between);
  const bool are_alike = (is_even_ || has_vectors) && layout.is_even();
  if (between == Collective::barrier) return Counts::each(1, 1);
  if (between == Collective::alltoall)
    return are_alike ? Counts::each(each_ * members * members, std::size_t{hosts} * hosts)
                     : pairs_of_hosts(layout);
  if (!has_blocks(between)) return Counts::each(total_, 1);
  if (are_alike) return Counts::each((has_vectors ? total_ : each_) * members, hosts);
  std::vector<std::uint64_t> counts(hosts);
  for (std::uint32_t host = 0; host < hosts; ++host)
    layout.each_run(host, [&](std::uint32_t first, std::uint32_t behind) {
      counts[host] += has_vectors ? (behind - first) * total_ : before(behind) - before(first);
    });
  return Counts::listed(counts);
}

std::string CallCounts::text() const {
  if (is_even_) return fmt::format("{}", each_);
  return "counts " + base::digest_of(std::as_bytes(std::span(counts_))).text();
}

}  // namespace groups
