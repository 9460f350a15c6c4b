// SPDX-License-Identifier: Apache-2.0
//
// Turns arguments of a launch, which are Python objects, into the 64-bit slots
// that a kernel reads.

#include "Arguments.h"

#include "Runtime.h"

#include <cstring>

using namespace triton_ext::cpu;

namespace {
struct Names {
  PyObject *dataPtr = PyUnicode_InternFromString("data_ptr");
  PyObject *isCpu = PyUnicode_InternFromString("is_cpu");
};
Names &names() {
  static Names all;
  return all;
}

/// Sets `slot` to the address of an object that supports the buffer protocol.
/// `name` is the name of the argument. On failure, sets a Python error and
/// returns false.
bool buffer(PyObject *object, bool isWritten, const char *name,
            uint64_t &slot) {
  constexpr int strided = 0x18, format = 0x4;
  Py_buffer view;
  if (PyObject_GetBuffer(object, &view, strided | format) != 0) {
    PyErr_Clear();
    // NumPy has no format for types such as bfloat16.
    if (PyObject_GetBuffer(object, &view, strided) != 0) {
      PyErr_Clear();
      PyErr_Format(PyExc_TypeError,
                   "argument '%s': a pointer must be a torch tensor, a NumPy "
                   "array, or have data_ptr(); got %R",
                   name, object);
      return false;
    }
  }
  bool isForeign =
      view.format && (view.format[0] == '>' || view.format[0] == '!');
  bool isReadOnly = view.readonly;
  slot = reinterpret_cast<uint64_t>(view.buf);
  PyBuffer_Release(&view); // the caller holds the object while we run
  if (isForeign) {
    PyErr_Format(PyExc_ValueError,
                 "argument '%s': an array in big-endian byte order, expected "
                 "this machine's (fix: "
                 "array.astype(array.dtype.newbyteorder('=')))",
                 name);
    return false;
  }
  if (isReadOnly && isWritten) {
    PyErr_Format(PyExc_ValueError,
                 "argument '%s': the array is read-only, and the kernel stores "
                 "to it (fix: array.copy(), or for a file "
                 "numpy.load(..., mmap_mode='r+'))",
                 name);
    return false;
  }
  return true;
}

/// Sets `slot` to the address of a tensor or an array, or to the argument
/// itself if it is an integer. On failure, sets a Python error and returns
/// false.
bool pointer(PyObject *object, bool isWritten, const char *name,
             uint64_t &slot) {
  slot = 0;
  if (object == &_Py_NoneStruct)
    return true;
  if (PyObject *isCpu = PyObject_GetAttr(object, names().isCpu)) {
    int local = PyObject_IsTrue(isCpu);
    Py_DecRef(isCpu);
    if (!local) {
      PyErr_Format(PyExc_ValueError,
                   "argument '%s': a kernel on the CPU got a tensor that is "
                   "elsewhere (fix: tensor.cpu())",
                   name);
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
  return buffer(object, isWritten, name, slot);
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
  if (kind == 'e')
    bits = floatToBfloat16(bits);
  slot = kind == 'h' ? floatToHalf(single) : bits;
  return true;
}

/// Unpacks the elements of a tuple; `kind` points to the letter of the first.
const char *unpackTuple(const char *kind, PyObject *tuple, const char *name,
                        std::vector<uint64_t> &slots) {
  for (Py_ssize_t i = 0; *kind != ')'; ++i) {
    PyObject *item = PySequence_GetItem(tuple, i);
    if (!item)
      return nullptr;
    kind = unpack(kind, item, name, slots);
    Py_DecRef(item);
    if (!kind)
      return nullptr;
  }
  return kind + 1;
}
} // namespace

const char *triton_ext::cpu::unpack(const char *kind, PyObject *object,
                                    const char *name,
                                    std::vector<uint64_t> &slots) {
  switch (*kind) {
  case 'c':
    return kind + 1;
  case '(':
    return unpackTuple(kind + 1, object, name, slots);
  default:
    uint64_t slot;
    bool isGood = *kind == 'p' || *kind == 'r'
                      ? pointer(object, *kind == 'p', name, slot)
                      : scalar(*kind, object, slot);
    slots.push_back(slot);
    return isGood ? kind + 1 : nullptr;
  }
}
