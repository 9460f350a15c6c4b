// SPDX-License-Identifier: Apache-2.0
//
// The launcher: a Python callable that unpacks arguments and runs a kernel.
// Uses CPython's stable ABI, whose few functions are declared here, so that one
// library serves every Python from 3.11 on and needs no headers of it.

#include "Runtime.h"

#include <cstring>
#include <vector>

using namespace triton_ext::cpu;

extern "C" {
struct PyObject;
using Py_ssize_t = intptr_t;
struct PyMethodDef {
  const char *name;
  void *function;
  int flags;
  const char *doc;
};
struct Py_buffer {
  void *buf;
  PyObject *obj;
  Py_ssize_t len, itemsize;
  int readonly, ndim;
  char *format;
  Py_ssize_t *shape, *strides, *suboffsets;
  void *internal;
};
struct PyThreadState;
extern PyObject *PyExc_RuntimeError, *PyExc_TypeError, *PyExc_ValueError;
extern PyObject _Py_NoneStruct;
PyObject *PyCFunction_NewEx(PyMethodDef *, PyObject *, PyObject *);
PyObject *PyCapsule_New(void *, const char *, void (*)(PyObject *));
void *PyCapsule_GetPointer(PyObject *, const char *);
PyObject *PyErr_Format(PyObject *, const char *, ...);
PyObject *PyErr_Occurred();
void PyErr_Clear();
PyObject *PyObject_GetAttr(PyObject *, PyObject *);
PyObject *PyObject_CallNoArgs(PyObject *);
PyObject *PyObject_CallOneArg(PyObject *, PyObject *);
PyObject *PyObject_CallMethodObjArgs(PyObject *, PyObject *, ...);
int PyObject_GetBuffer(PyObject *, Py_buffer *, int);
void PyBuffer_Release(Py_buffer *);
int PyObject_IsTrue(PyObject *);
long PyLong_AsLong(PyObject *);
unsigned long long PyLong_AsUnsignedLongLong(PyObject *);
unsigned long long PyLong_AsUnsignedLongLongMask(PyObject *);
double PyFloat_AsDouble(PyObject *);
PyObject *PyUnicode_InternFromString(const char *);
PyObject *PySequence_GetItem(PyObject *, Py_ssize_t);
Py_ssize_t PySequence_Size(PyObject *);
int PyObject_HasAttr(PyObject *, PyObject *);
PyThreadState *PyEval_SaveThread();
void PyEval_RestoreThread(PyThreadState *);
void Py_IncRef(PyObject *);
void Py_DecRef(PyObject *);
}

namespace {
/// What a launcher knows of its kernel.
struct Launcher {
  /// One letter for each argument: c(onstexpr, skipped), p(ointer), b(ool),
  /// i(nteger), f(p32), d (fp64), h (fp16), e (bf16); "(" and ")" around the
  /// elements of a tuple.
  std::string kinds;
  size_t scratchSize;
  int threads;
  PyObject *askThreads;
};

struct Names {
  PyObject *dataPtr = PyUnicode_InternFromString("data_ptr");
  PyObject *isCpu = PyUnicode_InternFromString("is_cpu");
};
Names &names() {
  static Names all;
  return all;
}

/// The address that an argument stands for: of a tensor, an array or a number.
bool pointer(PyObject *object, uint64_t &slot) {
  slot = 0;
  if (object == &_Py_NoneStruct)
    return true;
  if (PyObject *isCpu = PyObject_GetAttr(object, names().isCpu)) {
    int local = PyObject_IsTrue(isCpu);
    Py_DecRef(isCpu);
    if (!local) {
      PyErr_Format(PyExc_ValueError,
                   "a kernel on the CPU got a tensor that is elsewhere "
                   "(fix: tensor.cpu())");
      return false;
    }
  } else {
    PyErr_Clear();
    slot = PyLong_AsUnsignedLongLong(object);
    if (!PyErr_Occurred())
      return true;
    PyErr_Clear();
  }
  if (PyObject *address =
          PyObject_CallMethodObjArgs(object, names().dataPtr, nullptr)) {
    slot = PyLong_AsUnsignedLongLongMask(address);
    Py_DecRef(address);
    return !PyErr_Occurred();
  }
  PyErr_Clear();
  Py_buffer view;
  constexpr int strided = 0x18;
  if (PyObject_GetBuffer(object, &view, strided) == 0) {
    slot = reinterpret_cast<uint64_t>(view.buf);
    PyBuffer_Release(&view); // the caller holds the object while we run
    return true;
  }
  PyErr_Clear();
  PyErr_Format(PyExc_TypeError,
               "a pointer argument must be a torch tensor, a NumPy array, or "
               "have data_ptr(); got %R",
               object);
  return false;
}

bool scalar(char kind, PyObject *object, uint64_t &slot) {
  slot = 0;
  if (kind == 'b') {
    int value = PyObject_IsTrue(object);
    slot = value > 0;
    return value >= 0;
  }
  if (kind == 'i') {
    slot = PyLong_AsUnsignedLongLongMask(object);
    return !PyErr_Occurred();
  }
  double value = PyFloat_AsDouble(object);
  if (PyErr_Occurred())
    return false;
  if (kind == 'd') {
    memcpy(&slot, &value, 8);
    return true;
  }
  float single = float(value);
  uint32_t bits;
  memcpy(&bits, &single, 4);
  if (kind == 'e') // to the nearest, ties to even
    bits = single != single ? bits >> 16 | 0x40
                            : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  slot = kind == 'h' ? floatToHalf(single) : bits;
  return true;
}

const char *unpackTuple(const char *kind, PyObject *tuple,
                        std::vector<uint64_t> &slots);

/// Unpacks one argument; returns the kind after it, null with an error set.
const char *unpack(const char *kind, PyObject *object,
                   std::vector<uint64_t> &slots) {
  switch (*kind) {
  case 'c':
    return kind + 1;
  case '(':
    return unpackTuple(kind + 1, object, slots);
  default:
    uint64_t slot;
    bool isGood =
        *kind == 'p' ? pointer(object, slot) : scalar(*kind, object, slot);
    slots.push_back(slot);
    return isGood ? kind + 1 : nullptr;
  }
}

const char *unpackTuple(const char *kind, PyObject *tuple,
                        std::vector<uint64_t> &slots) {
  for (Py_ssize_t i = 0; *kind != ')'; ++i) {
    PyObject *item = PySequence_GetItem(tuple, i);
    if (!item)
      return nullptr;
    kind = unpack(kind, item, slots);
    Py_DecRef(item);
    if (!kind)
      return nullptr;
  }
  return kind + 1;
}

bool callHook(PyObject *hook, PyObject *metadata) {
  if (hook == &_Py_NoneStruct)
    return true;
  PyObject *result = PyObject_CallOneArg(hook, metadata);
  if (!result)
    return false;
  Py_DecRef(result);
  return true;
}

/// launcher(x, y, z, stream, function, packed, metadata, enter, exit, *args)
PyObject *launch(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  constexpr Py_ssize_t fixed = 9;
  auto *launcher = static_cast<Launcher *>(PyCapsule_GetPointer(self, nullptr));
  if (!launcher)
    return nullptr;
  if (count < fixed)
    return PyErr_Format(PyExc_TypeError, "expected at least 9 arguments");
  Launch what{};
  for (int i = 0; i < 3; ++i) {
    long size = PyLong_AsLong(args[i]);
    if (PyErr_Occurred())
      return nullptr;
    if (size < 0 || size > INT32_MAX)
      return PyErr_Format(PyExc_ValueError,
                          "a grid of %ld programs along one axis: expected 0 "
                          "to 2147483647",
                          size);
    what.grid[i] = int32_t(size);
  }
  what.kernel = reinterpret_cast<Kernel>(PyLong_AsUnsignedLongLong(args[4]));
  if (PyErr_Occurred())
    return nullptr;

  std::vector<uint64_t> slots;
  slots.reserve(launcher->kinds.size() + 1);
  const char *kind = launcher->kinds.c_str();
  for (Py_ssize_t i = fixed; *kind; ++i) {
    if (i >= count)
      return PyErr_Format(PyExc_TypeError,
                          "the kernel got %ld arguments, which are too few",
                          long(count - fixed));
    kind = unpack(kind, args[i], slots);
    if (!kind)
      return nullptr;
  }
  what.args = slots.data();
  what.scratchSize = launcher->scratchSize;
  what.threads = launcher->threads;
  if (!what.threads && launcher->askThreads != &_Py_NoneStruct) {
    PyObject *number = PyObject_CallNoArgs(launcher->askThreads);
    if (!number)
      return nullptr;
    what.threads = int(PyLong_AsLong(number));
    Py_DecRef(number);
  }
  if (!callHook(args[7], args[6]))
    return nullptr;
  PyThreadState *state = PyEval_SaveThread();
  std::string failure = run(what);
  PyEval_RestoreThread(state);
  if (!failure.empty())
    return PyErr_Format(PyExc_RuntimeError, "%s", failure.c_str());
  if (!callHook(args[8], args[6]))
    return nullptr;
  Py_IncRef(&_Py_NoneStruct);
  return &_Py_NoneStruct;
}

void destroy(PyObject *capsule) {
  auto *launcher =
      static_cast<Launcher *>(PyCapsule_GetPointer(capsule, nullptr));
  Py_DecRef(launcher->askThreads);
  delete launcher;
}

constexpr int fastCall = 0x80; // METH_FASTCALL
PyMethodDef method = {"launch", reinterpret_cast<void *>(launch), fastCall,
                      nullptr};
} // namespace

/// Makes a launcher. `kinds`: see Launcher. `threads`: 0 to ask `askThreads`,
/// or to take all processors if that is None.
TRITON_EXT_CPU_API PyObject *triton_ext_cpu_launcher(const char *kinds,
                                                     size_t scratchSize,
                                                     int threads,
                                                     PyObject *askThreads) {
  Py_IncRef(askThreads);
  auto *launcher = new Launcher{kinds, scratchSize, threads, askThreads};
  PyObject *capsule = PyCapsule_New(launcher, nullptr, destroy);
  if (!capsule) {
    destroy(capsule);
    return nullptr;
  }
  PyObject *function = PyCFunction_NewEx(&method, capsule, nullptr);
  Py_DecRef(capsule);
  return function;
}
