// SPDX-License-Identifier: Apache-2.0
// paths/config/expand/exchange.cpp — one element for each direction in which a neighbour sends.
#include "paths/config/expand/exchange.hpp"

#include <fmt/format.h>

#include <utility>

namespace paths::expansion {
namespace {

using base::Settings;
using Exchange = MultiCluster::Exchange;

/// An exchange has elements for every thread, and a million threads may be a typing error.
constexpr std::uint64_t exchanging_threads_max = 100'000;

/// `element` is where `receiver` gets what `mover` sends.
void write_passing(const MultiCluster& all, const Exchange& exchange, const std::string& element,
                   const Threads& mover, const Threads& receiver, Writer& writer, Routes& routes) {
  const base::Position& position = exchange.name.position();
  const Settings name = word(element, position);
  writer.element(name, Settings::map({entry("host", word(all.host_name(receiver.host), position)),
                                      entry("template", exchange.tuple_template)},
                                     position));
  writer.graph(name, {entry("kind", word("exchange", position)), entry("of", exchange.name)});
  Way way;
  routes.route(way, mover.host, receiver.host, exchange.name);
  way.push_back(marked_store(element, "true", position));  // its end is told
  writer.path(name, mover, std::move(way), exchange.instrumented);
  writer.path(name, receiver, {store(element, position)}, exchange.instrumented);
}

}  // namespace

void write_exchange(const MultiCluster& all, const Exchange& exchange, Writer& writer,
                    Routes& routes, base::Mistakes& mistakes) {
  const std::uint64_t count = all.thread_count();
  if (count > exchanging_threads_max) {
    mistakes.add(exchange.name.position(),
                 fmt::format("exchange {}: expected at most {} threads, found {}",
                             exchange.name.text(), exchanging_threads_max, count));
    return;
  }
  std::vector<Threads> ranks;
  for (std::uint32_t host = 0; host < all.hosts.size(); ++host)
    for (std::uint32_t thread = 0; thread < all.hosts[host].threads; ++thread)
      ranks.push_back({host, thread, 1});
  const auto pass = [&](std::size_t from, std::size_t into, std::string_view where) {
    const std::string element = fmt::format("{}.{}.{}", exchange.name.text(), into, where);
    write_passing(all, exchange, element, ranks[from], ranks[into], writer, routes);
  };
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (rank > 0) pass(rank - 1, rank, "from_previous");
    if (rank + 1 < ranks.size()) pass(rank + 1, rank, "from_next");
  }
}

}  // namespace paths::expansion
