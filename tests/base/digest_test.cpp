// SPDX-License-Identifier: Apache-2.0
// tests/base/digest_test.cpp — digests of texts.
#include "base/digest.hpp"

#include <catch2/catch.hpp>

TEST_CASE("digest: equal texts have equal digests and different ones do not") {
  CHECK(base::digest_of("paths") == base::digest_of("paths"));
  CHECK_FALSE(base::digest_of("paths") == base::digest_of("path"));
  CHECK_FALSE(base::digest_of("") == base::digest_of(std::string_view("\0", 1)));
}

TEST_CASE("digest: the text is the 32 digits of XXH128") {
  // The XXH128 digest of the empty text, as the authors of XXH128 publish it.
  CHECK(base::digest_of("").text() == "99aa06d3014798d86001c324468d497f");
  CHECK(base::Digest{1, 2}.text() == "00000000000000010000000000000002");
}

TEST_CASE("digest: a running digest equals the digest of all added bytes") {
  const std::string text(1000, 'x');
  const auto bytes = std::as_bytes(std::span(text));
  base::RunningDigest running;
  CHECK(running.value() == base::digest_of(""));
  running.add(bytes.first(300));
  running.add({});
  running.add(bytes.subspan(300));
  CHECK(running.value() == base::digest_of(text));
  CHECK(running.value() == base::digest_of(text));
}
