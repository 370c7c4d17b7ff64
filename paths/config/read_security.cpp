// SPDX-License-Identifier: Apache-2.0
// paths/config/read_security.cpp — checks of the key `security` and of lists of public keys
#include "paths/config/read_security.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/near_match.hpp"
#include "base/text_file.hpp"
#include "paths/keys/host_keys.hpp"
#include "paths/plan/names.hpp"
#include "paths/plan/protected_links.hpp"

namespace paths {
namespace {

/// The host that has a public key, and the position of the key in the list.
struct Owner {
  std::string host;
  base::Position position;
};

/// Reads a list of public keys: a map from host names to one or more keys.
class KeyList {
 public:
  KeyList(const Plan& plan, base::Mistakes& mistakes) : plan_(plan), mistakes_(mistakes) {}

  void read(const base::Settings& list, HostKeys& into) {
    if (!list.is_map())
      return mistakes_.add(list.position(),
                           "expected the public keys of each host, as `paths keygen` writes them, "
                           "found " +
                               list.describe());
    for (const auto& [name, value] : list.entries()) read_host(name, value, into);
  }

 private:
  void read_host(const base::Settings& name, const base::Settings& value, HostKeys& into) {
    if (!plan_.host_named(name.text())) {
      std::vector<std::string_view> names;
      for (const Plan::PlanHost& host : plan_.hosts) names.push_back(host.name);
      return mistakes_.add(name.position(),
                           fmt::format("expected a host of the config, found '{}'{}", name.text(),
                                       base::did_you_mean(name.text(), names)));
    }
    const auto add = [&](const base::Settings& key) {
      if (const auto read = read_key(key, name.text())) into.keys[name.text()].push_back(*read);
    };
    if (!value.is_list()) return add(value);
    for (const base::Settings& key : value.items()) add(key);
  }

  std::optional<PublicKey> read_key(const base::Settings& key, const std::string& host) {
    const auto parsed = key.is_scalar() ? parse_public_key(key.text()) : std::nullopt;
    if (!parsed) {
      mistakes_.add(key.position(),
                    fmt::format("host {}: expected a public key of {} hexadecimal digits, as "
                                "`paths keygen` writes it, found {}",
                                host, 2 * key_bytes, key.describe()));
      return std::nullopt;
    }
    const auto [first, is_new] = owners_.try_emplace(*parsed, Owner{host, key.position()});
    if (is_new) return parsed;
    mistakes_.add(key.position(), fmt::format("host {}: host {} has this key as well, at {}", host,
                                              first->second.host, first->second.position.text()));
    return std::nullopt;
  }

  const Plan& plan_;
  base::Mistakes& mistakes_;
  std::map<PublicKey, Owner> owners_;
};

std::optional<std::uint32_t> cluster_of(const base::Settings& name, const Plan& plan,
                                        base::Mistakes& mistakes) {
  const auto found = std::find(plan.clusters.begin(), plan.clusters.end(), name.text());
  if (name.is_scalar() && found != plan.clusters.end())
    return static_cast<std::uint32_t>(found - plan.clusters.begin());
  mistakes.add(name.position(),
               "protected: " + not_named("the name of a cluster", name,
                                         {plan.clusters.begin(), plan.clusters.end()}));
  return std::nullopt;
}

}  // namespace

void read_security(base::MapReader& network, const base::Settings& security, Plan& plan) {
  if (security.is_null()) return;
  plan.security_written = true;
  if (security.is_map()) {
    plan.security = Plan::Security::keys;
    return;
  }
  const auto word = security.is_scalar() ? Plan::security_named(security.text())
                                         : std::optional<Plan::Security>();
  if (word) {
    plan.security = *word;
    return;
  }
  const auto& words = Plan::security_words;
  const std::string near =
      security.is_scalar() ? base::did_you_mean(security.text(), {words.begin(), words.end()}) : "";
  network.mistake("security", fmt::format("expected {} or {{keys: FILE}}, found {}{}",
                                          fmt::join(words, ", "), security.describe(), near));
}

void read_protected_links(const base::Settings& network, Plan& plan, base::Mistakes& mistakes) {
  const base::Settings* const links = network.is_map() ? network.find("protected") : nullptr;
  if (links == nullptr || plan.clusters.empty()) return;
  const auto wrong = [&](const base::Settings& found) {
    mistakes.add(found.position(),
                 "protected: expected pairs of clusters such as [[alpha, beta]], "
                 "found " +
                     found.describe());
  };
  if (!links->is_list()) return wrong(*links);
  const std::size_t mistakes_before = mistakes.size();
  for (const base::Settings& link : links->items()) {
    if (!link.is_list() || link.items().size() != 2) {
      wrong(link);
      continue;
    }
    const auto cluster = cluster_of(link.items()[0], plan, mistakes);
    const auto other = cluster_of(link.items()[1], plan, mistakes);
    if (!cluster || !other) continue;
    if (cluster == other)
      mistakes.add(link.position(), fmt::format("protected: expected two clusters, found {} twice",
                                                plan.clusters[*cluster]));
    else
      plan.protected_links.insert(std::minmax(*cluster, *other));
  }
  if (mistakes.size() > mistakes_before) return;
  try {
    protected_addresses(plan);
  } catch (const std::invalid_argument& error) {
    mistakes.add(links->position(), error.what());
  }
}

void read_host_keys(const base::Settings& security, Plan& plan, base::Mistakes& mistakes) {
  if (!security.is_map()) return;
  base::MapReader reader(security, mistakes, "security");
  auto keys = std::make_shared<HostKeys>();
  keys->written =
      reader.required_word("keys", "a file of public keys, which `paths keygen` writes");
  keys->own_written = reader.word("key", "");
  const base::Position position = reader.position_of("keys");
  if (!keys->own_written.empty())
    keys->own_file = base::file_beside(keys->own_written, reader.position_of("key").file);
  reader.finish();
  plan.host_keys = keys;
  if (keys->written.empty()) return;
  try {
    const base::Settings list =
        base::load_settings(base::file_beside(keys->written, position.file));
    KeyList(plan, mistakes).read(list, *keys);
  } catch (const base::ConfigError& error) {
    for (const auto& [where, message] : error.mistakes())
      mistakes.add(where.file.empty() ? position : where, "keys: " + message);
    return;
  }
  for (const Plan::PlanHost& host : plan.hosts)
    if (!keys->keys.contains(host.name))
      mistakes.add(position, fmt::format("keys: host {} has no key in {}; make one with `paths "
                                         "keygen {} -o FOLDER`",
                                         host.name, keys->written, host.name));
}

}  // namespace paths
