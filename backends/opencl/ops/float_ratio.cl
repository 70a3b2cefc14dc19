// a / b of floats, rounded as IEEE says, of which OpenCL promises 2.5 units in the last place and no more. Option:
// EXACT_DIVISION, 1 where the device's own is rounded so (-cl-fp32-correctly-rounded-divide-sqrt), else 0: then it is
// made of whole numbers.
//
//   a = m_a * 2^i, b = m_b * 2^j     m are whole numbers of 24 bits; the quotient of m_a * 2^38 and m_b has 38 bits or
//                                    more, and its lowest is set if anything is left: enough to round once, to the
//                                    nearest, of two as near to the even one, at the place where a float ends. Of those
//                                    below 2^-126 that is a fixed one.
//
// a is finite and at least 0, b is finite, at least 2^-126 and at least a * 2^-126; as numbers of units, not of lanes,
// floats may be divided by anything.
//
// Compiles alone with: -DEXACT_DIVISION=0
// Compiles alone with: -DEXACT_DIVISION=1
#include "ops/quotient.cl"

#if EXACT_DIVISION

static inline float float_ratio(const float a, const float b) {
  return a / b;
}

#else

static inline float float_ratio(const float a, const float b) {
  const uint bits_a = as_uint(a);
  const uint bits_b = as_uint(b);
  if (bits_a == 0) return 0.0f;
  int exponent = (int)(bits_a >> 23) - (int)(bits_b >> 23);
  uint whole_a = bits_a & 0x7fffffu;
  if (bits_a >> 23 == 0) {
    const int up = (int)clz(whole_a) - 8;
    whole_a <<= up;
    exponent += 1 - up;
  }
  const long numerator = (long)(whole_a | 0x800000u) << 38;
  const long divisor = (long)(bits_b & 0x7fffffu | 0x800000u);
  ulong units = (ulong)quotient(numerator, divisor);
  if ((long)units * divisor != numerator) units |= 1;
  const int top = 63 - (int)clz(units);
  // Of the result: 2^exponent <= a / b < 2^(exponent + 1), but that it is no less than a float's least.
  exponent += top - 38;
  const int left_out = min(top - 23 + max(-126 - exponent, 0), 62);
  uint kept = (uint)(units >> left_out);
  const ulong rest = units & (((ulong)1 << left_out) - 1);
  const ulong middle = (ulong)1 << (left_out - 1);
  if (rest > middle || (rest == middle && (kept & 1) != 0)) ++kept;
  // The highest of 24 bits adds 1 to the exponent's field; of one with fewer the field is 0.
  return as_float(((uint)(max(exponent, -126) + 126) << 23) + kept);
}

#endif
