// SPDX-License-Identifier: Apache-2.0
// paths/config/algorithms/transfers.cpp — transfers of tuples from one cluster to another.
#include "paths/config/expand/cluster_transfers.hpp"

namespace paths {

using expansion::ClusterTransfers;

TransferWord pull_word() {
  TransferWord word;
  word.name = "pull";
  word.help = "A root keeps asking the others for their newest tuple (Bongo et al. 2004).";
  word.expand = [](ClusterTransfers& transfers, std::uint32_t into, std::uint32_t from) {
    transfers.write_prefetch(into, from);
  };
  return word;
}

TransferWord push_word() {
  TransferWord word;
  word.name = "push";
  word.help = "A root sends its tuples unrequested (Kielmann et al. 1999).";
  word.expand = [](ClusterTransfers& transfers, std::uint32_t into, std::uint32_t from) {
    transfers.write_push(into, from);
  };
  return word;
}

TransferWord demand_word() {
  TransferWord word;
  word.name = "demand";
  word.help = "A root that cannot decide asks for one tuple.";
  word.asks = true;
  word.expand = [](ClusterTransfers& transfers, std::uint32_t into, std::uint32_t from) {
    transfers.write_asks(into, from);
    transfers.write_push(into, from);
  };
  return word;
}

TransferWord subscribe_word() {
  TransferWord word = demand_word();
  word.name = "subscribe";
  word.help = "A root that cannot decide asks for several tuples at once.";
  word.settings = {
      {"tuples", "integer from 1 to 1000000", "required", "Number of tuples to ask for."}};
  word.with_one = "demand";
  return word;
}

}  // namespace paths
