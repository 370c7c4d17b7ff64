// SPDX-License-Identifier: Apache-2.0
// groups/local.cpp — folding, lining up, handing out.
#include "groups/local.hpp"

#include <cstring>

namespace groups {
namespace {

using collectives::Collective;

/// Of a contribution, which nobody writes: a schedule's `in` never is.
std::span<std::byte> as_lent(std::span<const std::byte> bytes) {
  return {const_cast<std::byte*>(bytes.data()), bytes.size()};
}

void put(std::span<std::byte> to, std::span<const std::byte> from) {
  if (!from.empty() && to.data() != from.data()) std::memmove(to.data(), from.data(), from.size());
}

bool is_scan(Collective collective) {
  return collective == Collective::scan || collective == Collective::exscan;
}

}  // namespace

Collective Local::between_hosts(Collective collective, const Layout& layout) {
  return is_scan(collective) && !layout.has_one_each() ? Collective::exscan : collective;
}

Local::Local(const Layout& layout, std::uint32_t me, const std::vector<const Call*>& calls,
             const CallCounts& counts, Fold& fold, std::size_t element_bytes)
    : layout_(layout),
      me_(me),
      calls_(calls),
      counts_(counts),
      fold_(fold),
      element_bytes_(element_bytes) {
  lend_in();
  lend_out();
}

/// The call of the root, if that is on this host.
const Call* Local::root_here() const {
  const std::uint32_t root = first().root;
  if (layout_.participant_of(root) != me_) return nullptr;
  return calls_[root - layout_.first_on(me_)];
}

std::span<std::byte> Local::made(base::Buffer& buffer, std::size_t bytes) {
  buffer = base::Buffer(bytes);
  return buffer.bytes();
}

void Local::lend_in() {
  const Collective collective = first().collective;
  if (collective == Collective::barrier || collective == Collective::broadcast) return;
  if (collective == Collective::scatter) {
    if (const Call* root = root_here()) in_ = as_lent(root->in);
    return;
  }
  if (calls_.size() > 1) {
    if (collective == Collective::alltoall) return line_up_pairs();
    return is_reduction(collective) ? fold_in() : line_up_in();
  }
  in_ = as_lent(first().in);
  if (in_.empty() || in_.data() != first().out.data()) return;
  put(made(in_made_, in_.size()), in_);
  in_ = in_made_.bytes();
}

void Local::fold_in() {
  in_ = made(in_made_, first().in.size());
  fold_(in_, calls_[0]->in, calls_[1]->in);
  for (std::size_t member = 2; member < calls_.size(); ++member)
    fold_(in_, in_, calls_[member]->in);
}

void Local::line_up_in() {
  std::size_t all = 0, at = 0;
  for (const Call* call : calls_) all += call->in.size();
  in_ = made(in_made_, all);
  for (const Call* call : calls_) {
    put(in_.subspan(at), call->in);
    at += call->in.size();
  }
}

/// By hosts they are for, then by members here, then by members there.
void Local::line_up_pairs() {
  std::size_t all = 0, at = 0;
  for (const Call* call : calls_) all += call->in.size();
  in_ = made(in_made_, all);
  for (std::uint32_t host = 0; host < layout_.hosts().size(); ++host)
    for (std::size_t member = 0; member < calls_.size(); ++member) {
      const std::size_t begin = bytes(counts_.given_before(rank(member), layout_.first_on(host)));
      const std::size_t end = bytes(counts_.given_before(rank(member), layout_.first_on(host + 1)));
      put(in_.subspan(at), calls_[member]->in.subspan(begin, end - begin));
      at += end - begin;
    }
}

void Local::lend_out() {
  switch (const Collective collective = first().collective) {
    case Collective::barrier: return;
    case Collective::reduce:
    case Collective::gather:
      if (const Call* root = root_here()) out_ = root->out;
      return;
    case Collective::broadcast: {
      const Call* const root = root_here();
      out_ = (root != nullptr ? root : calls_.front())->out;
      return;
    }
    case Collective::allreduce:
    case Collective::allgather: out_ = first().out; return;
    default: {
      if (is_scan(collective) && !layout_.has_one_each()) {
        if (me_ > 0) out_ = made(out_made_, first().in.size());
        return;
      }
      if (calls_.size() == 1) {
        const bool gets_nothing = collective == Collective::exscan && me_ == 0;
        out_ = gets_nothing ? std::span<std::byte>() : first().out;
        return;
      }
      std::size_t all = 0;
      for (const Call* call : calls_) all += call->out.size();
      out_ = made(out_made_, all);
    }
  }
}

void Local::distribute() {
  switch (const Collective collective = first().collective) {
    case Collective::broadcast:
    case Collective::allreduce:
    case Collective::allgather: return copy_all();
    case Collective::scatter:
    case Collective::reduce_scatter: return hand_out_blocks();
    case Collective::alltoall: return hand_out_pairs();
    default:
      if (!is_scan(collective)) return;
      if (!layout_.has_one_each()) hand_out_prefixes();
      normalize_prefixes();
  }
}

/// With the first's nothing was combined.
void Local::normalize_prefixes() {
  const bool has_none = first().collective == Collective::exscan && me_ == 0;
  for (std::size_t member = has_none ? 1 : 0; member < calls_.size(); ++member)
    fold_.alone(calls_[member]->out);
}

void Local::copy_all() {
  for (const Call* call : calls_) put(call->out, out_);
}

void Local::hand_out_blocks() {
  std::size_t at = 0;
  for (const Call* call : calls_) {
    put(call->out, out_.subspan(at, call->out.size()));
    at += call->out.size();
  }
}

void Local::hand_out_pairs() {
  if (calls_.size() == 1) return;
  std::size_t at = 0;
  for (std::uint32_t source = 0; source < layout_.size(); ++source)
    for (std::size_t member = 0; member < calls_.size(); ++member) {
      const std::size_t count = bytes(counts_.pair(source, rank(member)));
      const std::size_t begin = bytes(counts_.taken_before(rank(member), source));
      put(calls_[member]->out.subspan(begin), out_.subspan(at, count));
      at += count;
    }
}

/// What hosts before this one have given, then each member's own.
void Local::hand_out_prefixes() {
  base::Buffer sum_made, next_made;
  std::span<std::byte> sum = made(sum_made, first().in.size());
  std::span<std::byte> next = made(next_made, first().in.size());
  bool has_sum = me_ > 0;
  put(sum, out_);
  for (const Call* call : calls_) {
    if (has_sum)
      fold_(next, sum, call->in);
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
