# SPDX-License-Identifier: Apache-2.0

# The backends, and their stages in which passes can be placed, as each backend.json declares them. These are the
# backends of this project and those that come with triton-ext, in a checkout or in a wheel.
set(TRITON_EXT_BACKENDS "")
set(TRITON_EXT_BACKEND_STAGES "")
file(GLOB _declarations CONFIGURE_DEPENDS ${_infra}/../backends/*/backend.json
  ${_package_root}/triton_ext/backends/*/backend.json ${PROJECT_SOURCE_DIR}/backends/*/backend.json)
foreach(_file ${_declarations})
  cmake_path(GET _file PARENT_PATH _directory)
  cmake_path(GET _directory FILENAME _backend)
  list(APPEND TRITON_EXT_BACKENDS ${_backend})
  file(READ ${_file} _declared)
  string(JSON _count ERROR_VARIABLE _why LENGTH "${_declared}" stages)
  if(_why)
    message(FATAL_ERROR "triton-ext: ${_file} does not declare the stages of its backend: ${_why} "
      "(fix: \"stages\": {}, if it has none of its own)")
  endif()
  string(JSON _stages GET "${_declared}" stages)
  set(_i 0)
  while(_i LESS _count)
    string(JSON _stage MEMBER "${_stages}" ${_i})
    string(JSON _takes ERROR_VARIABLE _none GET "${_stages}" ${_stage} passes)
    if(NOT _none)
      list(APPEND TRITON_EXT_BACKEND_STAGES ${_stage})
    endif()
    math(EXPR _i "${_i} + 1")
  endwhile()
endforeach()
list(REMOVE_DUPLICATES TRITON_EXT_BACKENDS)
list(REMOVE_DUPLICATES TRITON_EXT_BACKEND_STAGES)

# triton_ext_check_targets(name target...)
#
# Stops with an error of one line if a target of the pass `name` is malformed.
function(triton_ext_check_targets name)
  set(vendor_nvidia cuda)
  set(vendor_amd hip)
  set(vendor_rocm hip)
  foreach(target ${ARGN})
    set(where "triton-ext: ${CMAKE_CURRENT_LIST_FILE}: pass '${name}' has target '${target}'")
    if(vendor_${target})
      message(FATAL_ERROR "${where}, which Triton calls ${vendor_${target}} (fix: TARGET ${vendor_${target}})")
    elseif(NOT target MATCHES "^[a-z][a-z0-9_]*(:[A-Za-z0-9_.*?-]+)?$")
      message(FATAL_ERROR "${where}, expected a backend such as cuda, hip or cpu, or one architecture of it such as cuda:90 "
        "(fix: TARGET cuda)")
    endif()
  endforeach()
endfunction()

# triton_ext_add_pass(name Class STAGE stage [TARGET target...] [VERSION version] [DIALECTS dialect...]
#   [PASSES pass...] [SOURCES file...])
#
# Builds libtriton_ext_<name>.so, a Triton plugin with the one pass `Class`.
#
#   name     directory and Python name, e.g. loop_split
#   Class    TableGen def and C++ class, e.g. LoopSplitPass; its options and
#            documentation come from LoopSplit.td, its code from LoopSplit.cpp
#   stage    the stage whose modules the pass takes: ttir, ttgir, llir, or one that a backend declares in its
#            backend.json; any: the pass takes the modules of all of these
#   TARGET   default: all. The targets that the pass is for: cuda, hip or another backend, or an architecture such as
#            cuda:90 or hip:gfx9*; a compilation for another target refuses the pass. If TARGET names a backend that
#            does not exist here, a pass for a stage of that backend is left out
#   VERSION  default: the project's, 0.0.0 if it has none
#   DIALECTS the dialects that it uses and that are not inside libtriton; see triton_ext_add_dialect()
#   PASSES   the passes beside it, in this directory, that it runs: #include "rename/Rename.h", which is generated, declares
#            the function that creates the pass, in the namespace mlir::triton_ext::rename
#   SOURCES  further C++ files
#
# In triton-ext itself, api.py in the pass's directory, or the package api, is triton_ext.<name>.
#
# The glue (registration, option schema, manifest) is generated: see
# generate_pass_glue.py.
function(triton_ext_add_pass name class)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "STAGE;VERSION" "TARGET;DIALECTS;PASSES;SOURCES")
  set(stages ttir ttgir llir ${TRITON_EXT_BACKEND_STAGES} any)
  if(arg_STAGE STREQUAL "llvm")
    message(FATAL_ERROR "triton-ext: ${CMAKE_CURRENT_LIST_FILE}: pass '${name}' has stage 'llvm', whose passes are LLVM's "
      "and not MLIR's (fix: triton_ext_add_llvm_pass(${name} ${class}))")
  endif()
  set(absent "") # the backend that the pass is for, if the stage is its own and the backend is missing
  foreach(target ${arg_TARGET})
    if(NOT arg_STAGE IN_LIST stages AND NOT target MATCHES ":" AND NOT target IN_LIST TRITON_EXT_BACKENDS)
      set(absent ${target})
    endif()
  endforeach()
  if(NOT arg_STAGE IN_LIST stages AND (NOT absent OR absent MATCHES "^(cuda|hip)$"))
    string(REPLACE ";" ", " valid_stages "${stages}")
    message(FATAL_ERROR "triton-ext: ${CMAKE_CURRENT_LIST_FILE}: pass '${name}' has stage '${arg_STAGE}', "
      "expected one of: ${valid_stages} (fix: add STAGE ttir)")
  endif()
  triton_ext_check_targets(${name} ${arg_TARGET})
  triton_ext_check_extension(pass "${name}" "${class}" EXAMPLE "triton_ext_add_pass(${name} ${class} STAGE ttir)"
    STRAY ${arg_UNPARSED_ARGUMENTS} ${arg_KEYWORDS_MISSING_VALUES} VERSION ${arg_VERSION})
  set(lacks "")
  if(absent)
    set(lacks "the backend '${absent}', whose stage ${arg_STAGE} it is for (fix: add backends/${absent})")
  endif()
  triton_ext_check_parts(${name} LACKS ${lacks} DIALECTS ${arg_DIALECTS} PASSES ${arg_PASSES})
  if(left_out)
    return()
  endif()

  list(JOIN arg_TARGET "," targets)
  triton_ext_add_extension_library(${name} ${class} GENERATOR generate_pass_glue.py
    ARGUMENTS --stage ${arg_STAGE} --targets=${targets} --output ${CMAKE_CURRENT_BINARY_DIR}
    OUTPUTS ${stem}.h ${stem}.h.inc
    DIALECTS ${arg_DIALECTS}
    SOURCES ${arg_SOURCES})
  # The header that was generated, for passes that run this one.
  cmake_path(GET CMAKE_CURRENT_BINARY_DIR PARENT_PATH generated)
  target_include_directories(triton_ext_${name} SYSTEM INTERFACE ${generated})
  string(LENGTH ${name} length)
  triton_ext_export(triton_ext_${name} tritonGetPluginInfo _ZN4mlir10triton_ext${length}${name}*)
  if(arg_PASSES)
    # Their libraries are loaded before this one, like those of dialects.
    list(TRANSFORM arg_PASSES PREPEND triton_ext_)
    cmake_path(GET CMAKE_CURRENT_SOURCE_DIR PARENT_PATH beside)
    target_link_libraries(triton_ext_${name} PRIVATE ${arg_PASSES})
    target_include_directories(triton_ext_${name} PRIVATE ${beside})
  endif()
  if(TRITON_EXT_INSTALL_DIR AND TRITON_EXT_BUILDS_INFRA)
    triton_ext_install_python(triton_ext/passes/${name} api.py)
  endif()
endfunction()
