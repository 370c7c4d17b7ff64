// SPDX-License-Identifier: Apache-2.0
// paths/connections/connection_table.cpp — creation, search and removal of connections
#include "paths/connections/connection_table.hpp"

#include <fmt/format.h>

#include <utility>

#include "paths/connections/peer_table.hpp"

namespace paths {
namespace {

std::uint64_t destination(std::uint32_t host, StageId key) {
  return std::uint64_t{host} << 32 | key;
}

}  // namespace

ConnectionTable::ConnectionTable(runtime::Runtime& runtime, std::shared_ptr<const Peers> peers,
                                 std::uint32_t host, std::shared_ptr<const DeploymentId> call,
                                 std::unique_ptr<Transport> transport)
    : runtime_(runtime),
      peers_(std::move(peers)),
      host_(host),
      call_(std::move(call)),
      transport_(std::move(transport)) {}

Connection* ConnectionTable::leading_to(std::uint32_t host, StageId stage) {
  const auto known = by_destination_.find(destination(host, connection_key(*peers_, stage)));
  return known == by_destination_.end() ? nullptr : known->second;
}

Connection& ConnectionTable::connect(std::uint32_t host, StageId stage) {
  const StageId key = connection_key(*peers_, stage);
  auto made = std::make_unique<Connection>();
  made->id = transport_->connect(host);
  made->peer = host;
  made->known = true;
  made->is_ours = true;
  made->short_way = transport_->short_way(made->id);
  made->key = key;
  Connection& connection = *made;
  by_destination_[destination(host, key)] = &connection;
  connections_[connection.id] = std::move(made);
  return connection;
}

Connection* ConnectionTable::find(ConnectionId id) {
  if (recent_ != nullptr && recent_->id == id) return recent_;
  const auto known = connections_.find(id);
  return known == connections_.end() ? nullptr : known->second.get();
}

Connection& ConnectionTable::find_or_add(ConnectionId id) {
  if (recent_ != nullptr && recent_->id == id) return *recent_;
  auto& connection = connections_[id];
  if (!connection) {
    connection = std::make_unique<Connection>();
    connection->id = id;
  }
  recent_ = connection.get();
  return *recent_;
}

void ConnectionTable::erase(ConnectionId id) {
  if (recent_ != nullptr && recent_->id == id) recent_ = nullptr;
  connections_.erase(id);
}

Frame ConnectionTable::frame_of(FrameKind kind) const {
  Frame frame = new_frame(peers_->run, host_, kind);
  if (kind == FrameKind::hello || kind == FrameKind::welcome || kind == FrameKind::refuse)
    frame.deployment = call_;
  return frame;
}

Frame ConnectionTable::refusal(const std::string& why) const {
  Frame frame = frame_of(FrameKind::refuse);
  frame.text = why;
  return frame;
}

base::Nanos ConnectionTable::time_left(base::Nanos until) const {
  if (until == base::Nanos(0) || until == base::Nanos::max()) return base::Nanos(0);
  const base::Nanos left = until - runtime_.roughly_now();
  return left == base::Nanos(0) ? base::Nanos(-1) : left;
}

TravelError ConnectionTable::gone(const Connection& connection, std::uint32_t path) const {
  return TravelError(name(), peers_->graph_of(path), "forward",
                     fmt::format("host {} is gone: {}", name_of(connection.peer), connection.lost),
                     FailureCause::peer_gone);
}

}  // namespace paths
