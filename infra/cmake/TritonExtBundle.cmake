# SPDX-License-Identifier: Apache-2.0

# triton_ext_add_bundle(package)
#
# Builds the extensions of a bundle project: each directory in backends/, dialects/ and passes/ with a CMakeLists.txt.
# The libraries go into the Python package `package`, which the project exports as an entry point of the group
# triton_ext.extensions: in a wheel by installation, otherwise to src/<package>. Building a wheel fails if an extension
# is left out.
macro(triton_ext_add_bundle package)
  if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release)
  endif()
  if(SKBUILD AND NOT "${SKBUILD_STATE}" STREQUAL "editable")
    set(TRITON_EXT_INSTALL_DIR ${package})
  else()
    set(TRITON_EXT_STAGE_DIR ${PROJECT_SOURCE_DIR}/src/${package} CACHE PATH "where built libraries go")
  endif()
  triton_ext_add_extensions(dialects passes backends)
  # In a working copy the other extensions are useful; in a wheel an extension must not be missing silently.
  get_property(_left_out GLOBAL PROPERTY TRITON_EXT_LEFT_OUT)
  if(SKBUILD AND _left_out)
    list(GET _left_out 0 _first)
    get_property(_reason GLOBAL PROPERTY TRITON_EXT_LEFT_OUT_${_first})
    message(FATAL_ERROR "triton-ext: ${package} would be without ${_first}, which needs ${_reason}")
  endif()
endmacro()

# triton_ext_add_extensions(directory...)
#
# Adds every extension in these directories of the project, and removes the libraries of extensions that are gone.
macro(triton_ext_add_extensions)
  foreach(_kind ${ARGN})
    file(GLOB _extensions CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${_kind}/*/CMakeLists.txt)
    foreach(_extension ${_extensions})
      cmake_path(GET _extension PARENT_PATH _directory)
      triton_ext_add_directory(${PROJECT_SOURCE_DIR}/${_directory} ${_directory})
    endforeach()
  endforeach()
  if(TRITON_EXT_STAGE_DIR)
    triton_ext_remove_stale_libraries()
  endif()
endmacro()
