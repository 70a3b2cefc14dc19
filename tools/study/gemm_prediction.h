// What the published study of gemm told of a kernel before it measured it: how fast memory lets it be, from the bytes
// that its threads ask for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/bench/bench_record.h"
#include "tools/output/result_file.h"
#include "tools/peaks/device_peaks.h"
#include "tools/study/variant_scores.h"

namespace tessera::tool {

struct GemmPrediction {
  const BenchRecord* record = nullptr;
  double bytes_per_product = 0;  ///< that threads ask global memory for, for each multiply-add
  double copy_gbytes_per_s = 0;  ///< measured on this device
  double gflops = 0;             ///< predicted: two operations for each multiply-add that so many bytes a second allow
};

/// Elements of A and B that a thread of this variant asks for, for each multiply-add: 2 of plain loops, 1 + 1 / b
/// where A is kept in tiles of b, 1 / m + 1 / n where a group computes m x n of C from tiles of both (of `split` and
/// `split_mma`, whose operands are prepared as two halves of a float's bytes together). Nothing for variants whose
/// tiles are not among their tunables.
[[nodiscard]] std::optional<double> gemm_reads_per_product(std::string_view variant, const Tuning& tuning);

/// Of those verified records that can be told, on devices whose copy rate is known.
[[nodiscard]] std::vector<GemmPrediction> gemm_predictions(const BenchRecords& records, const DevicePeaks& peaks);

[[nodiscard]] Json to_json(const std::vector<GemmPrediction>& predictions, CaseLabel label);
/// "" if there are none.
[[nodiscard]] std::string prediction_text(const std::vector<GemmPrediction>& predictions, CaseLabel label);

}  // namespace tessera::tool
