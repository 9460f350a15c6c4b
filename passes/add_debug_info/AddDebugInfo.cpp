// SPDX-License-Identifier: Apache-2.0
//
// Adds a description for debuggers to the location of each function that comes
// from a file. Leaves all other functions untouched.

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"

#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Support/Path.h"

namespace mlir::triton_ext::add_debug_info {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_ADDDEBUGINFOPASS
#include "AddDebugInfo.h.inc"
} // namespace mlir::triton_ext::add_debug_info

using namespace mlir;

namespace {
struct AddDebugInfoPass
    : mlir::triton_ext::add_debug_info::impl::AddDebugInfoPassBase<
          AddDebugInfoPass> {
  using AddDebugInfoPassBase::AddDebugInfoPassBase;

  void runOnOperation() override;

private:
  LLVM::DISubprogramAttr describe(FunctionOpInterface function,
                                  FileLineColLoc place);

  /// One for each file, because a unit is distinct.
  DenseMap<LLVM::DIFileAttr, LLVM::DICompileUnitAttr> units;
};
} // namespace

/// Returns the first place in a file that the location contains, if any.
static FileLineColLoc placeOf(Location loc) {
  FileLineColLoc place;
  loc->walk([&](Location inner) {
    place = dyn_cast<FileLineColLoc>(inner);
    return place ? WalkResult::interrupt() : WalkResult::advance();
  });
  return place;
}

static bool isDescribed(Location loc) {
  return loc
      ->walk([](Location inner) {
        auto fused = dyn_cast<FusedLoc>(inner);
        bool is = fused &&
                  isa_and_nonnull<LLVM::DISubprogramAttr>(fused.getMetadata());
        return is ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

LLVM::DISubprogramAttr AddDebugInfoPass::describe(FunctionOpInterface function,
                                                  FileLineColLoc place) {
  MLIRContext *context = &getContext();
  StringRef path = place.getFilename().getValue();
  auto file = LLVM::DIFileAttr::get(context, llvm::sys::path::filename(path),
                                    llvm::sys::path::parent_path(path));
  auto unique = [&] { return DistinctAttr::create(UnitAttr::get(context)); };
  LLVM::DICompileUnitAttr &unit = units[file];
  if (!unit)
    unit = LLVM::DICompileUnitAttr::get(
        unique(), llvm::dwarf::DW_LANG_Python, file,
        StringAttr::get(context, "triton-ext"), optimized,
        full ? LLVM::DIEmissionKind::Full
             : LLVM::DIEmissionKind::LineTablesOnly);
  auto type = LLVM::DISubroutineTypeAttr::get(
      context, llvm::dwarf::DW_CC_normal, ArrayRef<LLVM::DITypeAttr>());
  bool isDefined = !function.isExternal();
  auto flags = LLVM::DISubprogramFlags();
  if (isDefined)
    flags = flags | LLVM::DISubprogramFlags::Definition;
  if (optimized)
    flags = flags | LLVM::DISubprogramFlags::Optimized;
  StringAttr name = function.getNameAttr();
  // What is only declared belongs to the unit that defines it.
  return LLVM::DISubprogramAttr::get(
      context, isDefined ? unique() : DistinctAttr(),
      isDefined ? unit : LLVM::DICompileUnitAttr(), /*scope=*/file, name,
      /*linkageName=*/name, file, place.getLine(),
      /*scopeLine=*/place.getLine(), flags, type, /*retainedNodes=*/{},
      /*annotations=*/{});
}

void AddDebugInfoPass::runOnOperation() {
  units.clear();
  Builder builder(&getContext());
  getOperation().walk([&](FunctionOpInterface function) {
    Location loc = function.getLoc();
    FileLineColLoc place = placeOf(loc);
    if (!place || isDescribed(loc))
      return;
    function->setLoc(builder.getFusedLoc({loc}, describe(function, place)));
    function->walk([&](Operation *op) {
      if (op != function && !placeOf(op->getLoc()))
        op->setLoc(place);
    });
  });
}
