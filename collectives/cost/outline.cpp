// SPDX-License-Identifier: Apache-2.0
// collectives/cost/outline.cpp — digest and byte counts of a schedule, step by step.
#include "collectives/cost/outline.hpp"

namespace pricing {
namespace {

using base::Nanos;
using collectives::Action;
using collectives::Block;
using collectives::Rank;
using collectives::Step;
using collectives::Steps;

struct Loads {
  std::vector<Bytes> sent, received, links;

  explicit Loads(const Network& network)
      : sent(network.outgoing.size()),
        received(network.receiving.size()),
        links(network.links.size()) {}
  void add(Rank from, Rank to, Bytes bytes, const Network& network) {
    network.for_way(from, to, [&](Network::Part part, std::size_t index) {
      std::vector<Bytes>& loads = part == Network::Part::link       ? links
                                  : part == Network::Part::outgoing ? sent
                                                                    : received;
      loads[index] += bytes;
    });
  }
  Nanos largest(const Network& network) const {
    Nanos largest{0};
    for (std::size_t host = 0; host < sent.size(); ++host) {
      largest = std::max(largest, least_time(sent[host], rate_of(network.outgoing[host])));
      largest = std::max(largest, least_time(received[host], rate_of(network.receiving[host])));
    }
    for (std::size_t link = 0; link < links.size(); ++link)
      largest = std::max(largest, least_time(links[link], rate_of(network.links[link])));
    return largest;
  }
};

}  // namespace

void append(std::vector<std::uint64_t>& numbers, const Step& step) {
  numbers.insert(numbers.end(), {static_cast<std::uint64_t>(step.action), step.peer, step.channel,
                                 step.blocks.size()});
  for (const Block& block : step.blocks)
    numbers.insert(numbers.end(), {static_cast<std::uint64_t>(block.buffer.storage),
                                   block.buffer.index, block.cells.offset, block.cells.count});
}

Outline outline_of(const std::vector<collectives::Program>& programs, Bytes element_bytes,
                   const Network& network) {
  Loads loads(network);
  std::size_t messages = 0;
  base::RunningDigest digest;
  Steps steps;
  std::vector<std::uint64_t> numbers;
  for (Rank me = 0; me < programs.size(); ++me)
    for (collectives::Count portion = 0; portion < programs[me].portions(); ++portion) {
      steps.clear();
      numbers.assign({me, portion});
      programs[me].append(portion, steps);
      for (std::size_t index = 0; index < steps.size(); ++index) {
        const Step step = steps[index];
        append(numbers, step);
        if (step.action != Action::send) continue;
        ++messages;
        loads.add(me, step.peer, step.elements() * element_bytes, network);
      }
      digest.add(std::as_bytes(std::span(numbers)));
    }
  return {digest.value(), messages, loads.largest(network)};
}

}  // namespace pricing
