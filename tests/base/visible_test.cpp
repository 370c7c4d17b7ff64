// SPDX-License-Identifier: Apache-2.0
// tests/base/visible_test.cpp — escaping of untrusted text before it reaches a terminal.
#include "base/visible.hpp"

#include <catch2/catch.hpp>
#include <string>

TEST_CASE("visible: ordinary text is unchanged and control characters are escaped") {
  CHECK(base::visible("") == "");
  CHECK(base::visible("host alpha-0: größer als 5 € 𝄞") == "host alpha-0: größer als 5 € 𝄞");
  CHECK(base::visible("a\x1b[2Jb\r\nc\td") == "a\\x1b[2Jb\\x0d\\nc\\x09d");
  CHECK(base::visible(std::string("a\0b\x7f", 4)) == "a\\x00b\\x7f");
  CHECK(base::visible("\xc2\x9b"
                      "5m") == "\\xc2\\x9b5m");  // a C1 control character is escaped
}

TEST_CASE("visible: bytes that are not UTF-8 and bidirectional controls are escaped") {
  CHECK(base::visible("\xff\xfe") == "\\xff\\xfe");
  CHECK(base::visible("\xc0\xaf") == "\\xc0\\xaf");
  CHECK(base::visible("\xed\xa0\x80") == "\\xed\\xa0\\x80");
  CHECK(base::visible("\xe2\x82") == "\\xe2\\x82");
  CHECK(base::visible("a\xe2\x80\xae"
                      "b\xe2\x80\xa8"
                      "c") == "a\\u202eb\\u2028c");
}

TEST_CASE("visible: escaped text is unchanged by a second pass") {
  for (const std::string text : {"\\x1b", "\x1b\xff", "a\xe2\x80\xae"})
    CHECK(base::visible(base::visible(text)) == base::visible(text));
}
