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
inline constexpr mathematics::RegressionRowTimes kRegressionNaive{.launches = 7.4,
                                                                  .pass = 0.61,
                                                                  .number_of_pass = 0.14,
                                                                  .number = 0.58,
                                                                  .queries = 670,
                                                                  .column = 0.055,
                                                                  .least_column = 0,
                                                                  .column_of_many = 0.037};
inline constexpr mathematics::RegressionRowTimes kRegressionOneKernel{.launches = 4.6,
                                                                      .pass = 0.57,
                                                                      .number_of_pass = 0.136,
                                                                      .number = 0.72,
                                                                      .queries = 430,
                                                                      .column = 0.049,
                                                                      .least_column = 0.045,
                                                                      .column_of_many = 0.024};

}  // namespace tessera::cuda
