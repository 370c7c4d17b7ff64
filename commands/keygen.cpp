// SPDX-License-Identifier: Apache-2.0
// commands/keygen.cpp — `paths keygen`: keys of a run, or of its hosts.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/output_file.hpp"
#include "base/settings.hpp"
#include "base/text_file.hpp"
#include "commands/commands.hpp"
#include "paths/keys/host_keys.hpp"
#include "paths/keys/key_file.hpp"

namespace commands {
namespace {

namespace fs = std::filesystem;

struct KeygenOptions {
  std::vector<std::string> hosts;
  std::string output;
  bool is_for_run = false;
};

constexpr std::size_t list_bytes_max = 8u << 20;

/// Checks the names of the hosts, and that no host has a key yet. This check comes before the first
/// key is made, so that a mistake leaves no keys behind.
void check_hosts(const KeygenOptions& options, const fs::path& list) {
  std::set<std::string> seen;
  const base::Settings known =
      fs::exists(list) ? base::load_settings(list.string()) : base::Settings();
  for (const std::string& host : options.hosts) {
    const bool is_file_name =
        !host.empty() && host.find('/') == std::string::npos && host[0] != '.';
    if (!is_file_name)
      throw std::invalid_argument(
          fmt::format("HOST: expected the name of a host, found '{}'", host));
    if (!seen.insert(host).second)
      throw std::invalid_argument(fmt::format("HOST: '{}' is given twice", host));
    if (known.find(host) != nullptr)
      throw std::invalid_argument(fmt::format(
          "{} has a key of host {} already; make its new key in another folder, and add "
          "the public one to the list",
          list.string(), host));
    if (fs::symlink_status(fs::path(options.output) / (host + ".key")).type() !=
        fs::file_type::not_found)
      throw std::invalid_argument(fmt::format(
          "{}/{}.key: it exists, and a key is never overwritten", options.output, host));
  }
}

/// Writes a key file for each host, and adds the public keys to the folder's list, `keys.yaml`.
void write_host_keys(const KeygenOptions& options) {
  const fs::path folder = options.output, list = folder / "keys.yaml";
  check_hosts(options, list);
  fs::create_directories(folder);
  std::string text =
      "# Public keys of hosts. A host may have a list of keys while its key is changed.\n";
  if (fs::exists(list)) text = base::load_text(list.string(), list_bytes_max);
  for (const std::string& host : options.hosts) {
    const paths::Secret seed = paths::Secret::random();
    paths::write_key_file((folder / (host + ".key")).string(), paths::KeyKind::host, seed);
    text += fmt::format("{}: {}\n", host, paths::digits_of(paths::public_key_of(seed)));
  }
  base::write_file(list.string(), text);
  fmt::print("wrote {} and the keys of {}\n", list.string(), fmt::join(options.hosts, ", "));
}

int run(const KeygenOptions& options) {
  if (options.is_for_run && !options.hosts.empty())
    throw std::invalid_argument("expected either --run or names of hosts");
  if (!options.is_for_run && options.hosts.empty())
    throw std::invalid_argument("expected --run or the names of hosts");
  if (!options.is_for_run) {
    write_host_keys(options);
    return succeeded;
  }
  paths::write_key_file(options.output, paths::KeyKind::run, paths::Secret::random());
  fmt::print("wrote {}; remove it after the run\n", options.output);
  return succeeded;
}

}  // namespace

void add_keygen_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<KeygenOptions>();
  CLI::App* command = app.add_subcommand(
      "keygen",
      "Make the key of a run, or a key for each of some hosts and the list of their public "
      "keys.\nFiles with keys have mode 0600, and are never overwritten.");
  command->add_option("HOST", options->hosts, "hosts that get a key of their own");
  command->add_flag("--run", options->is_for_run, "make one key for all processes of a run");
  command->add_option("-o,--output", options->output, "file of the run key, or folder of keys")
      ->type_name("PATH")
      ->required();
  set_examples(*command,
               "  paths keygen --run -o job.key\n"
               "  paths keygen a-0 a-1 b-0 b-1 -o keys\n");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace commands
