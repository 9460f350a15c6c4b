// SPDX-License-Identifier: Apache-2.0

#include "Views.h"

#include "llvm/ADT/Hashing.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

size_t Views::Hash::operator()(const View &view) const {
  const Rearrangement &by = view.by;
  return llvm::hash_combine(
      view.root, view.slot, view.outer, by.kind, by.type,
      llvm::hash_combine_range(by.dims.begin(), by.dims.end()), by.op,
      by.element);
}

ViewId Views::intern(const View &view) {
  return ids.try_emplace(view, ids.size()).first->second;
}

ViewId Views::ofRoot(Operation *root, unsigned slot) {
  View view;
  view.root = root;
  view.slot = slot;
  return intern(view);
}

ViewId Views::rearranged(ViewId outer, const Rearrangement &by) {
  View view;
  view.outer = outer;
  view.by = by;
  return intern(view);
}

bool Views::isRoot(ViewId view, Operation *root) const {
  View wanted;
  wanted.root = root;
  auto it = ids.find(wanted);
  return it != ids.end() && it->second == view;
}
