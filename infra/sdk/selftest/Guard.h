// SPDX-License-Identifier: Apache-2.0
//
// Where headers and libtriton are known to disagree about an op's properties,
// the SDK marks what depends on them as unavailable: code that would be wrong
// does not compile. Such an op does not count as a disagreement.

#ifndef TRITON_EXT_SELFTEST_GUARD_H
#define TRITON_EXT_SELFTEST_GUARD_H

#include <utility>

namespace triton_ext::selftest {

/// Whether the SDK guards the properties of `OpT`.
template <typename OpT>
inline constexpr bool isGuarded =
    !requires { std::declval<OpT &>().getProperties(); };

} // namespace triton_ext::selftest

#endif // TRITON_EXT_SELFTEST_GUARD_H
