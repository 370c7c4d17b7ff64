// SPDX-License-Identifier: Apache-2.0
// tests/support/sanitizers.cpp — suppressions for the thread sanitizer, linked into every test
// program.

#ifdef __SANITIZE_THREAD__
/// Returns the libraries whose reports the thread sanitizer suppresses. libzmq and libstdc++ are
/// built without the sanitizer, so it reports false races in them. In libzmq these races are
/// messages between its threads. In libstdc++ they are accesses to the reference count of a text,
/// which copies of a std::runtime_error share.
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
  return "called_from_lib:libzmq.so\n"
         "race:libzmq.so\n"
         "race:std::runtime_error::~runtime_error\n";
}
#endif
