# SPDX-License-Identifier: Apache-2.0

# The dialects inside libtriton, of which there cannot be two.
set(TRITON_EXT_TRITON_DIALECTS
  affine amdg amdgpu arith async builtin cf dlti func gluon gpu index llvm math memref nvg nvgpu nvvm nvws pdl
  pdl_interp proton proton_gpu rocdl scf tensor tt ttg ttng ub vector ${TRITON_EXT_MLIR_DIALECTS})

# triton_ext_add_dialect(name Class [VERSION version] [DIALECTS dialect...] [SOURCES file...])
#
# Builds libtriton_ext_<name>.so, a Triton plugin with the one dialect `Class`.
#
#   name     directory, Python name and the dialect's namespace in IR, e.g. quant
#   Class    TableGen def and C++ class, e.g. QuantDialect; its operations, types
#            and attributes come from Quant.td, their code from Quant.cpp
#   VERSION  default: the project's, 0.0.0 if it has none
#   DIALECTS the dialects that it uses and that are not inside libtriton: MLIR's linalg, bufferization, tensor, ...
#            or those of extensions before it; the extension is left out where one of them is missing
#   SOURCES  further C++ files
#
# Its classes are there for every extension that names it in DIALECTS: #include "quant/Quant.h".
#
# Quant.h includes what the declarations need and ends with Quant.h.inc, Quant.cpp includes Quant.cpp.inc; both, and the
# glue, are generated: see generate_dialect_glue.py. An operation that is made of values alone and has one result can be
# made from Python, as builder.create_<name>_<operation>([values]).
function(triton_ext_add_dialect name class)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "VERSION" "DIALECTS;SOURCES")
  triton_ext_check_extension(dialect "${name}" "${class}" EXAMPLE "triton_ext_add_dialect(${name} ${class})"
    STRAY ${arg_UNPARSED_ARGUMENTS} ${arg_KEYWORDS_MISSING_VALUES} VERSION ${arg_VERSION})
  if(name IN_LIST TRITON_EXT_TRITON_DIALECTS)
    message(FATAL_ERROR "triton-ext: ${CMAKE_CURRENT_LIST_FILE}: dialect '${name}' has the name of a dialect of Triton "
      "(fix: rename the directory)")
  endif()
  triton_ext_check_parts(${name} DIALECTS ${arg_DIALECTS})
  if(left_out)
    return()
  endif()
  triton_ext_add_extension_library(${name} ${class} GENERATOR generate_dialect_glue.py
    ARGUMENTS --output ${CMAKE_CURRENT_BINARY_DIR}
    OUTPUTS ${stem}.h.inc ${stem}.cpp.inc
    DIALECTS ${arg_DIALECTS}
    SOURCES ${arg_SOURCES})
  triton_ext_export_dialect(${name} ${stem})
endfunction()
