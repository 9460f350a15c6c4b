// SPDX-License-Identifier: Apache-2.0
//
// The few types and functions of CPython's stable ABI that the launcher needs.
// They are declared here, so that one library serves every Python from 3.11 on
// and is built without Python's headers.

#ifndef TRITON_EXT_CPU_STABLEABI_H
#define TRITON_EXT_CPU_STABLEABI_H

#include <cstdint>

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
extern PyObject *PyExc_OverflowError, *PyExc_RuntimeError,
    *PyExc_RuntimeWarning, *PyExc_TimeoutError, *PyExc_TypeError,
    *PyExc_ValueError;
extern PyObject _Py_NoneStruct;
PyObject *PyCFunction_NewEx(PyMethodDef *, PyObject *, PyObject *);
PyObject *PyCapsule_New(void *, const char *, void (*)(PyObject *));
void *PyCapsule_GetPointer(PyObject *, const char *);
PyObject *PyErr_Format(PyObject *, const char *, ...);
PyObject *PyErr_Occurred();
void PyErr_Clear();
int PyErr_CheckSignals();
int PyErr_ExceptionMatches(PyObject *);
PyObject *PyErr_NoMemory();
int PyErr_WarnFormat(PyObject *, Py_ssize_t, const char *, ...);
PyObject *PyObject_GetAttr(PyObject *, PyObject *);
PyObject *PyObject_CallNoArgs(PyObject *);
PyObject *PyObject_CallOneArg(PyObject *, PyObject *);
PyObject *PyObject_CallFunctionObjArgs(PyObject *, ...);
PyObject *PyObject_CallMethodObjArgs(PyObject *, PyObject *, ...);
int PyObject_GetBuffer(PyObject *, Py_buffer *, int);
void PyBuffer_Release(Py_buffer *);
int PyObject_IsTrue(PyObject *);
long PyLong_AsLong(PyObject *);
PyObject *PyLong_FromUnsignedLongLong(unsigned long long);
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

#endif // TRITON_EXT_CPU_STABLEABI_H
