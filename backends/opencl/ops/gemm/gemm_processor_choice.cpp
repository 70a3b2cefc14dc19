// Choice by a model of the time. Its figures are of PoCL 3.1 on two cores with vectors of 64 bytes, without a committed
// file. Other processors have other times, but the choice depends on their ratios alone.
#include "ops/gemm/gemm_processor_choice.h"

#include <cmath>

#include "backend/sentence.h"
#include "ops/gemm/gemm_oriented.h"
#include "ops/gemm/gemm_register_local.h"

namespace tessera::opencl {

namespace {

using backend::sentence;
using backend::Verdict;

/// Of `naive`, of `register_dots` and of the two launches of `register_panels`.
constexpr double kNaiveLaunchUs = 2.3;
constexpr double kDotsLaunchUs = 1.5;
constexpr double kPanelLaunchesUs = 4.5;
/// For each product in `naive`.
constexpr double kNaiveProductUs = 0.6e-3;
/// For 4 x 4 elements of C in `register_dots`: what is done once, with each vector along k, and with each number of k
/// behind the last whole vector.
constexpr double kDotsBlockUs = 0.045;
constexpr double kDotsVectorUs = 0.0032;
constexpr double kDotsBehindUs = 0.005;
/// In `register_panels`: for each byte of B that is packed, and for each 64 bytes of products.
constexpr double kPackedByteUs = 0.11e-3;
constexpr double kPanelVectorUs = 0.16e-3;

double products(const Gemm& p) {
  return static_cast<double>(p.batch) * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
}

double naive_us(const Gemm& p) {
  return kNaiveLaunchUs + kNaiveProductUs * products(p);
}

double panels_us(const Gemm& p) {
  const auto bytes = static_cast<double>(size_bytes(p.type));
  const double packed = static_cast<double>(p.batch) * static_cast<double>(p.n) * static_cast<double>(p.k) * bytes;
  return kPanelLaunchesUs + kPackedByteUs * packed + kPanelVectorUs * products(p) * bytes / 64;
}

double dots_us(const Gemm& p, const DeviceFacts& facts) {
  const auto width = static_cast<std::int64_t>(facts.vector_bytes / size_bytes(p.type));
  const double block = kDotsBlockUs + kDotsVectorUs * static_cast<double>(p.k / width) +
                       kDotsBehindUs * static_cast<double>(p.k % width);
  return kDotsLaunchUs + block * static_cast<double>(gemm_blocks(p, 4, 4));
}

Verdict slower(double own, const char* other, double others) {
  return Verdict::no(sentence("it is expected to take ", std::ceil(own), " us, and ", other, " ", std::ceil(others)));
}

}  // namespace

Verdict register_dots_pays(const Gemm& problem, const backend::Device& device) {
  if (Verdict verdict = pays_without_local_memory(problem, device); !verdict) return verdict;
  const DeviceFacts& facts = native(device).facts();
  if (facts.info.kind != DeviceKind::cpu) return Verdict::yes();
  const Gemm p = orient(gemm_as_computed(problem)).problem;
  const double own = dots_us(p, facts);
  if (const double others = panels_us(p); others < own) return slower(own, "register_panels", others);
  if (const double others = naive_us(p); others < own) return slower(own, "naive", others);
  return Verdict::yes();
}

Verdict register_panels_pays(const Gemm& problem, const backend::Device& device) {
  if (Verdict verdict = pays_without_local_memory(problem, device); !verdict) return verdict;
  if (native(device).facts().info.kind != DeviceKind::cpu) return Verdict::yes();
  const Gemm p = orient(gemm_as_computed(problem)).problem;
  const double own = panels_us(p);
  if (const double others = naive_us(p); others < own) return slower(own, "naive", others);
  return Verdict::yes();
}

Verdict square_tiles_pay(const Gemm& /*problem*/, const backend::Device& device) {
  const DeviceInfo& info = native(device).facts().info;
  if (info.kind != DeviceKind::cpu) return Verdict::yes();
  return Verdict::no(sentence("local memory is memory as any other on '", info.name, "'"));
}

}  // namespace tessera::opencl
