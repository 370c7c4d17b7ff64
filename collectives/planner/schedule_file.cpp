// SPDX-License-Identifier: Apache-2.0
// collectives/planner/schedule_file.cpp — printing and parsing of plans and schedules, with
// positions of mistakes.
#include "collectives/planner/schedule_file.hpp"

#include <fmt/format.h>

#include <limits>
#include <map>
#include <optional>
#include <stdexcept>

#include "base/near_match.hpp"
#include "collectives/algorithms/all.hpp"

namespace planning {
namespace {

using base::MapBuilder;
using base::Settings;
using pricing::Ports;

constexpr std::int64_t most_at_once = 1'000'000;

struct PortNumber {
  const char* key;
  std::size_t Ports::*value;
};
constexpr PortNumber port_numbers[] = {{"sending", &Ports::sending},
                                       {"receiving", &Ports::receiving},
                                       {"receiving_across", &Ports::receiving_across}};
struct PortFlag {
  const char* key;
  bool Ports::*value;
};
constexpr PortFlag port_flags[] = {{"apart", &Ports::are_apart},
                                   {"blocking", &Ports::blocks},
                                   {"half_duplex", &Ports::is_half_duplex},
                                   {"in_order", &Ports::are_in_order},
                                   {"grants_carried", &Ports::are_grants_carried}};

// ---- writing

template <class... Words>
Settings row(const std::string& first, const Words&... words) {
  return Settings::list({Settings::scalar(first), Settings::scalar(fmt::to_string(words))...});
}

Settings written_ports(const Ports& ports) {
  MapBuilder writer;
  for (const auto& [key, value] : port_numbers)
    if (ports.*value > 0) writer.add(key, fmt::to_string(ports.*value));
  for (const auto& [key, value] : port_flags)
    if (ports.*value) writer.add(key, "true");
  if (ports.cost > Nanos(0)) writer.add("overhead", base::format_time(ports.cost));
  return writer.done();
}

void add_plan(MapBuilder& writer, const Plan& plan, const Blocks& blocks) {
  std::vector<Settings> pieces, transfers;
  for (const Piece& piece : plan.pieces) {
    const collectives::Count begin = piece.cells.offset - plan.counts.block(piece.owner).offset;
    pieces.push_back(row(blocks.hosts[piece.owner], begin * blocks.element_bytes, piece.bytes));
  }
  for (const Transfer& one : plan.transfers)
    transfers.push_back(row(blocks.hosts[one.from], blocks.hosts[one.to], one.piece,
                            one.start.count(), one.end.count()));
  writer.add("pieces", Settings::list(std::move(pieces)));
  writer.add("transfers", Settings::list(std::move(transfers)));
}

// ---- reading

class Reader {
 public:
  Reader(const Settings& settings, const Blocks& blocks, base::Mistakes& mistakes)
      : top_(settings, mistakes, "the file of a schedule"), blocks_(blocks), mistakes_(mistakes) {
    for (Rank rank = 0; rank < blocks.hosts.size(); ++rank)
      ranks_.emplace(blocks.hosts[rank], rank);
  }

  std::optional<Contender> read() {
    const std::string name = top_.required_word("name", "what it is called");
    const auto streams = static_cast<std::size_t>(top_.integer("streams", 0, 0, most_at_once));
    const pricing::Execution execution{.ports = ports()};
    read_blocks(top_.take_required("blocks", "a map: hosts and the bytes of their blocks"));
    std::optional<Contender> contender;
    if (top_.has("schedule")) {
      contender = by_algorithm(top_.take("schedule"));
    } else {
      read_pieces(top_.take_required("pieces", "a list"));
      read_transfers(top_.take_required("transfers", "a list"));
      if (mistakes_.empty()) contender = contender_of(std::move(plan_), name, execution);
    }
    top_.finish();
    if (!contender) return std::nullopt;
    contender->name = name;
    contender->execution = execution;
    contender->striping = streams;
    return contender;
  }

 private:
  Ports ports() {
    Ports ports;
    base::MapReader reader(top_.take("ports"), mistakes_, "ports");
    for (const auto& [key, value] : port_numbers)
      ports.*value = static_cast<std::size_t>(reader.integer(key, 0, 0, most_at_once));
    for (const auto& [key, value] : port_flags) ports.*value = reader.flag(key, false);
    if (ports.is_half_duplex && ports.receiving == 0)
      reader.mistake("half_duplex", "expected `receiving` of at least 1 as well, found none");
    ports.cost = reader.time("overhead", Nanos(0));
    reader.finish();
    return ports;
  }

  std::optional<Contender> by_algorithm(const Settings& schedule) {
    if (!schedule.is_scalar()) {
      top_.mistake("schedule",
                   fmt::format("schedule: expected an algorithm, found {}", schedule.describe()));
      return std::nullopt;
    }
    const auto [name, parameters] = collectives::split_at_colon(schedule.text());
    try {
      const collectives::Algorithm& algorithm = collectives::algorithm_named(name);
      Contender contender;
      contender.algorithm = algorithm;
      contender.parameters = algorithm.read(parameters);
      // If the algorithm has the parameter `element`, it gets the element size of the caller's
      // operation, because the file may be for a different element size.
      if (contender.parameters.has("element"))
        contender.parameters.set("element", fmt::to_string(blocks_.element_bytes));
      if (!algorithm.does(collectives::Collective::allgather))
        throw std::invalid_argument(
            fmt::format("expected one that does allgather, found {}", algorithm.name));
      return contender;
    } catch (const std::invalid_argument& error) {
      top_.mistake("schedule", fmt::format("schedule: {}", error.what()));
      return std::nullopt;
    }
  }

  void mistake(const Settings& at, const std::string& message) {
    mistakes_.add(at.position(), message);
  }

  std::optional<Rank> rank_of(const Settings& host) {
    if (const auto found = ranks_.find(host.text()); found != ranks_.end()) return found->second;
    std::vector<std::string_view> names(blocks_.hosts.begin(), blocks_.hosts.end());
    mistake(host, fmt::format("expected a host that takes part, found {}{}", host.describe(),
                              base::did_you_mean(host.text(), names)));
    return std::nullopt;
  }

  std::optional<std::uint64_t> number(const Settings& value, const std::string& what) {
    const auto found =
        base::read_integer(value, mistakes_, what, 0, std::numeric_limits<std::int64_t>::max());
    return found ? std::optional(static_cast<std::uint64_t>(*found)) : std::nullopt;
  }

  std::uint64_t bytes_of(Rank rank) const {
    return blocks_.counts.block(rank).count * blocks_.element_bytes;
  }

  void read_blocks(const Settings& given) {
    if (!given.is_null() && !given.is_map())
      return top_.mistake("blocks", "blocks: expected a map, found " + given.describe());
    if (given.is_null()) return;
    Rank next = 0;
    for (const auto& [host, value] : given.entries()) {
      const auto rank = rank_of(host);
      const auto bytes = number(value, "the block of " + host.text());
      if (!rank || !bytes) return;
      if (*rank != next++)
        return mistake(host, fmt::format("blocks: expected hosts in their order, {} here, found {}",
                                         blocks_.hosts[next - 1], host.text()));
      if (*bytes != bytes_of(*rank))
        mistake(value, fmt::format("the block of {}: expected {} bytes, which is what the "
                                   "operation has, found {}",
                                   host.text(), bytes_of(*rank), *bytes));
    }
    if (next < blocks_.hosts.size())
      mistake(given, fmt::format("blocks: expected {} hosts, found {}; {} is missing",
                                 blocks_.hosts.size(), next, blocks_.hosts[next]));
    plan_.hosts = static_cast<Rank>(blocks_.hosts.size());
    plan_.counts = blocks_.counts;
  }

  /// Returns the rows of `list`. If `list` is not a list, adds a mistake and returns no rows.
  const std::vector<Settings>& rows(const Settings& list, const char* key) {
    if (!list.is_null() && !list.is_list())
      top_.mistake(key, fmt::format("{}: expected a list, found {}", key, list.describe()));
    return list.items();
  }

  bool has_cells(const Settings& row, std::size_t cells, const char* what) {
    if (row.items().size() == cells) return true;
    mistake(row, fmt::format("expected {}, found {}", what, row.describe()));
    return false;
  }

  /// Reads the pieces. The pieces of one host must be adjacent and cover the host's whole block.
  void read_pieces(const Settings& list) {
    std::vector<std::uint64_t> ends(blocks_.hosts.size());
    for (const Settings& one : rows(list, "pieces")) {
      if (!has_cells(one, 3, "a piece: [host, from which byte, how many]")) return;
      const auto owner = rank_of(one.items()[0]);
      const auto begin = number(one.items()[1], "where a piece begins");
      const auto bytes = number(one.items()[2], "how long a piece is");
      if (!owner || !begin || !bytes) return;
      if (*begin != ends[*owner] || *bytes == 0 || *bytes > bytes_of(*owner) - *begin)
        return mistake(one, fmt::format("a piece of {}: expected the bytes behind {} of its {}, "
                                        "found {} from {} on",
                                        one.items()[0].text(), ends[*owner], bytes_of(*owner),
                                        *bytes, *begin));
      ends[*owner] += *bytes;
      if (*begin % blocks_.element_bytes != 0 || *bytes % blocks_.element_bytes != 0)
        mistake(one, fmt::format("a piece of {}: expected whole elements of {} bytes, found {} "
                                 "bytes from {} on",
                                 one.items()[0].text(), blocks_.element_bytes, *bytes, *begin));
      plan_.pieces.push_back({*owner,
                              {blocks_.counts.block(*owner).offset + *begin / blocks_.element_bytes,
                               *bytes / blocks_.element_bytes},
                              *bytes});
    }
    for (Rank rank = 0; rank < ends.size() && mistakes_.empty(); ++rank)
      if (ends[rank] != bytes_of(rank))
        mistake(list, fmt::format("pieces: expected all {} bytes of {}, found {}", bytes_of(rank),
                                  blocks_.hosts[rank], ends[rank]));
  }

  void read_transfers(const Settings& list) {
    if (!mistakes_.empty()) return;  // the owner of a wrong piece may be unknown
    const std::size_t hosts = blocks_.hosts.size();
    std::vector<bool> has(hosts * plan_.pieces.size());
    const auto place = [&](Rank rank, std::uint64_t piece) { return piece * hosts + rank; };
    for (std::size_t piece = 0; piece < plan_.pieces.size(); ++piece)
      has[place(plan_.pieces[piece].owner, piece)] = true;
    for (const Settings& one : rows(list, "transfers")) {
      if (!has_cells(one, 5, "a transfer: [from, to, piece, begin, end]")) continue;
      const auto from = rank_of(one.items()[0]), to = rank_of(one.items()[1]);
      const auto piece = base::read_integer(one.items()[2], mistakes_, "the piece of a transfer", 0,
                                            static_cast<std::int64_t>(plan_.pieces.size()) - 1);
      const auto begin = number(one.items()[3], "when a transfer begins");
      const auto end = number(one.items()[4], "when a transfer ends");
      if (!from || !to || !piece || !begin || !end) continue;
      const auto number = static_cast<std::uint32_t>(*piece);
      if (!has[place(*from, number)])
        mistake(one, fmt::format("piece {}: {} does not have it yet when it must send it", number,
                                 blocks_.hosts[*from]));
      if (has[place(*to, number)])
        mistake(one, fmt::format("piece {}: {} has it already", number, blocks_.hosts[*to]));
      has[place(*to, number)] = true;
      plan_.transfers.push_back({*from, *to, number, Nanos(static_cast<std::int64_t>(*begin)),
                                 Nanos(static_cast<std::int64_t>(*end))});
    }
    for (std::size_t piece = 0; piece < plan_.pieces.size() && mistakes_.empty(); ++piece)
      for (Rank rank = 0; rank < hosts; ++rank)
        if (!has[place(rank, piece)])
          mistake(list,
                  fmt::format("transfers: piece {} never reaches {}", piece, blocks_.hosts[rank]));
  }

  base::MapReader top_;
  const Blocks& blocks_;
  base::Mistakes& mistakes_;
  std::map<std::string, Rank> ranks_;
  Plan plan_;
};

}  // namespace

std::string print(const Contender& contender, const Blocks& blocks) {
  MapBuilder writer;
  writer.add("name", contender.name);
  if (contender.striping > 0) writer.add("streams", fmt::to_string(contender.striping));
  writer.add("ports", written_ports(contender.execution.ports));
  MapBuilder bytes;
  for (Rank rank = 0; rank < blocks.hosts.size(); ++rank)
    bytes.add(blocks.hosts[rank],
              fmt::to_string(blocks.counts.block(rank).count * blocks.element_bytes));
  writer.add("blocks", bytes.done());
  if (contender.plan) {
    add_plan(writer, *contender.plan, blocks);
  } else {
    const std::string words = contender.parameters.text();
    writer.add("schedule", contender.algorithm.name + (words.empty() ? "" : ":") + words);
  }
  std::string text = base::print_settings(writer.done());
  if (text.size() > base::settings_bytes_max)
    throw std::length_error(fmt::format("expected a schedule of at most {} bytes, found {}",
                                        base::settings_bytes_max, text.size()));
  return text;
}

Contender read_schedule(const base::Settings& settings, const Blocks& blocks,
                        base::Mistakes& mistakes) {
  std::optional<Contender> contender = Reader(settings, blocks, mistakes).read();
  return contender ? std::move(*contender) : Contender();
}

Contender load_schedule(const std::string& file, const Blocks& blocks) {
  base::Mistakes mistakes;
  Contender contender = read_schedule(base::load_settings(file), blocks, mistakes);
  mistakes.throw_if_any();
  return contender;
}

}  // namespace planning
