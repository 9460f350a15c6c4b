// SPDX-License-Identifier: Apache-2.0
//
// Finds the line of the user's code that an operation comes from.

#include "Slice.h"

#include "mlir/IR/Location.h"

using namespace mlir;
using namespace mlir::triton_ext;

/// Whether a file is part of Triton's own library of functions for kernels.
static bool isOfTriton(StringRef file) {
  return file.contains("/triton/language/");
}

FileLineColLoc intensity::placeOf(Location loc) {
  if (auto call = dyn_cast<CallSiteLoc>(loc)) {
    FileLineColLoc callee = placeOf(call.getCallee());
    return !callee || isOfTriton(callee.getFilename())
               ? placeOf(call.getCaller())
               : callee;
  }
  if (auto name = dyn_cast<NameLoc>(loc))
    return placeOf(name.getChildLoc());
  if (auto fused = dyn_cast<FusedLoc>(loc)) {
    for (Location inner : fused.getLocations())
      if (FileLineColLoc place = placeOf(inner))
        return place;
    return {};
  }
  return dyn_cast<FileLineColLoc>(loc);
}

std::string intensity::lineOf(Location loc) {
  FileLineColLoc place = placeOf(loc);
  return place ? (place.getFilename().getValue() + ":" + Twine(place.getLine()))
                     .str()
               : "";
}
