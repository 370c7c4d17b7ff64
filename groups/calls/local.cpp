// SPDX-License-Identifier: Apache-2.0
// groups/calls/local.cpp — folding, concatenation and distribution of the members' values.
#include "groups/calls/local.hpp"

#include <algorithm>

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
void each_run(const Layout& layout, const CallCounts& counts, const Members& members,
              const Copy& copy) {
  std::size_t at = 0;
  for (std::uint32_t host = 0; host < layout.hosts().size(); ++host)
    layout.each_run(host, [&](std::uint32_t first, std::uint32_t behind) {
      const std::size_t begin = members.bytes(counts.before(first));
      const std::size_t size = members.bytes(counts.before(behind)) - begin;
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
      members_(layout, me, calls, element_bytes),
      counts_(counts),
      fold_(fold),
      member_fold_(fold, calls, layout.first_on(me), element_bytes),
      between_(between_hosts(members_.first(), layout)) {
  lend_in();
  lend_out();
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
  const Collective collective = members_.first().collective;
  return is_reduction(collective) && collective != Collective::barrier && members_.has_values() &&
         calls_.size() == 1 && is_checked_later();
}

void Local::name_contributor() const {
  if (calls_.size() == 1 && !given_.empty()) member_fold_.check(0, given_, 0);
}

void Local::lend_in() {
  const Collective collective = members_.first().collective;
  if (collective == Collective::barrier || collective == Collective::broadcast) return;
  if (collective == Collective::scatter) {
    if (const Call* root = members_.root_here()) in_ = as_lent(root->in);
    return order_by_host();
  }
  if (collective == Collective::alltoall && (calls_.size() > 1 || !layout_.is_in_order()))
    return line_up_pairs();
  if (!is_checked_later() && is_reduction(collective) && members_.has_values())
    for (std::size_t member = 0; member < calls_.size(); ++member)
      member_fold_.check(member, calls_[member]->in, 0);
  if (calls_.size() > 1) {
    if (!is_reduction(collective) || gathers_values()) {
      line_up_in();
    } else if (collective == Collective::allreduce && layout_.hosts().size() == 1) {
      fold_into_all();
    } else {
      in_ = members_.made(in_made_, members_.first().in.size());
      member_fold_.fold_all(in_, 0);
    }
  } else {
    in_ = as_lent(members_.first().in);
    given_ = in_;
  }
  if (collective == Collective::reduce_scatter && !gathers_values()) order_by_host();
}

void Local::separate_in() {
  if (calls_.size() > 1 || in_.empty() || in_.data() != members_.first().out.data() ||
      gathers_values())
    return;
  const std::span<std::byte> copy = members_.made(in_made_, in_.size());
  members_.put(copy, in_);
  in_ = copy;
  given_ = copy;
}

void Local::order_by_host() {
  if (layout_.is_in_order() || in_.empty()) return;
  const std::span<std::byte> to = members_.made(in_ordered_, in_.size());
  const auto copy = [&](std::size_t by_rank, std::size_t by_host, std::size_t size) {
    members_.put(to.subspan(by_host), in_.subspan(by_rank, size));
  };
  each_run(layout_, counts_, members_, copy);
  in_ = to;
}

void Local::order_by_rank(std::span<std::byte> to) const {
  const auto copy = [&](std::size_t by_rank, std::size_t by_host, std::size_t size) {
    members_.put(to.subspan(by_rank), out_.subspan(by_host, size));
  };
  each_run(layout_, counts_, members_, copy);
}

/// Folds the contributions of a group that is on one host. Copies each part of the result to all
/// members while the part is in the processor's cache.
void Local::fold_into_all() {
  constexpr std::size_t cached_bytes = 64 << 10;
  in_ = members_.first().out;
  if (!members_.has_values()) return;
  const std::size_t stretch_bytes = fold_.whole_elements(cached_bytes);
  for (std::size_t at = 0; at < in_.size(); at += stretch_bytes) {
    const std::size_t size = std::min(stretch_bytes, in_.size() - at);
    const std::span<std::byte> sum = in_.subspan(at, size);
    member_fold_.fold_all(sum, at);
    for (std::size_t member = 1; member < calls_.size(); ++member)
      members_.put(calls_[member]->out.subspan(at, size), sum);
  }
}

void Local::line_up_in() {
  std::size_t at = 0;
  in_ = members_.made(in_made_, members_.in_bytes());
  for (const auto& call : calls_) {
    members_.put(in_.subspan(at), call->in);
    at += call->in.size();
  }
}

/// Copies the members' inputs of an alltoall to one array, sorted by target host, then by source
/// member, then by target member.
void Local::line_up_pairs() {
  std::size_t at = 0;
  in_ = members_.made(in_made_, members_.in_bytes());
  for (std::uint32_t host = 0; host < layout_.hosts().size(); ++host)
    for (std::size_t member = 0; member < calls_.size(); ++member)
      layout_.each_run(host, [&](std::uint32_t first, std::uint32_t behind) {
        const std::size_t begin =
            members_.bytes(counts_.given_before(members_.rank(member), first));
        const std::size_t end = members_.bytes(counts_.given_before(members_.rank(member), behind));
        members_.put(in_.subspan(at), calls_[member]->in.subspan(begin, end - begin));
        at += end - begin;
      });
}

void Local::lend_out() {
  const Collective collective = members_.first().collective;
  const Call* const root = has_root(collective) ? members_.root_here() : nullptr;
  if (gathers_values()) {
    if (collective != Collective::reduce || root != nullptr)
      out_ = members_.made(out_made_, layout_.size() * members_.bytes(counts_.vector()));
    return;
  }
  switch (collective) {
    case Collective::barrier: return;
    case Collective::reduce:
    case Collective::gather:
      if (root != nullptr) out_ = root->out;
      break;
    case Collective::broadcast: out_ = (root != nullptr ? root : &members_.first())->out; return;
    case Collective::allreduce:
    case Collective::allgather: out_ = members_.first().out; break;
    default: return lend_out_blocks();
  }
  const bool has_blocks = collective == Collective::gather || collective == Collective::allgather;
  if (has_blocks && !layout_.is_in_order()) out_ = members_.made(out_made_, out_.size());
}

/// Provides the schedule's `out` for collectives in which each member gets a different result.
void Local::lend_out_blocks() {
  const Collective collective = members_.first().collective;
  if (is_scan(collective) && !layout_.has_one_each()) {
    if (me_ > 0) out_ = members_.made(out_made_, members_.first().in.size());
    return;
  }
  const bool is_ordered = collective == Collective::alltoall && !layout_.is_in_order();
  if (calls_.size() == 1 && !is_ordered) {
    const bool gets_nothing = collective == Collective::exscan && me_ == 0;
    out_ = gets_nothing ? std::span<std::byte>() : members_.first().out;
    return;
  }
  out_ = members_.made(out_made_, members_.out_bytes());
}

void Local::distribute() {
  if (!members_.has_values()) return;
  if (gathers_values()) return fold_by_rank();
  switch (const Collective collective = members_.first().collective) {
    case Collective::gather:
      if (const Call* root = members_.root_here(); root != nullptr && !layout_.is_in_order())
        order_by_rank(root->out);
      return;
    case Collective::allgather:
      if (!layout_.is_in_order()) {
        order_by_rank(members_.first().out);
        out_ = members_.first().out;
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
  const Collective collective = members_.first().collective;
  base::Buffer made_sum;
  const std::span<std::byte> sum = members_.made(made_sum, members_.bytes(counts_.vector()));
  const auto hand_to = [&](std::uint32_t rank) {
    const std::uint32_t place = layout_.place(rank);
    if (layout_.participant_at(place) != me_) return;
    const std::span<std::byte> to = calls_[place - layout_.first_on(me_)]->out;
    members_.put(to, sum);
    fold_.alone(to);
  };
  for (std::uint32_t rank = 0; rank < layout_.size(); ++rank) {
    const auto next = out_.subspan(layout_.place(rank) * sum.size(), sum.size());
    if (collective == Collective::exscan && rank > 0) hand_to(rank);
    if (rank == 0)
      members_.put(sum, next);
    else
      member_fold_.fold_one(layout_.place(rank), sum, sum, next);
    if (collective == Collective::scan) hand_to(rank);
  }
  if (is_scan(collective)) return;
  for (std::size_t member = 0; member < calls_.size(); ++member) {
    const std::span<std::byte> to = calls_[member]->out;
    const bool is_block = collective == Collective::reduce_scatter;
    members_.put(to,
                 sum.subspan(is_block ? members_.bytes(counts_.before(members_.rank(member))) : 0,
                             to.size()));
  }
}

void Local::copy_all() {
  for (const auto& call : calls_) members_.put(call->out, out_);
}

void Local::hand_out_blocks() {
  std::size_t at = 0;
  for (const auto& call : calls_) {
    members_.put(call->out, out_.subspan(at, call->out.size()));
    at += call->out.size();
  }
}

void Local::hand_out_pairs() {
  if (calls_.size() == 1 && layout_.is_in_order()) return;
  std::size_t at = 0;
  for (std::uint32_t place = 0; place < layout_.size(); ++place)
    for (std::size_t member = 0; member < calls_.size(); ++member) {
      const std::uint32_t source = layout_.rank(place);
      const std::size_t count = members_.bytes(counts_.pair(source, members_.rank(member)));
      const std::size_t begin = members_.bytes(counts_.taken_before(members_.rank(member), source));
      members_.put(calls_[member]->out.subspan(begin), out_.subspan(at, count));
      at += count;
    }
}

/// Stores the result of a scan in each member's array. Each result combines `out_`, the values of
/// earlier hosts, with the values of earlier members on this host.
void Local::hand_out_prefixes() {
  base::Buffer sum_made, next_made;
  std::span<std::byte> sum = members_.made(sum_made, members_.first().in.size());
  std::span<std::byte> next = members_.made(next_made, members_.first().in.size());
  bool has_sum = me_ > 0;
  members_.put(sum, out_);
  for (std::size_t member = 0; member < calls_.size(); ++member) {
    const Call* const call = calls_[member].get();
    if (has_sum)
      member_fold_.fold_one(members_.place(member), next, sum, call->in);
    else
      members_.put(next, call->in);
    const bool is_inclusive = call->collective == Collective::scan;
    if (is_inclusive)
      members_.put(call->out, next);
    else if (has_sum)
      members_.put(call->out, sum);
    std::swap(sum, next);
    has_sum = true;
  }
}

}  // namespace groups
