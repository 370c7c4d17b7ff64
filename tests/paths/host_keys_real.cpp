// SPDX-License-Identifier: Apache-2.0
// tests/paths/host_keys_real.cpp — runs whose hosts have keys of their own. The key of a host
// decides which host it is. The name that the host states does not decide it.
#include <fmt/format.h>
#include <stdlib.h>

#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "paths/keys/host_keys.hpp"
#include "paths/keys/key_file.hpp"
#include "paths/wire/zmq/authenticator.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/raw_peer.hpp"
#include "tests/support/thrown.hpp"

namespace {

using namespace paths;
using namespace test_support;
using Catch::Contains;

/// The seed of a host's key.
using Seed = std::shared_ptr<const Secret>;

Seed new_seed() { return std::make_shared<const Secret>(Secret::random()); }

/// A machine: a folder with the config, a list of public keys, and the secret key of one host.
class Machine {
 public:
  using Keys = std::vector<std::pair<std::string, std::vector<Seed>>>;

  /// The text `network` is the first part of the config's map `network`. All machines of a run must
  /// get the same text.
  Machine(const std::string& network, const Keys& known, const Seed& own) {
    std::string list;
    for (const auto& [host, seeds] : known) {
      list += host + ": [";
      for (const Seed& seed : seeds) list += digits_of(public_key_of(*seed)) + ", ";
      list += "]\n";
    }
    folder_.write("keys.yaml", list);
    write_key_file(folder_.file("own.key"), KeyKind::host, *own);
    config_ = folder_.write(
        "job.yaml", fmt::format("deadline: 5s\nshared_memory: false\n"
                                "network: {{{}, security: {{keys: keys.yaml, key: own.key}}}}\n"
                                "clusters: {{a: {{hosts: 3, threads: 1}}}}\n"
                                "collectives: {{sum: {{operation: sum, template: f64}}}}\n",
                                network));
    plan_ = std::make_shared<const Plan>(load_plan(config_, wrappers::all_kinds()));
  }
  const Plan& plan() const { return *plan_; }
  /// Starts a host, which adds 1 to a sum and prints the sum.
  HostProcess start(std::uint32_t host) const {
    return HostProcess([this, host](const Say& say) {
      unsetenv("PATHS_KEY");
      try {
        const auto failures = run_plan(plan_, wrappers::all_kinds(),
                                       {.is_one_host = true, .host = host}, [&](Thread& thread) {
                                         const Result sum = thread.path("sum").move_value(1.0);
                                         say(fmt::format("sum {}", sum.payload.read<double>()));
                                       });
        for (const std::string& failure : failures) say("failed: " + failure);
        return failures.empty() ? 0 : 1;
      } catch (const std::exception& error) {
        say(std::string("broke: ") + error.what());
        return 2;
      }
    });
  }

 private:
  Folder folder_;
  std::string config_;
  std::shared_ptr<const Plan> plan_;
};

std::string any_network() { return fmt::format("port: {}", free_ports(3)); }

/// The seeds of three hosts, and the list of keys that all of these hosts know.
struct KeyScene {
  std::string network = any_network();
  Seed a0 = new_seed(), a1 = new_seed(), a2 = new_seed();
  Machine::Keys list = {{"a-0", {a0}}, {"a-1", {a1}}, {"a-2", {a2}}};
  Machine of(const Seed& own) const { return Machine(network, list, own); }
};

void check_sum(HostProcess& host) {
  check_ends_well(host);
  CHECK(host.lines("sum 3").size() == 1);
}

}  // namespace

TEST_CASE("host keys: hosts with keys of their own meet") {
  const KeyScene scene;
  const Machine m0 = scene.of(scene.a0), m1 = scene.of(scene.a1), m2 = scene.of(scene.a2);
  HostProcess a = m0.start(0), b = m1.start(1), c = m2.start(2);
  for (HostProcess* host : {&a, &b, &c}) check_sum(*host);
}

TEST_CASE("host keys: a host does not start with the key of another host") {
  const KeyScene scene;
  const Machine machine = scene.of(scene.a0);
  HostProcess host = machine.start(1);
  CHECK(host.end() == 2);
  CHECK_THAT(host.text(),
             Contains("own.key") && Contains("the key is not one that keys.yaml has for host a-1"));
}

TEST_CASE("host keys: the right key of another host gives no other name") {
  const KeyScene scene;
  const Machine m0 = scene.of(scene.a0), m1 = scene.of(scene.a1), m2 = scene.of(scene.a2);
  // The thief has the secret key of a-2. The thief's own list states this key as the key of a-1.
  const Machine thief(scene.network,
                      {{"a-0", {scene.a0}}, {"a-1", {scene.a2}}, {"a-2", {scene.a1}}}, scene.a2);
  HostProcess a = m0.start(0), impostor = thief.start(1);
  CHECK(impostor.end() == 1);
  CHECK_THAT(impostor.text(), Contains("host a-0 refused: place"));
  HostProcess b = m1.start(1), c = m2.start(2);
  for (HostProcess* host : {&a, &b, &c}) check_sum(*host);
  CHECK_THAT(a.text(), Contains("it has the key of host a-2, but says that it is 'a-1'"));
}

TEST_CASE("host keys: unknown and retired keys are denied, and both sides say so") {
  const KeyScene scene;
  const Machine m0 = scene.of(scene.a0), m1 = scene.of(scene.a1), m2 = scene.of(scene.a2);
  const Seed retired = new_seed();
  const Machine late(scene.network, {{"a-0", {scene.a0}}, {"a-1", {retired}}, {"a-2", {scene.a2}}},
                     retired);
  HostProcess a = m0.start(0), old = late.start(1);
  CHECK(old.end() == 1);
  CHECK_THAT(old.text(),
             Contains("host a-0 at ") && Contains("does not accept the key of this host"));
  HostProcess b = m1.start(1), c = m2.start(2);
  for (HostProcess* host : {&a, &b, &c}) check_sum(*host);
  CHECK_THAT(a.text(), Contains("its key is not one of this run"));
}

TEST_CASE("host keys: a host that is not the one in the list is named after three handshakes") {
  const KeyScene scene;
  const Machine m0 = scene.of(scene.a0);
  const Seed unknown = new_seed();
  const Machine m1(scene.network, {{"a-0", {unknown}}, {"a-1", {scene.a1}}, {"a-2", {scene.a2}}},
                   scene.a1);
  HostProcess a = m0.start(0), b = m1.start(1);
  CHECK(b.end() == 1);
  CHECK_THAT(b.text(), Contains("has not the key of host a-0"));
  CHECK(a.end() == 1);
}

TEST_CASE("host keys: a host with a list of keys listens with the first one") {
  KeyScene scene;
  const Seed next0 = new_seed(), next1 = new_seed();
  scene.list = {{"a-0", {next0, scene.a0}}, {"a-1", {next1, scene.a1}}, {"a-2", {scene.a2}}};
  const Machine m0 = scene.of(next0), m1 = scene.of(next1), m2 = scene.of(scene.a2);
  HostProcess a = m0.start(0), b = m1.start(1), c = m2.start(2);
  for (HostProcess* host : {&a, &b, &c}) check_sum(*host);
}

// Does not run under the thread sanitizer, which rejects forks of a process with other threads.
// Here threads of ZeroMQ run.
TEST_CASE("host keys: a hello in the name of one host with the number of another is refused",
          "[without_tsan]") {
  const KeyScene scene;
  const Machine m0 = scene.of(scene.a0), m1 = scene.of(scene.a1), m2 = scene.of(scene.a2);
  HostProcess a = m0.start(0);
  zmq::context_t context;
  zmq::socket_t dealer(context, zmq::socket_type::dealer);
  dealer.set(zmq::sockopt::linger, 0);
  dealer.set(zmq::sockopt::rcvtimeo, 20'000);
  const CurveKeys own = curve_keys_of(*scene.a1);
  const PublicKey server = curve_key_of(public_key_of(*scene.a0));
  dealer.set(zmq::sockopt::curve_serverkey, zmq::buffer(server));
  dealer.set(zmq::sockopt::curve_publickey, zmq::buffer(own.public_key));
  dealer.set(zmq::sockopt::curve_secretkey, zmq::buffer(own.secret.bytes().data(), key_bytes));
  dealer.connect(m0.plan().hosts[0].address);
  const base::Digest plan = m0.plan().digest;
  const std::string hello = raw_hello({.run_high = plan.high,
                                       .run_low = plan.low,
                                       .text = "a-1",
                                       .from_host = 2,
                                       .stage = m0.plan().shares[0].entrances.at(0).stage},
                                      plan.high, plan.low);
  dealer.send(zmq::buffer(hello), zmq::send_flags::sndmore);
  dealer.send(zmq::message_t(), zmq::send_flags::none);
  zmq::message_t header;
  REQUIRE(dealer.recv(header).has_value());
  CHECK(header.to_string() == raw_refusal("place"));
  HostProcess b = m1.start(1), c = m2.start(2);
  for (HostProcess* host : {&a, &b, &c}) check_sum(*host);
}

TEST_CASE("host keys: all mistakes of a list of keys are reported with their places") {
  const Folder folder;
  const std::string key = digits_of(public_key_of(*new_seed()));
  folder.write("keys.yaml", fmt::format("a-0: {0}\na-1: {0}\na-3: {0}\n", key));
  const auto mistakes = [&](const std::string& security) {
    const std::string config = folder.write(
        "job.yaml", "network: {security: " + security + "}\nclusters: {a: {hosts: 3}}\n");
    return thrown<base::ConfigError>([&] { load_plan(config, wrappers::all_kinds()); });
  };
  const std::string said = mistakes("{keys: keys.yaml}");
  CHECK_THAT(said, Contains("keys.yaml:2:6: ") && Contains("host a-0 has this key as well"));
  CHECK_THAT(said, Contains("keys.yaml:3:1: ") &&
                       Contains("expected a host of the config, found 'a-3'; did you mean"));
  CHECK_THAT(said, Contains("job.yaml:1:") && Contains("host a-2 has no key in keys.yaml"));
  folder.write("keys.yaml", "a-0: [12ab, {}]\na-1: [" + std::string(64, '0') + "]\n");
  CHECK_THAT(mistakes("{keys: keys.yaml}"),
             Contains("found '12ab'") && Contains("found a map") && Contains("keys.yaml:2:7: "));
  folder.write("keys.yaml", "[1, 2]\n");
  CHECK_THAT(mistakes("{keys: keys.yaml}"), Contains("expected the public keys of each host"));
  CHECK_THAT(mistakes("{keys: none.yaml}"), Contains("none.yaml"));
  CHECK_THAT(mistakes("{key: own.key}"),
             Contains("keys: missing in security, expected a file of public keys"));
  CHECK_THAT(mistakes("{keys: keys.yaml, kez: x}"), Contains("kez"));
  CHECK_THAT(mistakes("loopback"),
             Contains("security: expected run, network, plain or {keys: FILE}, found 'loopback'"));
  CHECK_THAT(mistakes("[run]"), Contains("found a list of 1"));
}
