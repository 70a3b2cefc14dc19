// What kernel_regression's variants with a model take, in microseconds of H100 and H200, fitted to random problems and
// to series of them, in which only what takes up to a few hundred microseconds counts; without a committed file.
#pragma once

#include "mathematics/kernel_regression_times.h"

namespace tessera::cuda {

inline constexpr mathematics::RegressionTileTimes kRegressionFusedSplit{.launches = 11,
                                                                        .row = 0.003,
                                                                        .row_of_outputs = 0.19,
                                                                        .row_of_classes = 0.12,
                                                                        .number_of_row = 0.002,
                                                                        .column = 0.000115,
                                                                        .pair = 4.15e-6,
                                                                        .pair_of_many = 9e-6,
                                                                        .products_per_us = 156e6,
                                                                        .block = 0.21};
inline constexpr mathematics::RegressionTileTimes kRegressionFusedFloat32{.launches = 12.5,
                                                                          .row = 0.018,
                                                                          .row_of_outputs = 0.02,
                                                                          .row_of_classes = 0.01,
                                                                          .number_of_row = 0.0005,
                                                                          .column = 0.00031,
                                                                          .pair = 8.4e-6,
                                                                          .pair_of_many = 0,
                                                                          .products_per_us = 16e6,
                                                                          .block = 0.26};
inline constexpr mathematics::RegressionTileTimes kRegressionFusedFloat64{.launches = 11.2,
                                                                          .row = 0.0465,
                                                                          .row_of_outputs = 0.06,
                                                                          .row_of_classes = 0.06,
                                                                          .number_of_row = 0.01,
                                                                          .column = 0.00046,
                                                                          .pair = 7.4e-6,
                                                                          .pair_of_many = 0,
                                                                          .products_per_us = 30e6,
                                                                          .block = 0.32};
inline constexpr mathematics::RegressionRowTimes kRegressionNaive{.launches = 9,
                                                                  .start = 7.1,
                                                                  .column = 0.055,
                                                                  .unaligned = 1,
                                                                  .of_memory = 0.7,
                                                                  .column_of_warps = 0.0162,
                                                                  .pass = 0.63,
                                                                  .number_of_pass = 0.16,
                                                                  .number = 0.58,
                                                                  .queries = 500};
inline constexpr mathematics::RegressionRowTimes kRegressionOneKernel{.launches = 5,
                                                                      .start = 4.57,
                                                                      .column = 0.0505,
                                                                      .unaligned = 1,
                                                                      .of_memory = 0,
                                                                      .column_of_warps = 0.0148,
                                                                      .pass = 0.61,
                                                                      .number_of_pass = 0.156,
                                                                      .number = 0.62,
                                                                      .queries = 440};

}  // namespace tessera::cuda
