// SPDX-License-Identifier: Apache-2.0
// paths/messages/carriers/shared_clocks.cpp — comparison of clocks, and computation of lateness
#include "paths/messages/carriers/shared_clocks.hpp"

#include "paths/one_machine.hpp"
#include "runtime/processes/machine.hpp"

namespace paths {

SharedClocks::SharedClocks(runtime::Runtime& runtime, const Peers& peers, std::uint32_t host)
    : runtime_(runtime),
      peers_(peers),
      host_(host),
      identity_(runtime.is_virtual() ? 0 : runtime::steady_clock_identity()) {}

void SharedClocks::compare(std::uint32_t host, std::uint64_t identity) {
  const bool is_ours = identity_ != 0 && identity == identity_ &&
                       are_of_one_machine(peers_.hosts[host_].address, peers_.hosts[host].address);
  if (is_ours) hosts_.insert(host);
}

void SharedClocks::add_lateness(LaneFrame& frame) const {
  if (frame.head == base::Nanos(0)) return;
  const base::Nanos late = runtime_.steady_at_zero() + runtime_.now() - frame.head;
  const base::Nanos on_way = late - frame.late;
  if (on_way >= base::Nanos(0) && on_way <= peers_.deadline) frame.late = late;
}

}  // namespace paths
