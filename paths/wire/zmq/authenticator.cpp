// SPDX-License-Identifier: Apache-2.0
// paths/wire/zmq/authenticator.cpp — replies to ZAP requests, and the CURVE options of sockets
#include "paths/wire/zmq/authenticator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/say.hpp"
#include "paths/wire/zmq/codec.hpp"

namespace paths {

namespace {

// Parts of a ZAP request after the version and the number of the request (RFC 27).
enum RequestPart : std::size_t { domain, address, identity, mechanism, credentials, parts };

// Value of the option ZMQ_ZAP_ENFORCE_DOMAIN, for which the header of the library has no name.
constexpr int enforce_domain = 93;

zmq::const_buffer buffer_of(const PublicKey& key) { return zmq::buffer(key); }
zmq::const_buffer buffer_of(const Secret& secret) {
  return zmq::buffer(secret.bytes().data(), key_bytes);
}

/// Returns the owner of the key in a request; nullopt if a peer with this key may not connect.
std::optional<std::string> owner_in(const Keyring& keyring,
                                    const std::vector<zmq::message_t>& request) {
  if (request.size() != parts || request[mechanism].to_string_view() != "CURVE" ||
      request[credentials].size() != key_bytes)
    return std::nullopt;
  PublicKey key;
  std::copy_n(request[credentials].data<std::uint8_t>(), key_bytes, key.begin());
  return keyring.owner_of(key);
}

}  // namespace

Authenticator::Authenticator(zmq::context_t& context, std::shared_ptr<const Keyring> keyring,
                             std::string host)
    : keyring_(std::move(keyring)),
      host_(std::move(host)),
      requests_(context, zmq::socket_type::rep) {
  requests_.set(zmq::sockopt::linger, 0);
  requests_.bind("inproc://zeromq.zap.01");
  thread_ = zmq_threadstart(&Authenticator::run, this);
}

Authenticator::~Authenticator() { zmq_threadclose(thread_); }

void Authenticator::run(void* self) noexcept {
  auto& all = *static_cast<Authenticator*>(self);
  std::string why;
  try {
    for (;;) all.reply_to_one();
  } catch (const zmq::error_t& error) {
    if (error.num() == ETERM) return all.requests_.close();  // the ZeroMQ context is closing
    why = error.what();
  } catch (const std::exception& error) {
    why = error.what();
  }
  base::say(fmt::format("host {}: the check of its peers' keys has ended: {}\n", all.host_, why));
  std::abort();
}

void Authenticator::reply_to_one() {
  zmq::message_t version, number;
  std::vector<zmq::message_t> request;
  if (!uninterrupted([&] { return requests_.recv(version); })) return;
  // All parts of a message arrive together. If the version is the only part, there is no further
  // part to receive.
  if (version.more()) receive_all(requests_, {&number}, request);
  const auto owner =
      version.to_string_view() == "1.0" ? owner_in(*keyring_, request) : std::nullopt;
  const std::string_view status = owner ? "200" : "400", text = owner ? "OK" : "not accepted";
  const std::string_view user = owner ? std::string_view(*owner) : std::string_view();
  for (const std::string_view part :
       {std::string_view("1.0"), number.to_string_view(), status, text, user})
    uninterrupted([&] {
      return requests_.send(zmq::buffer(part.data(), part.size()), zmq::send_flags::sndmore);
    });
  zmq::message_t no_metadata;
  uninterrupted([&] { return requests_.send(no_metadata, zmq::send_flags::none); });
}

void listen_with(zmq::socket_t& socket, const Keyring& keyring) {
  socket.set(zmq::sockopt::curve_server, true);
  socket.set(zmq::sockopt::curve_secretkey, buffer_of(keyring.own().secret));
  const int yes = 1;
  if (zmq_setsockopt(socket.handle(), enforce_domain, &yes, sizeof yes) != 0) throw zmq::error_t();
}

void connect_with(zmq::socket_t& socket, const Keyring& keyring, const PublicKey& server) {
  socket.set(zmq::sockopt::curve_serverkey, buffer_of(server));
  socket.set(zmq::sockopt::curve_publickey, buffer_of(keyring.own().public_key));
  socket.set(zmq::sockopt::curve_secretkey, buffer_of(keyring.own().secret));
}

}  // namespace paths
