// SPDX-License-Identifier: Apache-2.0
//
// What the checks share, and one function for each file of checks.

#ifndef TRITON_EXT_SANITIZER_CHECKS_H
#define TRITON_EXT_SANITIZER_CHECKS_H

#include "Apart.h"
#include "DeferLooks.h"
#include "Signs.h"

#include "analysis/MemoryAccess.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"

#include <set>

namespace mlir::triton_ext::sanitizer {

using analysis::MemoryAccess;

/// How the kernel treats an access that is out of bounds.
enum class Action { Report, Suppress, Trap };

/// A word of the launch slot that describes an argument of the kernel.
enum class ArgumentWord {
  StorageStart,
  StorageEnd, ///< exclusive
  ViewStart,
  ViewEnd,
  InitShadow, ///< address; 0 if there is none
  RaceShadow,
  Value, ///< of an integer, sign-extended
};

/// The result of a check before the kernel runs.
enum class Verdict { Proved, Checked, Unsupported };

/// A number that a report shows, and its name there.
struct Shown {
  std::string name;
  Value value;
  bool isUnsigned = false; ///< how to read an integer
};

/// Something that is wrong if `ok` is false in a lane of `mask`.
struct Finding {
  StringRef check; ///< bounds, view, lanes, ...
  Operation *op;   ///< gets the blame: its line is reported
  Value ok;        ///< i1 or a tensor of i1
  Value mask;      ///< null if every lane counts
  Value address;   ///< of each lane, i64; null if there is none
  /// More numbers for the report. Integers and floats
  /// of at most 64 bits, scalars or of the shape of `ok`. The name "lane" says
  /// which lane of the operation it is, where `ok` has other lanes.
  SmallVector<Shown> values;
  /// What else the host should know, such as the number of the argument.
  llvm::json::Object note;
};

/// Where the bounds of accesses are checked. An access is in neither set if it
/// is proved, or has a look that can run in a kernel of its own.
struct CheckPlaces {
  std::set<int64_t> host;   ///< on the host, which compares corners
  std::set<int64_t> kernel; ///< in the kernel, which has a look at lanes
};

/// The kernel, and what its checks share.
class Checker {
public:
  Checker(triton::FuncOp kernel, llvm::StringSet<> checks, Action action);

  triton::FuncOp kernel;
  const Action action;
  const Signs signs;
  /// Whether proved accesses are not checked, and what is known of lanes before
  /// the kernel runs is used.
  bool isStatic = true;
  /// Whether tiles with affine addresses are checked by their corners.
  bool hasCorners = true;
  Looks looks = Looks::Inline;
  /// Whether the kernel is a copy that only serves to see what becomes of its
  /// accesses. Nothing is then said of them.
  bool isTrial = false;
  /// The checks whose looks at shadows are in another kernel. The host launches
  /// it in place of this one if the looks may find something, or if it cannot
  /// say what they would mark.
  llvm::StringSet<> apart;
  /// Whether the kernel keeps only the first lane of what it checks lane by
  /// lane, which compiles faster. The host knows a kernel that has all of them.
  bool keepsFirst = false;
  /// Whether a look at lanes that a mask turns off tells addresses that come
  /// from memory. It is then in the kernel, also without proofs.
  bool tellsLoadedAddresses = true;
  /// Whether code that is called looks at lanes. Only a program of one thread
  /// can call it.
  bool canCall = false;
  /// Whether looks at shadows are such code.
  bool callsShadows = false;
  /// Without proofs, the looks at lanes that masks turn off. They leave loops
  /// and the kernel as those for bounds do.
  SmallVector<Look> looksOfLanes;
  /// What becomes of the accesses, by their numbers in the order of the
  /// program.
  CheckPlaces places;
  /// A constant at the kernel's start, before which is room for what many
  /// checks need, behind the launch words. Nothing uses it.
  Operation *start;
  /// Every access of the kernel, in program order, as it was before the first
  /// check was inserted.
  SmallVector<MemoryAccess> accesses;

  bool wants(StringRef check) const { return checks.contains(check); }

  /// Returns a builder at `op`, with its location: before it, or behind it.
  ImplicitLocOpBuilder before(Operation *op) const;
  ImplicitLocOpBuilder after(Operation *op) const;

  /// Returns a launch word as i64, read at the kernel's start, or at `b` for
  /// what is needed rarely.
  Value word(int64_t number);
  /// An offset is added to the number.
  static Value wordAt(ImplicitLocOpBuilder &b, int64_t number,
                      Value offset = {});
  Value word(unsigned argument, ArgumentWord which) {
    return word(numberOf(argument, which));
  }
  /// Returns the number of a launch word that describes an argument.
  static int64_t numberOf(unsigned argument, ArgumentWord which) {
    return 8 + 8 * int64_t(argument) + int64_t(which);
  }

  /// Moves launch words that only code behind a loop needs behind the loop, so
  /// that they are not kept in registers in it. Others stay at the start, where
  /// the kernel's own loads hide how long they take.
  void sinkWords();

  /// Inserts a check of `finding` at the builder, with the location of the
  /// operation that gets the blame. A launch without a slot never reports:
  /// its serial number is 0.
  void report(ImplicitLocOpBuilder &b, Finding finding);
  /// Returns the place of an operation of the kernel in program order.
  int64_t placeOf(Operation *op) const { return order.lookup(op); }
  /// Adds to a note what the host should know of a check of `op`.
  void addTo(llvm::json::Object &note, StringRef check, Operation *op) const;
  /// Emits a remark that says how an operation is checked.
  void say(Operation *op, StringRef check, Verdict verdict, StringRef why);

  /// Returns what `say` was told, for the host.
  llvm::json::Array takeVerdicts() { return std::move(verdicts); }

private:
  /// Returns the launch's serial number, the same value for checks one behind
  /// the other.
  Value serialAt(ImplicitLocOpBuilder &b);

  llvm::StringSet<> checks;
  /// The places of the kernel's operations, in program order.
  DenseMap<Operation *, int64_t> order;
  DenseMap<int64_t, Value> words;
  DenseMap<Block *, Value> serials;
  llvm::json::Array verdicts;
};

/// Returns a note as it is written in an attribute.
std::string textOf(llvm::json::Object note);

/// Marks an operation on memory that a check has inserted and that the kernel
/// itself does not have.
void markOwn(Operation *op);
bool isOwn(Operation *op);

/// Returns the innermost position of the source file in `loc`; null if there is
/// none.
FileLineColLoc positionOf(Location loc);

/// Removes the checks that the launch makes on the host: the divisors of
/// arguments that the kernel promises, or for which it was specialised. Returns
/// them with the names of all arguments, or nullopt if the launch has nothing
/// to check.
std::optional<llvm::json::Object> promisesOf(Checker &checker);

/// Returns where the accesses of the checker's kernel are checked. The host
/// compares those whose looks at lanes need nothing but integers of the launch;
/// none if one of them has no corners, or if nothing is to be proved.
CheckPlaces placesOfChecks(const Checker &checker);

/// Each inserts what the options ask for, and nothing else. The first one
/// returns the accesses that it leaves to the host.
llvm::json::Array
checkBounds(Checker &checker);     // bounds, view, and the looks of lanes
void checkLanes(Checker &checker); // lanes
void checkHints(Checker &checker); // hints
void checkArith(Checker &checker); // arith

/// Inserts `uninit` and `race`. Returns the accesses that look at a shadow: the
/// host decides of each launch which shadows it needs.
llvm::json::Array checkShadow(Checker &checker);

} // namespace mlir::triton_ext::sanitizer

#endif // TRITON_EXT_SANITIZER_CHECKS_H
