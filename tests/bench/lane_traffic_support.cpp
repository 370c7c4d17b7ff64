// SPDX-License-Identifier: Apache-2.0
// tests/bench/lane_traffic_support.cpp — compiled into the tests, as bench_support.cpp is.
#include "bench/lane_traffic/lane_traffic.cpp"
