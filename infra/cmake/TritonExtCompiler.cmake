# SPDX-License-Identifier: Apache-2.0
#
# Chooses clang; to be included before project(). A compiler that the user names
# (CXX, -DCMAKE_CXX_COMPILER) is not changed, and checked later.

file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/clang-versions _triton_ext_versions REGEX "^[0-9]+$")

# scikit-build-core sets CXX to the compiler that built Python, which the user has not chosen.
if(NOT CMAKE_CXX_COMPILER AND (NOT DEFINED ENV{CXX} OR (SKBUILD AND NOT "$ENV{CXX}" MATCHES "clang")))
  list(TRANSFORM _triton_ext_versions PREPEND clang++- OUTPUT_VARIABLE _triton_ext_clangs)
  find_program(TRITON_EXT_CLANG NAMES ${_triton_ext_clangs} clang++)
  if(NOT TRITON_EXT_CLANG)
    file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/clang-versions _triton_ext_fix REGEX "^apt-get ")
    message(FATAL_ERROR "triton-ext: no clang++ found; extensions must be built with clang (fix: ${_triton_ext_fix})")
  endif()
  set(CMAKE_CXX_COMPILER ${TRITON_EXT_CLANG} CACHE FILEPATH "C++ compiler")
endif()

# ccache gets paths relative to the source directory, so that builds in other directories, of a wheel, and of other
# copies of the tree find the objects of this build. Messages have absolute paths nevertheless.
find_program(TRITON_EXT_CCACHE ccache)
if(TRITON_EXT_CCACHE)
  set(_triton_ext_ccache ${CMAKE_COMMAND} -E env CCACHE_ABSSTDERR=true)
  if(NOT DEFINED ENV{CCACHE_BASEDIR})
    list(APPEND _triton_ext_ccache CCACHE_BASEDIR=${CMAKE_SOURCE_DIR})
  endif()
  # ccache requires these to store objects that use a precompiled header. No source uses __DATE__.
  if(NOT DEFINED ENV{CCACHE_SLOPPINESS})
    list(APPEND _triton_ext_ccache CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_PCH_EXTSUM=true)
  endif()
  set(CMAKE_CXX_COMPILER_LAUNCHER ${_triton_ext_ccache} ${TRITON_EXT_CCACHE} CACHE STRING "compiler cache")
endif()
