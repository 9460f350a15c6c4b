// SPDX-License-Identifier: Apache-2.0
//
// Puts the manifest of a library into an ELF note, which tools read without
// loading the library. Compiler and ABI flag are taken from the compilation
// itself, so that the manifest cannot be wrong about them.

#ifndef TRITON_EXT_MANIFEST_H
#define TRITON_EXT_MANIFEST_H

#include "llvm/Config/abi-breaking.h"

#if defined(__clang__)
#define TRITON_EXT_COMPILER "clang " __clang_version__
#else
#define TRITON_EXT_COMPILER "not clang: " __VERSION__
#endif

#if LLVM_ENABLE_ABI_BREAKING_CHECKS
#define TRITON_EXT_ABI_BREAKING_CHECKS "true"
#else
#define TRITON_EXT_ABI_BREAKING_CHECKS "false"
#endif

namespace mlir::triton_ext {

/// The layout of an ELF note (System V gABI, "Note Section"): both strings are
/// padded to four bytes; the sizes do not include the padding.
template <unsigned DescriptionSize> struct Note {
  unsigned nameSize;
  unsigned descriptionSize;
  unsigned type;
  char name[12];
  char description[(DescriptionSize + 3) / 4 * 4];
};

} // namespace mlir::triton_ext

/// Defines the note. `fields` are the JSON members (without braces) that
/// infra/cmake/manifest.py writes.
#define TRITON_EXT_MANIFEST(fields)                                            \
  TRITON_EXT_MANIFEST_NOTE(                                                    \
      "{" fields ", \"compiler\": \"" TRITON_EXT_COMPILER                      \
      "\", \"abi_breaking_checks\": " TRITON_EXT_ABI_BREAKING_CHECKS "}")

#define TRITON_EXT_MANIFEST_NOTE(json)                                         \
  __attribute__((                                                              \
      section(".note.triton_ext"), used,                                       \
      aligned(4))) static const ::mlir::triton_ext::Note<sizeof(json)>         \
      tritonExtManifest = {sizeof("TritonExt"), sizeof(json) - 1, 1,           \
                           "TritonExt", json};

#endif // TRITON_EXT_MANIFEST_H
