// SPDX-License-Identifier: Apache-2.0
//
// What every pass uses: uniqued types and attributes, containers that
// cross the boundary (their layout and hashing depend on the ABI-check flag),
// building, walking and cloning IR, symbol tables, and diagnostics.

#include "Dialects.h"
#include "Report.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace triton_ext::selftest;

template <typename T> static std::string print(T value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

static constexpr const char *input = R"(
func.func private @callee(i32) -> i32
func.func @f(%a: i32, %c: i1) -> i32 {
  %0 = arith.constant 41 : i32
  %1 = arith.addi %a, %0 {tag = "here"} : i32
  cf.cond_br %c, ^bb1(%1 : i32), ^bb2
^bb1(%x: i32):
  %2 = func.call @callee(%x) : (i32) -> i32
  return %2 : i32
^bb2:
  return %a : i32
})";

static Part types(Phase::Run, [](Report &report) {
  const char *group = "types";
  Context context(loadCore);
  Builder b(&context);
  report.check(group, "a parsed type is the built one", [&](std::string &) {
    return parseType("tensor<4x?xf16>", &context) ==
           RankedTensorType::get({4, ShapedType::kDynamic}, b.getF16Type());
  });
  report.check(
      group, "a parsed attribute is the built one", [&](std::string &) {
        return parseAttribute("[1 : i8, \"x\", @s, unit, 2.5 : f32]",
                              &context) ==
               b.getArrayAttr({b.getI8IntegerAttr(1), b.getStringAttr("x"),
                               FlatSymbolRefAttr::get(&context, "s"),
                               b.getUnitAttr(), b.getF32FloatAttr(2.5)});
      });
  report.equal(group, "wide APInt out", std::string("-1 : i200"), [&] {
    return print(
        IntegerAttr::get(b.getIntegerType(200), APInt::getAllOnes(200)));
  });
  report.check(group, "wide APInt in", [&](std::string &) {
    auto attr = cast<IntegerAttr>(parseAttribute(
        "1267650600228229401496703205376 : i128", &context)); // 2^100
    return attr.getValue() == APInt::getOneBitSet(128, 100);
  });
  report.check(group, "APFloat in and out", [&](std::string &) {
    auto attr = cast<FloatAttr>(parseAttribute("0x7E00 : f16", &context));
    return attr.getValue().isNaN() &&
           FloatAttr::get(b.getBF16Type(), 1.5).getValueAsDouble() == 1.5;
  });
  report.check(group, "dense elements", [&](std::string &) {
    auto attr = cast<DenseElementsAttr>(
        parseAttribute("dense<[1, 2, 3]> : tensor<3xi64>", &context));
    auto values = llvm::to_vector(attr.getValues<int64_t>());
    return values == SmallVector<int64_t>{1, 2, 3} &&
           attr == DenseElementsAttr::get(attr.getType(),
                                          ArrayRef<int64_t>(values));
  });
  report.check(group, "type interfaces", [&](std::string &) {
    auto shaped = cast<ShapedType>(parseType("tensor<2x3xf32>", &context));
    auto floating = cast<FloatType>(shaped.getElementType());
    return shaped.getNumElements() == 6 && floating.getWidth() == 32 &&
           shaped.clone(b.getI1Type()).getElementType().isInteger(1);
  });
  report.check(group, "dictionary lookup", [&](std::string &) {
    auto dictionary = cast<DictionaryAttr>(
        parseAttribute("{b = 2, a = 1, c = 3, e = 5, d = 4}", &context));
    return dictionary.size() == 5 &&
           dictionary.getAs<IntegerAttr>("d").getInt() == 4;
  });
  report.check(group, "affine map evaluation", [&](std::string &) {
    auto map = cast<AffineMapAttr>(parseAttribute(
        "affine_map<(i, j)[s] -> (i * 4 + j floordiv 2 + s)>", &context));
    SmallVector<Attribute> at;
    return succeeded(map.getValue().constantFold(
               {b.getIndexAttr(3), b.getIndexAttr(5), b.getIndexAttr(7)},
               at)) &&
           at == SmallVector<Attribute>{b.getIndexAttr(21)};
  });
});

static Part containers(Phase::Run, [](Report &report) {
  const char *group = "containers";
  Context context(loadCore);
  auto module = parseSourceString<ModuleOp>(input, &context);
  auto function = module->lookupSymbol<FunctionOpInterface>("f");
  report.check(group, "DenseMap over operations", [&](std::string &) {
    llvm::DenseMap<Operation *, int> order;
    function.walk([&](Operation *op) { order.try_emplace(op, order.size()); });
    int sum = 0;
    for (auto [op, index] : order) // checks its epoch when ABI checks are on
      sum += index;
    return order.size() == 7 && sum == 21;
  });
  report.check(group, "SmallPtrSet over operations", [&](std::string &) {
    llvm::SmallPtrSet<Operation *, 2> seen;
    function.walk([&](Operation *op) { seen.insert(op); });
    return seen.size() == 7 && llvm::count_if(seen, [](Operation *op) {
                                 return op->getNumResults() > 0;
                               }) == 3;
  });
  report.check(group, "StringMap of names", [&](std::string &) {
    llvm::StringMap<int> names;
    function.walk(
        [&](Operation *op) { ++names[op->getName().getStringRef()]; });
    return names.size() == 6 && names.lookup("func.return") == 2;
  });
  report.check(group, "MapVector and SetVector keep the order",
               [&](std::string &) {
                 llvm::MapVector<Type, int> map;
                 llvm::SetVector<Value> set;
                 function.walk([&](Operation *op) {
                   for (Value value : op->getOperands())
                     ++map[value.getType()], set.insert(value);
                 });
                 return map.size() == 2 && map.front().first.isInteger(32) &&
                        set.size() == 6;
               });
  report.check(group, "a vector that libtriton grows", [&](std::string &) {
    NamedAttrList list; // room for four before it grows
    for (const char *name : {"f", "e", "d", "c", "b", "a"})
      list.set(name, UnitAttr::get(&context));
    return list.getDictionary(&context).getValue().front().getName() == "a" &&
           list.erase("d") && list.getAttrs().size() == 5;
  });
  report.check(group, "DominanceInfo", [&](std::string &) {
    DominanceInfo dominance(function);
    Block &entry = function.getFunctionBody().front();
    return dominance.dominates(&entry, entry.getSuccessor(0)) &&
           !dominance.dominates(entry.getSuccessor(0), entry.getSuccessor(1));
  });
});

static Part structure(Phase::Run, [](Report &report) {
  const char *group = "ir";
  Context context(loadCore);
  auto module = parseSourceString<ModuleOp>(input, &context);
  auto function = module->lookupSymbol<FunctionOpInterface>("f");
  Block &entry = function.getFunctionBody().front();
  auto at = [&](int i) { return &*std::next(entry.begin(), i); };

  report.equal(group, "blocks", 3, [&] {
    return int(function.getFunctionBody().getBlocks().size());
  });
  report.equal(group, "predecessors", 1, [&] {
    Block *successor = entry.getSuccessor(1);
    return int(std::distance(successor->pred_begin(), successor->pred_end()));
  });
  report.equal(group, "uses of an argument", 2, [&] {
    return int(llvm::range_size(function.getArgument(0).getUses()));
  });
  report.check(group, "discardable attribute", [&](std::string &) {
    return at(1)->getAttrOfType<StringAttr>("tag") == "here" &&
           !at(1)->hasAttr("gat");
  });
  report.check(group, "order within a block", [&](std::string &) {
    return at(0)->isBeforeInBlock(at(2)) && !at(2)->isBeforeInBlock(at(1));
  });
  report.equal(group, "walk stops when asked to", 2, [&] {
    int n = 0;
    auto result = function.walk<WalkOrder::PreOrder>([&](Operation *) {
      return ++n == 2 ? WalkResult::interrupt() : WalkResult::advance();
    });
    return result.wasInterrupted() ? n : -1;
  });
  report.check(group, "OperationState creates an op", [&](std::string &) {
    OpBuilder builder(at(2));
    OperationState state(builder.getUnknownLoc(), "arith.muli");
    state.addOperands({at(1)->getResult(0), function.getArgument(0)});
    state.addTypes(builder.getI32Type());
    state.addAttribute("note", builder.getStringAttr("made"));
    Operation *op = builder.create(state);
    return at(2) == op && op->isRegistered() && op->getNumOperands() == 2 &&
           succeeded(verify(op));
  });
  report.check(
      group, "setOperand, moveBefore, replace and erase", [&](std::string &) {
        Operation *product = at(2);
        product->setOperand(0, function.getArgument(0));
        product->moveBefore(at(0));
        bool isFirst = &entry.front() == product;
        at(2)->getResult(0).replaceUsesWithIf(
            product->getResult(0), [&](OpOperand &use) {
              return use.getOwner() == entry.getTerminator();
            });
        bool isUsed = product->hasOneUse();
        product->getResult(0).replaceAllUsesWith(function.getArgument(0));
        product->erase();
        return isFirst && isUsed && entry.getOperations().size() == 3;
      });
  report.check(group, "IRMapping maps a clone", [&](std::string &) {
    IRMapping mapping;
    Operation *copy = function->clone(mapping);
    Value mapped = mapping.lookupOrNull(function.getArgument(1));
    bool ok = mapped && mapped.getParentBlock()->getParentOp() == copy &&
              mapping.lookupOrNull(&entry) == mapped.getParentBlock();
    copy->destroy();
    return ok;
  });
  report.check(group, "printed IR parses to the same", [&](std::string &) {
    std::string text = print(*module);
    auto again = parseSourceString<ModuleOp>(text, &context);
    return again && print(*again) == text;
  });
});

static Part symbols(Phase::Run, [](Report &report) {
  const char *group = "symbols";
  Context context(loadCore);
  auto module = parseSourceString<ModuleOp>(input, &context);
  SymbolTable table(*module);
  report.check(group, "lookup", [&](std::string &) {
    return table.lookup<FunctionOpInterface>("callee") && !table.lookup("g");
  });
  report.check(group, "uses", [&](std::string &) {
    auto uses = SymbolTable::getSymbolUses(table.lookup("callee"), *module);
    return uses && llvm::range_size(*uses) == 1;
  });
  report.check(group, "rename with its uses", [&](std::string &) {
    return succeeded(table.rename(table.lookup("callee"), "other")) &&
           StringRef(print(*module)).contains("call @other(");
  });
  report.check(group, "insertion makes a name unique", [&](std::string &) {
    Operation *copy = table.lookup("f")->clone();
    return table.insert(copy).getValue().starts_with("f_") &&
           succeeded(verify(*module));
  });
});

static Part diagnostics(Phase::Run, [](Report &report) {
  const char *group = "diagnostics";
  Context context(loadCore);
  auto module = parseSourceString<ModuleOp>(
      "module { func.func private @f() loc(\"a.mlir\":3:7) }", &context);
  context.printOpOnDiagnostic(false);
  Operation *function = module->lookupSymbol("f");
  std::string text, location, note;
  bool isError = false;
  {
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      text = diagnostic.str();
      location = print(diagnostic.getLocation());
      isError = diagnostic.getSeverity() == DiagnosticSeverity::Error;
      for (Diagnostic &each : diagnostic.getNotes())
        note += each.str();
      return success();
    });
    function->emitOpError("expected ")
            .append(2, " of ", Type(IndexType::get(&context)))
            .attachNote()
        << "see " << StringRef("there");
  }
  report.equal(group, "message",
               std::string("'func.func' op expected 2 of 'index'"),
               [&] { return text; });
  report.equal(group, "location", std::string("loc(\"a.mlir\":3:7)"),
               [&] { return location; });
  report.equal(group, "note", std::string("see there"), [&] { return note; });
  report.check(group, "severity", [&](std::string &) { return isError; });
  report.check(
      group, "a parse error is reported, not fatal", [&](std::string &detail) {
        ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
          detail = diagnostic.str();
          return success();
        });
        return !parseSourceString<ModuleOp>("func.func @", &context) &&
               !detail.empty();
      });
});
