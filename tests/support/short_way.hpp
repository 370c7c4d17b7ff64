// SPDX-License-Identifier: Apache-2.0
// tests/support/short_way.hpp — sending of short frames by transports of tests.
#pragma once
#include <memory>
#include <utility>

#include "paths/wire/transport.hpp"

namespace test_support {

/// Returns a ShortWay (the way by which a transport sends short frames) whose send() calls `send`.
template <class Send>
std::shared_ptr<paths::ShortWay> short_way(Send send) {
  class Way final : public paths::ShortWay {
   public:
    explicit Way(Send given) : send_(std::move(given)) {}
    void send(const paths::ShortFrame& frame) override { send_(frame); }

   private:
    Send send_;
  };
  return std::make_shared<Way>(std::move(send));
}

}  // namespace test_support
