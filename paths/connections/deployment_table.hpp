// SPDX-License-Identifier: Apache-2.0
// paths/connections/deployment_table.hpp — by which calls of one label on several hosts find each
// other.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

namespace paths {

/// A host's calls of deploy() of one label. Hosts that call it together have the same number,
/// without anybody who leads: a call takes the next of its own, or the highest that was heard of if
/// that is more, and uses it up however it ends. So hosts of which one skipped a call meet again.
///
/// Sharing: none.
class DeploymentTable {
 public:
  enum class Meaning : std::uint8_t {
    now,    ///< of the call that is under way
    later,  ///< of one that this host has still to make
    ended,  ///< of one that has ended here, or never was
  };

  bool is_under_way() const { return is_under_way_; }
  std::uint64_t number() const { return number_; }          ///< of the last call, or of that one
  const std::string& how_it_ended() const { return how_; }  ///< the last call that has

  /// A call begins; answers its number.
  std::uint64_t begin() {
    number_ = std::max(number_ + 1, heard_);
    is_under_way_ = true;
    return number_;
  }
  void end(std::string how) {
    is_under_way_ = false;
    how_ = std::move(how);
  }
  /// Another host makes, or has made, the call of that number.
  void hear(std::uint64_t number) { heard_ = std::max(heard_, number); }
  Meaning meaning_of(std::uint64_t number) const {
    if (number > number_) return Meaning::later;
    return number == number_ && is_under_way_ ? Meaning::now : Meaning::ended;
  }

 private:
  std::uint64_t number_ = 0;
  std::uint64_t heard_ = 0;
  bool is_under_way_ = false;
  std::string how_;
};

}  // namespace paths
