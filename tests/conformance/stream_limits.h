// Streams with ever smaller limits of memory: for tests that want to see a problem cut in many ways.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include <tessera/tessera.h>

namespace tessera::testing_support {

/// Calls `stream(limit)`, which returns its StreamReport, with limits from below what the problem takes in one piece
/// down to where it is refused, odd numbers all of them. Expects that each is kept to. Returns how many slabs there
/// were.
template <class Stream>
[[nodiscard]] std::set<std::size_t> slabs_of_smaller_limits(std::uint64_t whole_bytes, const Stream& stream) {
  std::set<std::size_t> slabs;
  for (std::uint64_t limit = (whole_bytes - 1) | 1; limit > 1; limit = limit / 8 * 7 | 1) {
    SCOPED_TRACE("a limit of " + std::to_string(limit) + " bytes");
    try {
      const StreamReport report = stream(limit);
      EXPECT_LE(report.memory_bytes, limit);
      slabs.insert(report.slabs.size());
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << error.what();
      EXPECT_NE(error.sentence().find("but memory_bytes is " + std::to_string(limit)), std::string::npos)
          << error.sentence();
      return slabs;
    }
  }
  ADD_FAILURE() << "no limit was too small";
  return slabs;
}

/// Expects that each slab is there before its run begins, and its results after it has ended.
inline void expect_slabs_in_order(const StreamReport& report) {
  for (const SlabTimes& slab : report.slabs) {
    EXPECT_LE(slab.upload_end_s, slab.run_begin_s) << "a run waits for its slab";
    EXPECT_LE(slab.run_end_s, slab.download_end_s);
  }
}

/// Does some upload lie in the run of another slab, by half at least?
[[nodiscard]] inline bool has_overlap(const StreamReport& report) {
  for (std::size_t i = 1; i < report.slabs.size(); ++i) {
    const SlabTimes& run = report.slabs[i - 1];
    const SlabTimes& upload = report.slabs[i];
    const double both = std::min(run.run_end_s, upload.upload_end_s) - std::max(run.run_begin_s, upload.upload_begin_s);
    // A copy of no length, where the driver cannot tell its begin, counts by the moment at which it was over.
    const bool meets = upload.upload_end_s > run.run_begin_s && upload.upload_begin_s < run.run_end_s;
    if (meets && both >= (upload.upload_end_s - upload.upload_begin_s) / 2) return true;
  }
  return false;
}

/// The slabs' uploads and runs in microseconds, for the message of a test that found no overlap.
[[nodiscard]] inline std::string times_of(const StreamReport& report) {
  std::string text;
  for (const SlabTimes& slab : report.slabs) {
    const auto span = [](double begin, double end) {
      return std::to_string(std::llround(begin * 1e6)) + " to " + std::to_string(std::llround(end * 1e6));
    };
    text += "upload " + span(slab.upload_begin_s, slab.upload_end_s) + ", run " +
            span(slab.run_begin_s, slab.run_end_s) + " us\n";
  }
  return text;
}

}  // namespace tessera::testing_support
