// SPDX-License-Identifier: Apache-2.0
//
// The launcher: a Python callable that unpacks arguments and runs a kernel.

#include "Arguments.h"
#include "Features.h"
#include "Runtime.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <new>
#include <string_view>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

using namespace triton_ext::cpu;

namespace {
/// The properties of the kernel that a launcher launches.
struct Launcher {
  /// How the message of a crash names the kernel.
  std::string name;
  /// The letters of all arguments, see `unpack`.
  std::string kinds;
  /// The name of each argument, as in the kernel's source.
  std::vector<std::string> arguments;
  size_t scratchSize;
  int64_t together;
  int threads;
  double spinSeconds;
  PyObject *askThreads;
  PyObject *findLine;

  const char *argument(size_t index) const {
    return index < arguments.size() ? arguments[index].c_str() : "?";
  }
};

bool callHook(PyObject *hook, PyObject *metadata) {
  if (hook == &_Py_NoneStruct)
    return true;
  PyObject *result = PyObject_CallOneArg(hook, metadata);
  if (!result)
    return false;
  Py_DecRef(result);
  return true;
}

/// The time at which launches of this thread end, in ns of the runtime's clock;
/// 0 for never.
thread_local int64_t deadline = 0;

/// Decides whether a launch goes on. The launch calls `ask` from time to time,
/// in the launching thread and without the GIL.
struct Asking {
  PyThreadState *state = nullptr;
  bool isMainThread = false, isKnown = false;

  static Answer ask(void *context) {
    return static_cast<Asking *>(context)->ask();
  }
  Answer ask() {
    if (!isKnown) {
      // Python runs signal handlers only in the main thread.
      isMainThread = syscall(SYS_gettid) == getpid();
      isKnown = true;
    }
    bool isLate = deadline && triton_ext_cpu_clock() > deadline;
    if (!isMainThread && !isLate)
      return deadline ? Answer::GoOn : Answer::GoOnAndNeverAskAgain;
    PyEval_RestoreThread(state);
    bool isStopped = isMainThread && PyErr_CheckSignals() != 0;
    if (!isStopped && isLate)
      PyErr_Format(PyExc_TimeoutError, "the launch took too long");
    state = PyEval_SaveThread();
    return isStopped || isLate ? Answer::Stop : Answer::GoOn;
  }
};

/// Sets the error of a launch that has failed.
PyObject *fail(const Launcher &launcher, PyObject *function,
               const Result &result) {
  const char *text = result.failure.c_str();
  if (!result.faultPlace)
    return PyErr_Format(PyExc_RuntimeError, "%s", text);
  PyObject *place = PyLong_FromUnsignedLongLong(result.faultPlace);
  PyObject *line = place ? PyObject_CallFunctionObjArgs(
                               launcher.findLine, function, place, nullptr)
                         : nullptr;
  if (line)
    PyErr_Format(PyExc_RuntimeError, "%U%s", line, text);
  if (line)
    Py_DecRef(line);
  if (place)
    Py_DecRef(place);
  return nullptr;
}

/// Reads the grid into `what`. On failure, sets a Python error and returns
/// false.
bool readGrid(PyObject *const *args, Launch &what) {
  // Each thread adds a chunk to the number of the next program before it finds
  // that none is left. That addition must not overflow.
  constexpr int64_t most = int64_t(1) << 62;
  int64_t total = 1;
  bool isTooLarge = false, isEmpty = false;
  for (int i = 0; i < 3; ++i) {
    long size = PyLong_AsLong(args[i]);
    if (PyErr_Occurred()) {
      if (!PyErr_ExceptionMatches(PyExc_OverflowError))
        return false;
      PyErr_Clear();
      size = -1;
    }
    if (size < 0 || size > INT32_MAX) {
      PyErr_Format(PyExc_ValueError,
                   "a grid of %R programs along axis %d: expected 0 to "
                   "2147483647",
                   args[i], i);
      return false;
    }
    what.grid[i] = int32_t(size);
    isEmpty |= size == 0;
    isTooLarge |= size && total > most / size;
    total = isTooLarge ? total : total * size;
  }
  if (isTooLarge && !isEmpty) {
    PyErr_Format(PyExc_ValueError,
                 "a grid of %d x %d x %d programs: expected at most 2^62 in "
                 "all",
                 what.grid[0], what.grid[1], what.grid[2]);
    return false;
  }
  return true;
}

/// Warns once per process if a launch had fewer threads than it asked for. If
/// Python turns the warning into an error, sets it and returns false.
bool warnOfThreads(const Result &result) {
  static std::atomic<bool> wasSaid{false};
  if (result.threads >= result.wantedThreads || wasSaid.exchange(true))
    return true;
  if (result.wantedThreads > mostThreads() && result.threads == mostThreads())
    return PyErr_WarnFormat(
               PyExc_RuntimeWarning, 1,
               "a launch on the CPU asked for %d threads and ran on %d, which "
               "is the most there are (fix: TRITON_EXT_CPU_THREADS or "
               "num_threads of at most %d)",
               result.wantedThreads, result.threads, result.threads) == 0;
  return PyErr_WarnFormat(
             PyExc_RuntimeWarning, 1,
             "a launch on the CPU asked for %d threads and ran on %d: no more "
             "can be made (fix: raise the limit, ulimit -u or -v or the "
             "container's, or set TRITON_EXT_CPU_THREADS=%d)",
             result.wantedThreads, result.threads, result.threads) == 0;
}

/// launcher(x, y, z, stream, function, packed, metadata, enter, exit, *args)
PyObject *launchUnguarded(Launcher *launcher, PyObject *const *args,
                          Py_ssize_t count) {
  constexpr Py_ssize_t fixed = 9;
  if (count < fixed)
    return PyErr_Format(PyExc_TypeError, "expected at least 9 arguments");
  Launch what{};
  if (!readGrid(args, what))
    return nullptr;
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
    kind = unpack(kind, args[i], launcher->argument(i - fixed), slots);
    if (!kind)
      return nullptr;
  }
  what.args = slots.data();
  what.scratchSize = launcher->scratchSize;
  what.together = launcher->together;
  what.threads = launcher->threads;
  what.name = launcher->name.c_str();
  what.spinSeconds = launcher->spinSeconds;
  if (!what.threads && launcher->askThreads != &_Py_NoneStruct) {
    PyObject *number = PyObject_CallNoArgs(launcher->askThreads);
    if (!number)
      return nullptr;
    long threads = PyLong_AsLong(number);
    Py_DecRef(number);
    if (PyErr_Occurred())
      return nullptr;
    what.threads = int(std::min<long>(threads, INT32_MAX));
  }
  if (!callHook(args[7], args[6]))
    return nullptr;
  Asking asking;
  what.ask = Asking::ask;
  what.context = &asking;
  Result result;
  bool hasMemory = true;
  asking.state = PyEval_SaveThread();
  try {
    result = run(what);
  } catch (const std::bad_alloc &) {
    hasMemory = false;
  }
  PyEval_RestoreThread(asking.state);
  if (!hasMemory)
    return PyErr_NoMemory();
  if (result.wasStopped)
    return nullptr; // `Asking` has set the error
  if (!result.failure.empty())
    return fail(*launcher, args[4], result);
  if (!warnOfThreads(result) || !callHook(args[8], args[6]))
    return nullptr;
  Py_IncRef(&_Py_NoneStruct);
  return &_Py_NoneStruct;
}

/// No C++ exception may reach Python, which is written in C.
PyObject *launch(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  auto *launcher = static_cast<Launcher *>(PyCapsule_GetPointer(self, nullptr));
  if (!launcher)
    return nullptr;
  try {
    return launchUnguarded(launcher, args, count);
  } catch (const std::exception &error) {
    return PyErr_Format(PyExc_RuntimeError, "a launch on the CPU failed: %s",
                        error.what());
  }
}

void destroy(PyObject *capsule) {
  auto *launcher =
      static_cast<Launcher *>(PyCapsule_GetPointer(capsule, nullptr));
  Py_DecRef(launcher->askThreads);
  Py_DecRef(launcher->findLine);
  delete launcher;
}

constexpr int fastCall = 0x80; // METH_FASTCALL
PyMethodDef method = {"launch", reinterpret_cast<void *>(launch), fastCall,
                      nullptr};
} // namespace

/// Makes launches of this thread end with a TimeoutError when `seconds` have
/// passed from now on; 0 means never. A program that has begun is completed.
TRITON_EXT_CPU_API void triton_ext_cpu_limit(double seconds) {
  deadline = seconds > 0 ? triton_ext_cpu_clock() + int64_t(seconds * 1e9) : 0;
}

/// Lets the kernels of this process use AMX, if the machine has it. Linux needs
/// to be asked once, for all threads.
TRITON_EXT_CPU_API void triton_ext_cpu_request_tiles() { requestTiles(); }

/// Makes a launcher. For `name` and `kinds`, see Launcher. `arguments` are the
/// names of the kernel's arguments, separated by commas. If `threads` is 0,
/// each launch calls `askThreads`, or uses all processors if that is None.
/// `findLine` takes the function of a launch and the address of an instruction
/// of it, and returns the start of the message about a fault there.
TRITON_EXT_CPU_API PyObject *
triton_ext_cpu_launcher(const char *name, const char *kinds,
                        const char *arguments, size_t scratchSize,
                        int64_t together, int threads, double spinSeconds,
                        PyObject *askThreads, PyObject *findLine) try {
  auto launcher = std::make_unique<Launcher>();
  launcher->name = name;
  launcher->kinds = kinds;
  for (std::string_view rest = arguments; !rest.empty();) {
    size_t size = std::min(rest.find(','), rest.size());
    launcher->arguments.emplace_back(rest.substr(0, size));
    rest.remove_prefix(std::min(size + 1, rest.size()));
  }
  launcher->scratchSize = scratchSize;
  launcher->together = together;
  launcher->threads = threads;
  launcher->spinSeconds = spinSeconds;
  launcher->askThreads = askThreads;
  launcher->findLine = findLine;
  PyObject *capsule = PyCapsule_New(launcher.get(), nullptr, destroy);
  if (!capsule)
    return nullptr;
  Py_IncRef(askThreads);
  Py_IncRef(findLine);
  launcher.release(); // the capsule owns it now
  PyObject *function = PyCFunction_NewEx(&method, capsule, nullptr);
  Py_DecRef(capsule);
  return function;
} catch (const std::bad_alloc &) {
  return PyErr_NoMemory();
}
