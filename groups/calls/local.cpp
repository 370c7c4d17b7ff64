// SPDX-License-Identifier: Apache-2.0
// groups/calls/local.cpp — folding, concatenation and distribution of the members' values.
#include "groups/calls/local.hpp"

#include <algorithm>
#include <cstring>

#include "groups/calls/memory.hpp"

namespace groups {
namespace {

using collectives::Collective;

/// Casts away const, because the interface of schedules requires writable input. No schedule writes
/// to its input.
std::span<std::byte> as_lent(std::span<const std::byte> bytes) {
  return {const_cast<std::byte*>(bytes.data()), bytes.size()};
}

bool is_scan(Collective collective) {
  return collective == Collective::scan || collective == Collective::exscan;
}

/// Calls `copy(by_rank, by_host, bytes)` for each run of blocks. `by_rank` is the byte offset of
/// the run in a vector ordered by rank, `by_host` in a vector ordered by host.
template <class Copy>
void each_run(const Layout& layout, const CallCounts& counts, std::size_t element_bytes,
              const Copy& copy) {
  std::size_t at = 0;
  for (std::uint32_t host = 0; host < layout.hosts().size(); ++host)
    layout.each_run(host, [&](std::uint32_t first, std::uint32_t behind) {
      const std::size_t begin = counts.before(first) * element_bytes;
      const std::size_t size = counts.before(behind) * element_bytes - begin;
      copy(begin, at, size);
      at += size;
    });
}

}  // namespace

Collective Local::between_hosts(const Call& call, const Layout& layout) {
  const bool folds = is_reduction(call.collective) && call.collective != Collective::barrier;
  const bool needs_ranks = is_scan(call.collective) ||
                           (folds && !base::reduce_operation(call.operation)->is_commutative);
  if (needs_ranks && !layout.is_in_order())
    return call.collective == Collective::reduce ? Collective::gather : Collective::allgather;
  return is_scan(call.collective) && !layout.has_one_each() ? Collective::exscan : call.collective;
}

Local::Local(const Layout& layout, std::uint32_t me, const Calls& calls, const CallCounts& counts,
             Fold& fold, std::size_t element_bytes)
    : layout_(layout),
      me_(me),
      calls_(calls),
      counts_(counts),
      fold_(fold),
      member_fold_(fold, calls, layout.first_on(me), element_bytes),
      element_bytes_(element_bytes),
      between_(between_hosts(first(), layout)) {
  lend_in();
  lend_out();
}

/// Returns the call of the root if the root is on this host; nullptr otherwise.
const Call* Local::root_here() const {
  const std::uint32_t place = layout_.place(first().root);
  if (layout_.participant_at(place) != me_) return nullptr;
  return calls_[place - layout_.first_on(me_)].get();
}

void Local::put(std::span<std::byte> to, std::span<const std::byte> from) const {
  if (has_values() && !from.empty() && to.data() != from.data())
    std::memmove(to.data(), from.data(), from.size());
}

std::span<std::byte> Local::made(base::Buffer& buffer, std::size_t bytes) const {
  if (!has_values()) return memory_of_nothing(bytes);
  buffer = base::Buffer(bytes);
  return buffer.bytes();
}

/// Returns whether the members' values are checked later, so that they need no check now. Folding
/// with a built-in operation checks the values of several members. The schedule checks the values
/// of a single member, except in an exclusive scan between hosts: there the schedule may leave some
/// values unfolded, and thus unchecked.
bool Local::is_checked_later() const {
  if (!fold_.is_built_in() || gathers_values()) return false;
  return calls_.size() > 1 || between_ != Collective::exscan;
}

bool Local::is_in_unchecked() const {
  const Collective collective = first().collective;
  return is_reduction(collective) && collective != Collective::barrier && has_values() &&
         calls_.size() == 1 && is_checked_later();
}

void Local::name_contributor() const {
  if (calls_.size() == 1 && !given_.empty()) member_fold_.check(0, given_, 0);
}

void Local::lend_in() {
  const Collective collective = first().collective;
  if (collective == Collective::barrier || collective == Collective::broadcast) return;
  if (collective == Collective::scatter) {
    if (const Call* root = root_here()) in_ = as_lent(root->in);
    return order_by_host();
  }
  if (collective == Collective::alltoall && (calls_.size() > 1 || !layout_.is_in_order()))
    return line_up_pairs();
  if (!is_checked_later() && is_reduction(collective) && has_values())
    for (std::size_t member = 0; member < calls_.size(); ++member)
      member_fold_.check(member, calls_[member]->in, 0);
  if (calls_.size() > 1) {
    if (!is_reduction(collective) || gathers_values()) {
      line_up_in();
    } else if (collective == Collective::allreduce && layout_.hosts().size() == 1) {
      fold_into_all();
    } else {
      in_ = made(in_made_, first().in.size());
      member_fold_.fold_all(in_, 0);
    }
  } else {
    in_ = as_lent(first().in);
    given_ = in_;
  }
  if (collective == Collective::reduce_scatter && !gathers_values()) order_by_host();
}

void Local::separate_in() {
  if (calls_.size() > 1 || in_.empty() || in_.data() != first().out.data() || gathers_values())
    return;
  const std::span<std::byte> copy = made(in_made_, in_.size());
  put(copy, in_);
  in_ = copy;
  given_ = copy;
}

void Local::order_by_host() {
  if (layout_.is_in_order() || in_.empty()) return;
  const std::span<std::byte> to = made(in_ordered_, in_.size());
  const auto copy = [&](std::size_t by_rank, std::size_t by_host, std::size_t size) {
    put(to.subspan(by_host), in_.subspan(by_rank, size));
  };
  each_run(layout_, counts_, element_bytes_, copy);
  in_ = to;
}

void Local::order_by_rank(std::span<std::byte> to) const {
  const auto copy = [&](std::size_t by_rank, std::size_t by_host, std::size_t size) {
    put(to.subspan(by_rank), out_.subspan(by_host, size));
  };
  each_run(layout_, counts_, element_bytes_, copy);
}

/// Folds the contributions of a group that is on one host. Copies each part of the result to all
/// members while the part is in the processor's cache.
void Local::fold_into_all() {
  constexpr std::size_t cached_bytes = 64 << 10;
  in_ = first().out;
  if (!has_values()) return;
  const std::size_t stretch_bytes = fold_.whole_elements(cached_bytes);
  for (std::size_t at = 0; at < in_.size(); at += stretch_bytes) {
    const std::size_t size = std::min(stretch_bytes, in_.size() - at);
    const std::span<std::byte> sum = in_.subspan(at, size);
    member_fold_.fold_all(sum, at);
    for (std::size_t member = 1; member < calls_.size(); ++member)
      put(calls_[member]->out.subspan(at, size), sum);
  }
}

void Local::line_up_in() {
  std::size_t all = 0, at = 0;
  for (const auto& call : calls_) all += call->in.size();
  in_ = made(in_made_, all);
  for (const auto& call : calls_) {
    put(in_.subspan(at), call->in);
    at += call->in.size();
  }
}

/// Copies the members' inputs of an alltoall to one array, sorted by target host, then by source
/// member, then by target member.
void Local::line_up_pairs() {
  std::size_t all = 0, at = 0;
  for (const auto& call : calls_) all += call->in.size();
  in_ = made(in_made_, all);
  for (std::uint32_t host = 0; host < layout_.hosts().size(); ++host)
    for (std::size_t member = 0; member < calls_.size(); ++member)
      layout_.each_run(host, [&](std::uint32_t first, std::uint32_t behind) {
        const std::size_t begin = bytes(counts_.given_before(rank(member), first));
        const std::size_t end = bytes(counts_.given_before(rank(member), behind));
        put(in_.subspan(at), calls_[member]->in.subspan(begin, end - begin));
        at += end - begin;
      });
}

void Local::lend_out() {
  const Collective collective = first().collective;
  const Call* const root = has_root(collective) ? root_here() : nullptr;
  if (gathers_values()) {
    if (collective != Collective::reduce || root != nullptr)
      out_ = made(out_made_, layout_.size() * bytes(counts_.vector()));
    return;
  }
  switch (collective) {
    case Collective::barrier: return;
    case Collective::reduce:
    case Collective::gather:
      if (root != nullptr) out_ = root->out;
      break;
    case Collective::broadcast: out_ = (root != nullptr ? root : &first())->out; return;
    case Collective::allreduce:
    case Collective::allgather: out_ = first().out; break;
    default: return lend_out_blocks();
  }
  const bool has_blocks = collective == Collective::gather || collective == Collective::allgather;
  if (has_blocks && !layout_.is_in_order()) out_ = made(out_made_, out_.size());
}

/// Provides the schedule's `out` for collectives in which each member gets a different result.
void Local::lend_out_blocks() {
  const Collective collective = first().collective;
  if (is_scan(collective) && !layout_.has_one_each()) {
    if (me_ > 0) out_ = made(out_made_, first().in.size());
    return;
  }
  const bool is_ordered = collective == Collective::alltoall && !layout_.is_in_order();
  if (calls_.size() == 1 && !is_ordered) {
    const bool gets_nothing = collective == Collective::exscan && me_ == 0;
    out_ = gets_nothing ? std::span<std::byte>() : first().out;
    return;
  }
  std::size_t all = 0;
  for (const auto& call : calls_) all += call->out.size();
  out_ = made(out_made_, all);
}

void Local::distribute() {
  if (!has_values()) return;
  if (gathers_values()) return fold_by_rank();
  switch (const Collective collective = first().collective) {
    case Collective::gather:
      if (const Call* root = root_here(); root != nullptr && !layout_.is_in_order())
        order_by_rank(root->out);
      return;
    case Collective::allgather:
      if (!layout_.is_in_order()) {
        order_by_rank(first().out);
        out_ = first().out;
      }
      return copy_all();
    case Collective::allreduce:
      // The members already have the result: fold_into_all() has stored it.
      if (in_.data() == out_.data()) return;
      return copy_all();
    case Collective::broadcast: return copy_all();
    case Collective::scatter:
    case Collective::reduce_scatter: return hand_out_blocks();
    case Collective::alltoall: return hand_out_pairs();
    default:
      if (!is_scan(collective)) return;
      if (!layout_.has_one_each()) hand_out_prefixes();
      // Normalizes the results. The result of the first member was not combined with other values,
      // so it is not normalized yet.
      const bool has_none = collective == Collective::exscan && me_ == 0;
      for (std::size_t member = has_none ? 1 : 0; member < calls_.size(); ++member)
        fold_.alone(calls_[member]->out);
  }
}

/// Folds the contributions of all members in rank order, and stores the results. Before the call,
/// `out_` contains the gathered contributions in the order of places.
void Local::fold_by_rank() {
  if (out_.empty()) return;
  const Collective collective = first().collective;
  base::Buffer made_sum;
  const std::span<std::byte> sum = made(made_sum, bytes(counts_.vector()));
  const auto hand_to = [&](std::uint32_t rank) {
    const std::uint32_t place = layout_.place(rank);
    if (layout_.participant_at(place) != me_) return;
    const std::span<std::byte> to = calls_[place - layout_.first_on(me_)]->out;
    put(to, sum);
    fold_.alone(to);
  };
  for (std::uint32_t rank = 0; rank < layout_.size(); ++rank) {
    const auto next = out_.subspan(layout_.place(rank) * sum.size(), sum.size());
    if (collective == Collective::exscan && rank > 0) hand_to(rank);
    if (rank == 0)
      put(sum, next);
    else
      member_fold_.fold_one(layout_.place(rank), sum, sum, next);
    if (collective == Collective::scan) hand_to(rank);
  }
  if (is_scan(collective)) return;
  for (std::size_t member = 0; member < calls_.size(); ++member) {
    const std::span<std::byte> to = calls_[member]->out;
    const bool is_block = collective == Collective::reduce_scatter;
    put(to, sum.subspan(is_block ? bytes(counts_.before(rank(member))) : 0, to.size()));
  }
}

void Local::copy_all() {
  for (const auto& call : calls_) put(call->out, out_);
}

void Local::hand_out_blocks() {
  std::size_t at = 0;
  for (const auto& call : calls_) {
    put(call->out, out_.subspan(at, call->out.size()));
    at += call->out.size();
  }
}

void Local::hand_out_pairs() {
  if (calls_.size() == 1 && layout_.is_in_order()) return;
  std::size_t at = 0;
  for (std::uint32_t place = 0; place < layout_.size(); ++place)
    for (std::size_t member = 0; member < calls_.size(); ++member) {
      const std::uint32_t source = layout_.rank(place);
      const std::size_t count = bytes(counts_.pair(source, rank(member)));
      const std::size_t begin = bytes(counts_.taken_before(rank(member), source));
      put(calls_[member]->out.subspan(begin), out_.subspan(at, count));
      at += count;
    }
}

/// Stores the result of a scan in each member's array. Each result combines `out_`, the values of
/// earlier hosts, with the values of earlier members on this host.
void Local::hand_out_prefixes() {
  base::Buffer sum_made, next_made;
  std::span<std::byte> sum = made(sum_made, first().in.size());
  std::span<std::byte> next = made(next_made, first().in.size());
  bool has_sum = me_ > 0;
  put(sum, out_);
  for (std::size_t member = 0; member < calls_.size(); ++member) {
    const Call* const call = calls_[member].get();
    if (has_sum)
      member_fold_.fold_one(place(member), next, sum, call->in);
    else
      put(next, call->in);
    const bool is_inclusive = call->collective == Collective::scan;
    if (is_inclusive)
      put(call->out, next);
    else if (has_sum)
      put(call->out, sum);
    std::swap(sum, next);
    has_sum = true;
  }
}

}  // namespace groups
