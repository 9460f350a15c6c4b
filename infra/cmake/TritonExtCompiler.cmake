# SPDX-License-Identifier: Apache-2.0
#
# Chooses clang before project() is called. Include it first; a compiler that
# the user names (CXX, -DCMAKE_CXX_COMPILER) is left as it is and checked later.

set(TRITON_EXT_CLANG_VERSIONS 21 20 19 18 17)

# scikit-build-core sets CXX to the compiler that built Python, which is not a choice of the user.
if(NOT CMAKE_CXX_COMPILER AND (NOT DEFINED ENV{CXX} OR (SKBUILD AND NOT "$ENV{CXX}" MATCHES "clang")))
  list(TRANSFORM TRITON_EXT_CLANG_VERSIONS PREPEND clang++- OUTPUT_VARIABLE _triton_ext_clangs)
  find_program(TRITON_EXT_CLANG NAMES ${_triton_ext_clangs} clang++)
  if(NOT TRITON_EXT_CLANG)
    message(FATAL_ERROR "triton-ext: no clang++ found; extensions must be built with clang (fix: apt-get install clang-19)")
  endif()
  set(CMAKE_CXX_COMPILER ${TRITON_EXT_CLANG} CACHE FILEPATH "C++ compiler")
endif()

# Paths count from the source directory, so that what one build has compiled serves those of other build directories,
# a wheel's among them, and of other copies of the tree. Messages have whole paths nevertheless.
find_program(TRITON_EXT_CCACHE ccache)
if(TRITON_EXT_CCACHE)
  set(_triton_ext_ccache ${CMAKE_COMMAND} -E env CCACHE_ABSSTDERR=true)
  if(NOT DEFINED ENV{CCACHE_BASEDIR})
    list(APPEND _triton_ext_ccache CCACHE_BASEDIR=${CMAKE_SOURCE_DIR})
  endif()
  # What ccache asks for before it keeps what was compiled with a precompiled header. No source uses __DATE__.
  if(NOT DEFINED ENV{CCACHE_SLOPPINESS})
    list(APPEND _triton_ext_ccache CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_PCH_EXTSUM=true)
  endif()
  set(CMAKE_CXX_COMPILER_LAUNCHER ${_triton_ext_ccache} ${TRITON_EXT_CCACHE} CACHE STRING "compiler cache")
endif()
