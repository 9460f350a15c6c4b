# SPDX-License-Identifier: Apache-2.0

# The names of the dialects inside libtriton, which no other dialect may have.
set(TRITON_EXT_TRITON_DIALECTS
  affine amdg amdgpu arith async builtin cf dlti func gluon gpu index llvm math memref nvg nvgpu nvvm nvws pdl
  pdl_interp proton proton_gpu rocdl scf tensor tt ttg ttng ub vector ${TRITON_EXT_MLIR_DIALECTS})

# triton_ext_add_dialect(name Class [VERSION version] [LOWER_WITH pass AT stage:start|end] [DIALECTS dialect...]
#   [SOURCES file...])
#
# Builds libtriton_ext_<name>.so, a Triton plugin with the one dialect `Class`.
#
#   name     directory, Python name and the dialect's namespace in IR, e.g. quant
#   Class    TableGen def and C++ class, e.g. QuantDialect; its operations, types
#            and attributes come from Quant.td, their code from Quant.cpp
#   VERSION  default: the project's, 0.0.0 if it has none
#   DIALECTS the dialects that it uses and that are not inside libtriton: MLIR's linalg, bufferization, tensor, ...
#            or those of extensions that were added before; if one is missing, the extension is left out
#   SOURCES  further C++ files
#   LOWER_WITH  the pass that lowers the dialect, in a directory of that name in this one or elsewhere, and where it runs,
#            e.g. AT ttir:start; a kernel that uses the dialect through tx.language gets the pass without asking
#
# In triton-ext itself, api.py in the dialect's directory, or the package api, is triton_ext.<name>: its functions for
# kernels.
#
# Extensions that name it in DIALECTS can use its classes: #include "quant/Quant.h".
#
# Quant.h includes what the declarations need and ends with Quant.h.inc; Quant.cpp includes Quant.cpp.inc. Both, and the
# glue, are generated: see generate_dialect_glue.py. If an operation has only values as arguments, and one result,
# Python can make it, with builder.create_<name>_<operation>([values]).
function(triton_ext_add_dialect name class)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "VERSION;LOWER_WITH;AT" "DIALECTS;SOURCES")
  triton_ext_check_extension(dialect "${name}" "${class}" EXAMPLE "triton_ext_add_dialect(${name} ${class})"
    STRAY ${arg_UNPARSED_ARGUMENTS} ${arg_KEYWORDS_MISSING_VALUES} VERSION ${arg_VERSION})
  if(name IN_LIST TRITON_EXT_TRITON_DIALECTS)
    message(FATAL_ERROR "triton-ext: ${CMAKE_CURRENT_LIST_FILE}: dialect '${name}' has the name of a dialect of Triton "
      "(fix: rename the directory)")
  endif()
  if(arg_LOWER_WITH AND NOT "${arg_AT}" MATCHES "^[a-z][a-z0-9_]*:(start|end)$" OR arg_AT AND NOT arg_LOWER_WITH)
    message(FATAL_ERROR "triton-ext: ${CMAKE_CURRENT_LIST_FILE}: dialect '${name}' has LOWER_WITH '${arg_LOWER_WITH}' "
      "AT '${arg_AT}', expected a pass and a stage with :start or :end (fix: LOWER_WITH lower_${name} AT ttir:start)")
  endif()
  triton_ext_check_parts(${name} DIALECTS ${arg_DIALECTS})
  if(left_out)
    return()
  endif()
  triton_ext_add_extension_library(${name} ${class} GENERATOR generate_dialect_glue.py
    ARGUMENTS --lower-with=${arg_LOWER_WITH} --lower-at=${arg_AT} --output ${CMAKE_CURRENT_BINARY_DIR}
    OUTPUTS ${stem}.h.inc ${stem}.cpp.inc
    DIALECTS ${arg_DIALECTS}
    SOURCES ${arg_SOURCES})
  triton_ext_export_dialect(${name} ${stem})
  if(arg_LOWER_WITH AND EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${arg_LOWER_WITH}/CMakeLists.txt)
    add_subdirectory(${arg_LOWER_WITH})
  endif()
  if(TRITON_EXT_INSTALL_DIR AND TRITON_EXT_BUILDS_INFRA)
    triton_ext_install_python(triton_ext/dialects/${name} api.py)
  endif()
endfunction()
