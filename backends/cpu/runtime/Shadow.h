// SPDX-License-Identifier: Apache-2.0
//
// The lanes of an access as runs of contiguous elements, for looks at shadows.

#ifndef TRITON_EXT_CPU_SHADOW_H
#define TRITON_EXT_CPU_SHADOW_H

#include "Failures.h"
#include "Features.h"

namespace triton_ext::cpu {

/// The words of an argument with the addresses of its shadows.
inline constexpr int64_t kInitShadow = 4, kRaceShadow = 5;

/// Versions of a function for processors with wide vectors. The libraries are
/// built for every x86-64, whose vectors are a fourth as wide.
template <auto function, typename Result, typename... Arguments>
struct Widened {
  __attribute__((target("avx2"))) static Result inAvx2(Arguments... arguments) {
    return function(arguments...);
  }
  __attribute__((target("avx512f,avx512bw"))) static Result
  inAvx512(Arguments... arguments) {
    return function(arguments...);
  }
  static Result call(Arguments... arguments) {
    static const auto here = has("avx512f") && has("avx512bw") ? inAvx512
                             : has("avx2")                     ? inAvx2
                                                               : function;
    return here(arguments...);
  }
};
template <auto function, typename Result, typename... Arguments>
constexpr auto widened(Result (*)(Arguments...)) {
  return Widened<function, Result, Arguments...>::call;
}
/// Calls `function`, which is always inlined, with the widest vectors of the
/// processor.
template <auto function>
inline constexpr auto inWidestVectors = widened<function>(function);

/// The memory of a tensor, and the bytes of an element.
struct Memory {
  int64_t start, end, bytes;

  /// Whether an element of it starts at an offset. Its size is a power of two.
  bool has(int64_t offset) const {
    return offset >= 0 && offset <= end - start - bytes &&
           !(offset & (bytes - 1));
  }
};

/// The addresses of the lanes of an access: `base` plus `scale` times an
/// offset. Those of lanes that are off are outside of the memory.
struct Addresses {
  int64_t base, scale;
  const int64_t *offsets;

  int64_t of(int64_t lane) const {
    return int64_t(uint64_t(base) + uint64_t(scale) * uint64_t(offsets[lane]));
  }
};

/// Lanes with contiguous elements.
struct Run {
  int64_t lane;   ///< the first one
  int64_t offset; ///< of its element, from the start of the memory
  int64_t lanes;  ///< how many
};

/// Returns how many lanes from the first one on have offsets that are `step`
/// apart, if those of the first two are.
int64_t lengthOfRun(const int64_t *offsets, int64_t lanes, int64_t step);

/// Calls `body` for the runs of the lanes whose elements are in the memory.
template <typename Body>
void forRuns(const Memory &memory, const Addresses &addresses, int64_t lanes,
             Body body) {
  const int64_t step = memory.bytes / addresses.scale;
  for (int64_t lane = 0; lane < lanes;) {
    int64_t offset =
        int64_t(uint64_t(addresses.of(lane)) - uint64_t(memory.start));
    if (!memory.has(offset)) {
      ++lane;
      continue;
    }
    const int64_t *first = addresses.offsets + lane;
    bool isRun = lanes - lane > 1 && first[1] == first[0] + step;
    int64_t length = isRun ? lengthOfRun(first, lanes - lane, step) : 1;
    int64_t room = (memory.end - memory.start - offset) / memory.bytes;
    Run run{lane, offset, std::min(length, room)};
    body(run);
    lane += run.lanes;
  }
}

inline Site siteOf(int64_t *slot, int64_t site, int64_t tag, int32_t x,
                   int32_t y, int32_t z) {
  return {slot,
          slot + site,
          tag,
          {int64_t(uint32_t(x)) | (int64_t(y) << 32), int64_t(uint32_t(z))}};
}

} // namespace triton_ext::cpu

#endif // TRITON_EXT_CPU_SHADOW_H
