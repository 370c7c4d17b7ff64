// SPDX-License-Identifier: Apache-2.0
// paths/config/expand/exchange.cpp — elements and paths between each thread and its neighbours.
#include "paths/config/expand/exchange.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace paths::expansion {
namespace {

using base::Settings;
using Exchange = MultiCluster::Exchange;

/// Maximum number of threads of an exchange. An exchange has elements for every thread, so a larger
/// number of threads, such as a million, is probably a typing error.
constexpr std::uint64_t exchanging_threads_max = 100'000;

class Passing {
 public:
  Passing(const MultiCluster& all, const Exchange& exchange, const Machines& machines,
          Writer& writer, Routes& routes)
      : all_(all), exchange_(exchange), machines_(machines), writer_(writer), routes_(routes) {}

  /// Writes the element through which the threads of `receiver` get tuples from the threads of
  /// `mover`. Also writes the paths of all these threads to the element.
  void write(const std::string& element, const Threads& mover, const Threads& receiver) {
    const base::Position& position = exchange_.name.position();
    const Settings name = word(element, position);
    std::vector<Settings::Entry> settings{
        entry("host", word(all_.host_name(receiver.host), position)),
        entry("template", exchange_.tuple_template)};
    // If only threads of the receiving host move into the element, no other process needs to map
    // the element. The element is then not shared, even if the receiving host shares its other
    // elements.
    if (!exchange_.shared.is_null() && mover.host != receiver.host)
      settings.push_back(entry("shared", exchange_.shared));
    else if (all_.hosts[receiver.host].space.text() == "shared")
      settings.push_back(entry("shared", word("false", position)));
    writer_.element(name, Settings::map(std::move(settings), position));
    writer_.graph(name, {entry("kind", word("exchange", position)), entry("of", exchange_.name)});
    Way way;
    routes_.route(way, mover.host, receiver.host, exchange_.name);
    machines_.map_if_near(way, mover.host, exchange_, name, receiver.host);
    way.push_back(
        // The element gets an error mark when a move fails and when the path ends.
        marked_store(element, "true", position));
    writer_.path(name, mover, std::move(way), exchange_.instrumented);
    writer_.path(name, receiver, {store(element, position)}, exchange_.instrumented);
  }

 private:
  const MultiCluster& all_;
  const Exchange& exchange_;
  const Machines& machines_;
  Writer& writer_;
  Routes& routes_;
};

}  // namespace

void write_exchange(const MultiCluster& all, const Exchange& exchange, const Machines& machines,
                    Writer& writer, Routes& routes, base::Mistakes& mistakes) {
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
  Passing passing(all, exchange, machines, writer, routes);
  const auto pass = [&](std::size_t from, std::size_t into, std::string_view where) {
    const std::string element = fmt::format("{}.{}.{}", exchange.name.text(), into, where);
    passing.write(element, ranks[from], ranks[into]);
  };
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (rank > 0) pass(rank - 1, rank, "from_previous");
    if (rank + 1 < ranks.size()) pass(rank + 1, rank, "from_next");
  }
}

}  // namespace paths::expansion
