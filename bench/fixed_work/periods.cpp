// SPDX-License-Identifier: Apache-2.0
// bench/fixed_work/periods.cpp — search for periodic noise in the spectrum of lost time
#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <utility>

#include "bench/fixed_work/fixed_work.hpp"

namespace bench::fixed_work {
namespace {

constexpr std::size_t periods_max = 3, bins_max = std::size_t{1} << 18, repeats_min = 10;
constexpr double chance_of_false_period = 0.001, explains_least = 0.02;

using Complex = std::complex<double>;

/// Transforms in place (Cooley and Tukey 1965). Requires: the size is a power of two.
void transform(std::vector<Complex>& values) {
  const std::size_t size = values.size();
  for (std::size_t i = 1, j = 0; i < size; ++i) {
    std::size_t bit = size >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(values[i], values[j]);
  }
  std::vector<Complex> turns(size / 2);
  for (std::size_t i = 0; i < turns.size(); ++i)
    turns[i] =
        std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(size));
  for (std::size_t length = 2; length <= size; length *= 2)
    for (std::size_t begin = 0; begin < size; begin += length)
      for (std::size_t i = 0; i < length / 2; ++i) {
        const Complex even = values[begin + i];
        const Complex odd = values[begin + i + length / 2] * turns[i * (size / length)];
        values[begin + i] = even + odd;
        values[begin + i + length / 2] = even - odd;
      }
}

double mean(const std::vector<double>& values) {
  double total = 0;
  for (const double value : values) total += value;
  return total / static_cast<double>(values.size());
}

/// Returns the sum of the squared deviations from the mean.
double variation(const std::vector<double>& values) {
  const double middle = mean(values);
  double total = 0;
  for (const double value : values) total += (value - middle) * (value - middle);
  return total;
}

struct Spectrum {
  std::vector<double> power;  ///< power of frequency `index / size`, in periods per bin
  std::size_t size = 0;
  std::size_t spread = 0;  ///< number of indices by which a frequency spreads to each side
};

/// Returns the power of the frequencies in `values`. The frequencies are four times as dense as in
/// a plain Fourier transform. The function therefore does not miss a frequency between two
/// frequencies of the plain transform. A Hann window keeps a strong frequency from hiding other
/// frequencies.
Spectrum spectrum(const std::vector<double>& values) {
  const double middle = mean(values);
  std::vector<Complex> padded(std::bit_ceil(4 * values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double turn = (static_cast<double>(i) + 0.5) / static_cast<double>(values.size());
    padded[i] = (values[i] - middle) * (1 - std::cos(2 * std::numbers::pi * turn));
  }
  transform(padded);
  Spectrum found{{}, padded.size(), 2 * padded.size() / values.size()};
  for (std::size_t i = 0; i <= padded.size() / 2; ++i) found.power.push_back(std::norm(padded[i]));
  return found;
}

/// Returns for each frequency the greatest power that chance explains. The limit is computed for
/// each octave, because noise is rarely white. The power that chance gives to a frequency is
/// distributed exponentially. The scale of the distribution follows from the median of the octave,
/// which peaks do not affect.
std::vector<double> chance_limits(const Spectrum& spectrum, std::size_t first) {
  const double factor =
      std::log(static_cast<double>(spectrum.power.size()) / chance_of_false_period) /
      std::numbers::ln2;
  std::vector<double> limits(spectrum.power.size(), 0);
  for (std::size_t begin = first; begin < limits.size(); begin *= 2) {
    // The last octave can have few frequencies. In that case, lower frequencies are added to its
    // sample.
    const std::size_t end = std::min(2 * begin, limits.size());
    const std::size_t from = std::max(first, std::min(begin, end - end / 2));
    std::vector<double> octave(spectrum.power.begin() + static_cast<std::ptrdiff_t>(from),
                               spectrum.power.begin() + static_cast<std::ptrdiff_t>(end));
    const auto middle = octave.begin() + static_cast<std::ptrdiff_t>(octave.size() / 2);
    std::nth_element(octave.begin(), middle, octave.end());
    std::fill(limits.begin() + static_cast<std::ptrdiff_t>(begin),
              limits.begin() + static_cast<std::ptrdiff_t>(end), factor * *middle);
  }
  return limits;
}

/// Returns the position of the top of a peak of the spectrum, as an index with a fraction. The
/// position is that of the top of a parabola through the logarithms of the powers at `peak` and at
/// its two neighbours.
double top(const Spectrum& spectrum, std::size_t peak) {
  const auto level = [&](std::size_t i) {
    return std::log(std::max(spectrum.power[i], std::numeric_limits<double>::min()));
  };
  if (peak == 0 || peak + 1 >= spectrum.power.size()) return static_cast<double>(peak);
  const double left = level(peak - 1), middle = level(peak), right = level(peak + 1);
  const double bend = left - 2 * middle + right;
  return static_cast<double>(peak) + (bend < 0 ? (left - right) / (2 * bend) : 0);
}

/// Returns the fundamental of the strongest frequency. Short detours have harmonics that are nearly
/// as strong as the fundamental, so the strongest frequency can be a harmonic. The fundamental is
/// the lowest frequency for which this holds: the strongest frequency is one of its multiples, and
/// all its multiples up to the strongest frequency are strong.
double fundamental(const Spectrum& spectrum, std::size_t first, std::size_t strongest) {
  const double frequency = top(spectrum, strongest);
  const auto is_strong = [&](double at) {
    const auto near = spectrum.power.begin() + static_cast<std::ptrdiff_t>(std::llround(at));
    return *std::max_element(near - 1, near + 2) > 0.5 * spectrum.power[strongest];
  };
  for (double of = std::floor(frequency / static_cast<double>(first)); of > 1; --of) {
    double multiple = 1;
    while (multiple < of && is_strong(frequency * multiple / of)) ++multiple;
    if (multiple == of) return frequency / of;
  }
  return frequency;
}

/// Averages the lost time over all repetitions of `period`, bin by bin. Subtracts the averages from
/// each repetition. Returns the share of the variation that the subtraction removes, corrected by
/// the share that it would remove from random values.
double take_off(std::vector<double>& lost, double period) {
  const auto places = static_cast<std::size_t>(std::max(2.0, std::round(period)));
  const auto place_of = [&](std::size_t i) {
    const double turns = static_cast<double>(i) / period;
    const double place = (turns - std::floor(turns)) * static_cast<double>(places) + 0.5;
    return static_cast<std::size_t>(place) % places;
  };
  std::vector<double> course(places, 0), counts(places, 0);
  for (std::size_t i = 0; i < lost.size(); ++i) {
    course[place_of(i)] += lost[i];
    ++counts[place_of(i)];
  }
  const double before = variation(lost);
  for (std::size_t i = 0; i < lost.size(); ++i)
    lost[i] -= course[place_of(i)] / counts[place_of(i)];
  const auto all = static_cast<double>(lost.size());
  const double after = variation(lost) / (all - static_cast<double>(places)) * (all - 1);
  return before == 0 ? 0 : 1 - after / before;
}

/// Widens the bins until there are at most bins_max bins.
Nanos coarsen(std::vector<double>& lost, Nanos bin) {
  while (lost.size() > bins_max) {
    for (std::size_t i = 0; i + 1 < lost.size(); i += 2) lost[i / 2] = lost[i] + lost[i + 1];
    lost.resize(lost.size() / 2);
    bin *= 2;
  }
  return bin;
}

bool is_fraction(double period, const std::vector<Period>& found) {
  return std::any_of(found.begin(), found.end(), [&](const Period& one) {
    const double times = one.nanos / period;
    return times > 0.99 && std::abs(times - std::round(times)) < 0.01 * times;
  });
}

}  // namespace

std::vector<Period> periods(std::vector<double> lost, Nanos bin) {
  bin = coarsen(lost, bin);
  std::vector<Period> found;
  double left = 1;
  if (lost.size() < 4 * repeats_min) return found;
  while (found.size() < periods_max && variation(lost) > 0) {
    const Spectrum now = spectrum(lost);
    const std::size_t first = repeats_min * now.size / lost.size();
    const auto nanos_of = [&](double frequency) {
      return static_cast<double>(now.size) / frequency * static_cast<double>(bin.count());
    };
    const std::vector<double> limits = chance_limits(now, first);
    std::size_t strongest = 0;
    for (std::size_t i = first; i < now.power.size(); ++i)
      if (now.power[i] > limits[i] && (strongest == 0 || now.power[i] > now.power[strongest]) &&
          !is_fraction(nanos_of(static_cast<double>(i)), found))
        strongest = i;
    if (strongest == 0) break;
    const double frequency = fundamental(now, first, strongest);
    const double explains = left * take_off(lost, static_cast<double>(now.size) / frequency);
    if (explains < explains_least) break;
    left -= explains;
    found.push_back({nanos_of(frequency), explains});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Period& a, const Period& b) { return a.explains > b.explains; });
  return found;
}

}  // namespace bench::fixed_work
