// SPDX-License-Identifier: Apache-2.0
//
// The pull-based lowering of one Triton function: tensors are expressions that
// are evaluated at coordinates, one register-sized group of lanes at a time,
// inside the loops of the operation that needs them. See RATIONALE.md.

#ifndef TRITON_EXT_CPU_LOWERING_H
#define TRITON_EXT_CPU_LOWERING_H

#include "Facts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "llvm/ADT/DenseMap.h"

#include <map>

namespace mlir::triton_ext::cpu {

/// What a group of lanes holds: the same scalar in each; a scalar plus a
/// constant for each lane (integers; pointers, in bytes); or any vector.
struct Lanes {
  Value base;
  SmallVector<int64_t, 4> pattern;
  Value vec;
  /// The vector that the lanes of a pattern hold. Null if that is always base +
  /// pattern.
  Value exact;
  /// An i1 that implies that the lanes hold base + pattern. Null if `exact` is.
  /// Loads and stores test it at run time, everything else takes `exact`.
  Value holds;

  static Lanes uniform(Value scalar) {
    Lanes lanes;
    lanes.base = scalar;
    return lanes;
  }
  static Lanes vector(Value vec) {
    Lanes lanes;
    lanes.vec = vec;
    return lanes;
  }
  bool isUniform() const { return base && pattern.empty(); }
  bool isPattern() const { return base && !pattern.empty(); }
  explicit operator bool() const { return base || vec; }
};

/// Where a tensor is evaluated: for each of its dimensions, i64 lanes.
using Coords = SmallVector<Lanes, 4>;

/// A tensor in scratch memory, row-major; integers of less than 8 bits take a
/// byte.
struct Buffer {
  Value ptr;
  Type element;
  SmallVector<int64_t, 4> shape;
};

/// An operation that makes a value be computed, as seen from that value.
struct RootUse {
  Operation *root;
  size_t view;     // which coordinates it is evaluated at
  bool replicated; // several times for each element
};

/// Decides, before anything is emitted, which tensors are put into scratch
/// memory and which are computed where they are needed.
class Plan {
public:
  explicit Plan(triton::FuncOp func);
  bool isStored(Value tensor) const { return stored.contains(tensor); }
  ArrayRef<RootUse> uses(Value tensor) const;
  /// The dimension of `tensor` along which its pointers are contiguous.
  int contiguousDim(Value tensor, ArrayRef<Value> others = {});
  /// For each dimension, the difference of neighbours along it (of pointers: in
  /// elements), modulo 2^width and read as signed; nullopt if it is unknown or
  /// varies. Not a fact: neighbours differ by something else where a remainder
  /// or the operand of an extension wraps around between them. Good enough to
  /// choose a dimension.
  ArrayRef<std::optional<int64_t>> strides(Value tensor);

private:
  void visit(Value tensor);
  void addUses(Value tensor, OpOperand &use);
  bool mustStore(Value tensor);
  int cost(Value tensor);
  bool loadMayMove(triton::LoadOp load);
  void vote(Value value, ArrayRef<int> dims, MutableArrayRef<int64_t> votes,
            DenseSet<Value> &seen);

  DenseSet<Value> stored;
  DenseMap<Value, SmallVector<RootUse>> useMap;
  DenseMap<Value, int> costs;
  DenseMap<Value, SmallVector<std::optional<int64_t>>> strideMap;
};

/// Whether each lane of the load is one access, which stays where it is.
bool isVolatile(triton::LoadOp load);
/// Whether the kernel whose `argument` it is may store to memory through it.
bool mayStoreThrough(BlockArgument argument);
/// How far apart neighbours lie that a pointer or a tensor of them points to.
int64_t pointeeBytes(Type type);
/// Whether all that is before `op` happens before all that is after it.
bool isBarrier(Operation *op);
/// Whether a tensor result of `op` is always put into scratch memory.
bool isRoot(Operation *op);
/// Whether a reduction is evaluated in place, operand by operand.
bool isSmallReduce(triton::ReduceOp op);

class Lowering {
public:
  Lowering(triton::FuncOp func, ModuleOp module);
  LogicalResult run();

private:
  // Control flow and scheduling (Function.cpp)
  void lowerBlock(Block &block);
  void lowerOp(Operation &op);
  void lowerFor(scf::ForOp op);
  void lowerIf(scf::IfOp op);
  void lowerWhile(scf::WhileOp op);
  void lowerBranch(Operation &op);
  SmallVector<Value> yieldValues(OperandRange values, ArrayRef<Buffer> targets);
  void emitEntry();
  Value error(Operation *op, const Twine &message);

  // Lanes (Lanes.cpp)
  /// The size of the target's vector registers.
  int64_t vectorBytes();
  /// Whether it has fused multiply-add: where not, that is a function of libm.
  bool hasFma();
  Type convert(Type type);
  Value constant(Type type, int64_t value);
  Value floatConstant(Type type, double value);
  Value splat(Value scalar, int lanes);
  Value toVector(const Lanes &lanes);
  Value toScalar(const Lanes &lanes);
  Type elementType(const Lanes &lanes);
  Lanes laneConstants(Type type, ArrayRef<int64_t> values);
  Value shuffle(Value lhs, Value rhs, ArrayRef<int32_t> mask);
  Value extract(Value vec, int lane);
  Lanes normalize(Lanes lanes);
  /// A scalar's or a vector's type for `element` lanes of the same kind.
  Type like(Value value, Type element);
  Lanes addLanes(const Lanes &lhs, const Lanes &rhs);
  /// Whether the bits of base and pattern are known to be disjoint.
  bool hasDisjointBits(const Lanes &lanes);
  bool neverWraps(const Lanes &lanes);
  Value staysUnsigned(const Lanes &lanes);
  Value staysSigned(const Lanes &lanes);
  Lanes scaleLanes(const Lanes &lanes, int64_t factor);
  Value offset(Value ptr, Value bytes);

  // Evaluation (Evaluate.cpp)
  Lanes eval(Value value, const Coords &coords);
  Lanes evalTensor(Operation *op, OpResult result, const Coords &coords);
  Lanes withHint(Value value, Lanes lanes, const Coords &coords);
  Lanes evalConstant(arith::ConstantOp op, const Coords &coords);
  Buffer constantBuffer(arith::ConstantOp op, DenseElementsAttr dense);
  Lanes evalReshape(triton::ReshapeOp op, const Coords &coords);
  Lanes evalSmallReduce(triton::ReduceOp op, OpResult result,
                        const Coords &coords);
  Lanes loadBuffer(const Buffer &buffer, const Coords &coords);
  void storeBuffer(const Buffer &buffer, const Coords &coords,
                   const Lanes &value);
  Lanes bufferAddress(const Buffer &buffer, const Coords &coords);

  // Functions of elements (Region.cpp)
  using LaneMap = DenseMap<Value, Lanes>;
  SmallVector<Lanes> evalRegion(Region &region, ArrayRef<Lanes> args);
  SmallVector<Lanes> selectPaths(Region &region, LaneMap &values);
  SmallVector<Lanes> runForEachLane(Region &region, ArrayRef<Lanes> args);
  SmallVector<Value> callRegion(Region &region, ValueRange args);
  static TypeRange returnTypes(Region &region);
  Lanes select(const Lanes &condition, const Lanes &yes, const Lanes &no);
  void lowerMap(triton::MapElementwiseOp op);

  // One operation on lanes (Elementwise.cpp, Convert.cpp, Math.cpp,
  // Math64.cpp)
  Lanes elementwise(Operation *op, ArrayRef<Lanes> operands);
  Lanes integerPattern(Operation *op, ArrayRef<Lanes> operands);
  Lanes patternOf(Operation *op, ArrayRef<Lanes> operands);
  Value compute(Operation *op, ValueRange operands, Type result);
  Value divide(Operation *op, Value lhs, Value rhs, bool isSigned, bool rem);
  Value divideBy(Value lanes, Value divisor);
  Value convertFloat(Operation *op, Value value, Type from, Type to, bool rtz);
  Value fromFloat8(Value bits, Type type);
  Value toFloat8(Value value, Type type, bool rtz);
  Value intrinsic(StringRef name, Type result, ValueRange operands);
  Value mathFunction(Operation *op, StringRef name, ValueRange operands);
  Value doubleFunction(StringRef name, Value x);
  Value singlePower(Value x, Value y);
  Value externFunction(triton::ExternElementwiseOp op, ValueRange operands);
  Value callScalar(StringRef symbol, ValueRange operands, Type result);

  // Memory (Memory.cpp)
  Lanes loadLanes(Type element, const Lanes &ptr, const Lanes *mask,
                  const Lanes *other, bool isVolatile = false);
  void storeLanes(Type element, const Lanes &ptr, const Lanes &value,
                  const Lanes *mask);
  bool isBoundByMemory(Value tensor);
  void lowerStore(triton::StoreOp op);
  void lowerAtomic(Operation *op);
  void lowerPoll(triton::AtomicPollOp op);
  Value updateBrainFloat(triton::AtomicRMWOp op, Value ptr, Value value);
  void lowerPrint(triton::PrintOp op);
  void lowerAssert(triton::AssertOp op);
  /// Ends the launch with an error if `condition` holds.
  void refuse(Value condition, Location location, StringRef message);

  // Loops and roots (Loops.cpp, Reduce.cpp, Dot.cpp)
  using Body = llvm::function_ref<void(const Coords &)>;
  void forTile(ArrayRef<int64_t> shape, int vectorDim, Body body,
               int maxLanes = 16);
  Value forLoop(int64_t from, int64_t to, int64_t step, Value init,
                llvm::function_ref<Value(Value, Value)> body);
  SmallVector<Value>
  forLoop(int64_t from, int64_t to, int64_t step, ValueRange inits,
          llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body);
  Buffer allocate(Type element, ArrayRef<int64_t> shape);
  Buffer allocateFor(Value tensor);
  void materialize(Value tensor, const Buffer &target, int maxLanes = 16);
  void copy(const Buffer &from, const Buffer &to);
  void lowerReduce(triton::ReduceOp op);
  void lowerScan(triton::ScanOp op);
  void lowerDot(triton::DotOp op);
  void lowerDotScaled(triton::DotScaledOp op);
  Value scaledElement(triton::DotScaledOp op, bool isLeft, const Coords &batch,
                      Value row, Value k);
  void lowerHistogram(triton::HistogramOp op);
  void multiply(const Buffer &a, const Buffer &b, const Buffer &c);
  std::optional<Buffer> yieldTarget(Value tensor);
  Value runtimeFunction(StringRef name, Type result, ArrayRef<Type> arguments);
  Value globalString(StringRef text);
  Value globalBytes(StringRef kind, const std::string &content, int alignment);

  /// What is evaluated once inside of one loop body.
  struct Scope {
    int lanes = 1;
    std::map<std::pair<void *, SmallVector<int>>, Lanes> memo;
    std::map<std::tuple<void *, SmallVector<int64_t>, void *>, int> coordIds;
    std::vector<std::pair<std::string, Coords>> reshaped;
    Value zero;
  };
  int coordId(const Lanes &lanes);
  SmallVector<int> coordIds(const Coords &coords);
  /// Evaluates `body` with memoization of its own.
  void withScope(int lanes, llvm::function_ref<void()> body);

  triton::FuncOp func;
  ModuleOp module;
  Plan plan;
  ImplicitLocOpBuilder b;
  LLVM::LLVMFuncOp target;
  DenseMap<Value, Value> scalars;
  DenseMap<Value, Buffer> buffers;
  DenseMap<Block *, Block *> blocks;
  std::map<std::string, std::string> constants; // symbols by content
  Facts facts;                                  // of what is emitted
  Scope *scope = nullptr;
  int64_t scratchSize = 0;
  Value scratch;
  Value programIds[3], numPrograms[3];
  Operation *current = nullptr;
  bool hasFailed = false;
};

} // namespace mlir::triton_ext::cpu

#endif // TRITON_EXT_CPU_LOWERING_H
