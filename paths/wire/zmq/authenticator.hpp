// SPDX-License-Identifier: Apache-2.0
// paths/wire/zmq/authenticator.hpp — CURVE keys of sockets, and the check of peers' keys
#pragma once
#include <memory>
#include <string>
#include <zmq.hpp>

#include "paths/keys/keyring.hpp"

namespace paths {

/// Accepts the peers whose key is in the keyring, and rejects all other peers. The peers connect to
/// CURVE servers (encrypted listening sockets) of a ZeroMQ context. ZeroMQ asks this object by its
/// protocol ZAP (RFC 27). The reply is 200 (accepted) or 400 (rejected). A reply of 200 names the
/// owner of the key, and ZeroMQ attaches this name to each message of the peer ("User-Id").
///
/// Why:         without a handler for ZAP, ZeroMQ accepts any key.
/// Owns:        a thread that only replies to requests. If the thread cannot continue, it ends the
///              process, because without replies ZeroMQ would accept no further peers.
/// Thread-safe: no.
class Authenticator {
 public:
  /// Replies to requests from now on. `host` is the name of this host for log messages.
  /// Requires: the keyring has keys.
  /// Throws: zmq::error_t.
  Authenticator(zmq::context_t& context, std::shared_ptr<const Keyring> keyring, std::string host);
  /// Waits for the end of the thread.
  /// Requires: the ZeroMQ context was closed.
  ~Authenticator();
  Authenticator(const Authenticator&) = delete;
  Authenticator& operator=(const Authenticator&) = delete;

 private:
  static void run(void* self) noexcept;
  void reply_to_one();

  std::shared_ptr<const Keyring> keyring_;
  std::string host_;
  zmq::socket_t requests_;  // used by the thread only
  void* thread_ = nullptr;
};

/// Makes `socket`, which is going to listen, a CURVE server.
/// Requires: there is an Authenticator for the ZeroMQ context of the socket.
/// Throws: zmq::error_t.
void listen_with(zmq::socket_t& socket, const Keyring& keyring);
/// Makes `socket`, which is going to connect to a host with the key `server`, a CURVE client.
/// Throws: zmq::error_t.
void connect_with(zmq::socket_t& socket, const Keyring& keyring, const PublicKey& server);

}  // namespace paths
