# SPDX-License-Identifier: Apache-2.0
#
# find_package(TritonExt): the targets and functions for extensions, in this
# repository and in other projects. Finds the installed Triton and the SDK that
# matches it, and installs the SDK if it is missing.
#
#   TritonExt::Triton     headers, flags and libtriton.so
#   TritonExt::PassInfra  libTritonExtPassInfra.so
#   triton_ext_add_pass(name Class STAGE stage)   see TritonExtPass.cmake
#   triton_ext_add_dialect(name Class)            see TritonExtDialect.cmake
#   triton_ext_link_analysis(name)                see TritonExtAnalysis.cmake
#   triton_ext_add_backend(name SOURCES file...)  see TritonExtBackend.cmake
#   triton_ext_add_bundle(package)                see TritonExtBundle.cmake

if(TARGET TritonExt::Triton)
  return()
endif()

set(_found_clang "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/clang-versions _fix REGEX "^apt-get ")
  string(REGEX REPLACE ".*clang" "clang++" _compiler "${_fix}")
  message(FATAL_ERROR "triton-ext: the C++ compiler must be clang, found ${_found_clang}: libtriton was built with clang, "
    "and MLIR's implicit type ids are keyed on clang's spelling of type names, so with another compiler traits and "
    "interfaces silently answer no (fix: ${_fix} && cmake -DCMAKE_CXX_COMPILER=${_compiler})")
endif()

find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)

# In a checkout the package lies in python/, in a wheel four levels up.
get_filename_component(_infra "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
if(EXISTS "${_infra}/../python/triton_ext")
  get_filename_component(_package_root "${_infra}/../python" ABSOLUTE)
else()
  get_filename_component(_package_root "${_infra}/../../.." ABSOLUTE)
endif()
set(TRITON_EXT_PYTHON ${CMAKE_COMMAND} -E env "PYTHONPATH=${_package_root}:$ENV{PYTHONPATH}" ${Python3_EXECUTABLE})

execute_process(COMMAND ${TRITON_EXT_PYTHON} -m triton_ext sdk info --json
  OUTPUT_VARIABLE _sdk ERROR_QUIET RESULT_VARIABLE _missing)
if(_missing)
  message(STATUS "triton-ext: installing the SDK (once per Triton version)")
  execute_process(COMMAND ${TRITON_EXT_PYTHON} -m triton_ext sdk install RESULT_VARIABLE _failed ERROR_VARIABLE _why)
  if(_failed)
    string(REGEX REPLACE "^.*triton-ext: error: " "" _why "${_why}")
    string(STRIP "${_why}" _why)
    message(FATAL_ERROR "triton-ext: ${_why}")
  endif()
  execute_process(COMMAND ${TRITON_EXT_PYTHON} -m triton_ext sdk info --json
    OUTPUT_VARIABLE _sdk COMMAND_ERROR_IS_FATAL ANY)
endif()
string(JSON TRITON_EXT_TRITON_VERSION GET "${_sdk}" triton version)
string(JSON TRITON_EXT_TRITON_ROOT GET "${_sdk}" triton root)
string(JSON TRITON_EXT_LLVM_COMMIT GET "${_sdk}" triton llvm_commit)
string(JSON TRITON_EXT_SDK_HEADERS GET "${_sdk}" headers)
string(JSON _assertions GET "${_sdk}" abi_breaking_checks)
string(JSON TRITON_EXT_TBLGEN GET "${_sdk}" mlir_tblgen)
string(JSON _count LENGTH "${_sdk}" include_dirs)
set(TRITON_EXT_INCLUDE_DIRS "")
math(EXPR _last "${_count} - 1")
foreach(_i RANGE ${_last})
  string(JSON _dir GET "${_sdk}" include_dirs ${_i})
  list(APPEND TRITON_EXT_INCLUDE_DIRS ${_dir})
endforeach()
list(APPEND TRITON_EXT_INCLUDE_DIRS ${TRITON_EXT_TRITON_ROOT}/include)
message(STATUS "triton-ext: Triton ${TRITON_EXT_TRITON_VERSION}, headers ${TRITON_EXT_SDK_HEADERS}, ${_found_clang}")

add_library(TritonExt::Triton INTERFACE IMPORTED)
target_compile_features(TritonExt::Triton INTERFACE cxx_std_20)
# Default visibility, so that objects of headers can bind to libtriton's: see TritonExtSingletons.cmake. It is explicit
# for projects that set another visibility. The exports of a library are chosen when it is linked.
target_compile_options(TritonExt::Triton INTERFACE
  -fno-rtti -fno-exceptions -fvisibility=default -fvisibility-inlines-hidden -fPIC)
# libtriton's LLVM has assertions on, and a few layouts depend on them: with NDEBUG, Pass::Statistic would be 1 byte in
# an extension and 33 in libtriton. So extensions have assertions, too. This option comes after -DNDEBUG.
if(_assertions)
  target_compile_options(TritonExt::Triton INTERFACE -UNDEBUG)
endif()
# A checkout is compiled more often than a wheel, and in a sixth less time with -O1 than with -O3 (TableGen's code in a
# third less). Compiling kernels then takes as long as before: nearly all of that time is spent in libtriton.
set(_quick ON)
if(SKBUILD)
  set(_quick OFF)
endif()
set(TRITON_EXT_QUICK ${_quick} CACHE BOOL "compile triton-ext itself with -O1, as a checkout is, instead of -O3, as a wheel is")
if(TRITON_EXT_BUILDS_INFRA AND TRITON_EXT_QUICK AND CMAKE_BUILD_TYPE STREQUAL "Release")
  target_compile_options(TritonExt::Triton INTERFACE -O1)
endif()
# As system headers, so that warnings are about the extension's code only.
target_include_directories(TritonExt::Triton SYSTEM INTERFACE ${TRITON_EXT_INCLUDE_DIRS})
# The DT_NEEDED entry makes the loader use the copy that Python has loaded;
# --no-undefined turns a symbol that libtriton lacks into a link error.
target_link_directories(TritonExt::Triton INTERFACE ${TRITON_EXT_TRITON_ROOT}/_C)
target_link_libraries(TritonExt::Triton INTERFACE -l:libtriton.so)
# Not --as-needed: the objects of headers are weak references, and for these a linker does not keep a library.
target_link_options(TritonExt::Triton INTERFACE LINKER:--no-undefined LINKER:--no-as-needed)
include(${CMAKE_CURRENT_LIST_DIR}/TritonExtSingletons.cmake)
triton_ext_singletons_of(${TRITON_EXT_TRITON_ROOT}/_C/libtriton.so TRITON_EXT_STUB)
target_link_options(TritonExt::Triton INTERFACE ${TRITON_EXT_STUB})
set_target_properties(TritonExt::Triton PROPERTIES INTERFACE_LINK_DEPENDS ${TRITON_EXT_STUB})

file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/clang-versions _linkers REGEX "^[0-9]+$")
list(TRANSFORM _linkers PREPEND ld.lld-)
find_program(TRITON_EXT_LLD NAMES ${_linkers} ld.lld)
if(TRITON_EXT_LLD)
  target_link_options(TritonExt::Triton INTERFACE --ld-path=${TRITON_EXT_LLD})
endif()

set(TRITON_EXT_PASS_INCLUDE_DIR "${_infra}/pass/include")
# Whether the libraries of infra that others link to are those that have been built before.
set(TRITON_EXT_USES_BUILT OFF)
if(NOT TRITON_EXT_BUILDS_INFRA OR TRITON_EXT_BUILT_CORE)
  set(TRITON_EXT_USES_BUILT ON)
endif()
if(TRITON_EXT_USES_BUILT)
  add_library(TritonExt::PassInfra SHARED IMPORTED)
  target_link_libraries(TritonExt::PassInfra INTERFACE TritonExt::Triton)
  target_include_directories(TritonExt::PassInfra INTERFACE ${TRITON_EXT_PASS_INCLUDE_DIR})
  set(_library "${_package_root}/triton_ext/lib/libTritonExtPassInfra.so")
  if(NOT EXISTS ${_library})
    message(FATAL_ERROR "triton-ext: ${_library} is missing (fix: pip install --force-reinstall triton-ext)")
  endif()
  set_target_properties(TritonExt::PassInfra PROPERTIES IMPORTED_LOCATION ${_library})
endif()

set(TRITON_EXT_CMAKE_DIR ${CMAKE_CURRENT_LIST_DIR})
include(${CMAKE_CURRENT_LIST_DIR}/TritonExtBatch.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/TritonExtPrecompiled.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/TritonExtLibrary.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/TritonExtExtension.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/TritonExtPass.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/TritonExtLLVMPass.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/TritonExtDialect.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/TritonExtAnalysis.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/TritonExtBackend.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/TritonExtBundle.cmake)
