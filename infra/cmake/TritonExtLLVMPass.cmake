# SPDX-License-Identifier: Apache-2.0
#
# triton_ext_add_llvm_pass(name Class [TARGET target...] [VERSION version] [SOURCES file...])
#
# Builds libtriton_ext_<name>.so with the one LLVM pass `Class`, for the stage `llvm`. The library is a Triton plugin, as
# those of other passes, and a pass plugin of LLVM.
#
#   name     directory and Python name, e.g. fast_div
#   Class    TableGen def and C++ class, e.g. FastDivPass; its options and documentation come from FastDiv.td, its code
#            from FastDiv.cpp. The class has the interface of LLVM's new pass manager: the first parameter of `run` says
#            whether it is a module, function or loop pass
#   TARGET   default: all. The targets that the pass is for, as in triton_ext_add_pass()
#   VERSION  default: the project's, 0.0.0 if it has none
#   SOURCES  further C++ files
#
# The glue (options, registration, manifest) is generated: see generate_llvm_pass_glue.py.
function(triton_ext_add_llvm_pass name class)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "VERSION" "TARGET;SOURCES")
  triton_ext_check_targets(${name} ${arg_TARGET})
  triton_ext_check_extension(pass "${name}" "${class}" EXAMPLE "triton_ext_add_llvm_pass(${name} ${class})"
    STRAY ${arg_UNPARSED_ARGUMENTS} ${arg_KEYWORDS_MISSING_VALUES} VERSION ${arg_VERSION})
  list(JOIN arg_TARGET "," targets)
  triton_ext_add_extension_library(${name} ${class} GENERATOR generate_llvm_pass_glue.py
    ARGUMENTS --targets=${targets} --output ${CMAKE_CURRENT_BINARY_DIR}
    OUTPUTS ${stem}.h.inc
    SOURCES ${arg_SOURCES})
  # The glue includes LLVM's headers and throws nothing, so it is compiled as other sources are.
  set_source_files_properties(${CMAKE_CURRENT_BINARY_DIR}/${stem}Glue.cpp PROPERTIES COMPILE_OPTIONS "")
  triton_ext_export(triton_ext_${name} tritonGetPluginInfo llvmGetPassPluginInfo)
  if(TRITON_EXT_INSTALL_DIR AND TRITON_EXT_BUILDS_INFRA)
    triton_ext_install_python(triton_ext/passes/${name} api.py)
  endif()
endfunction()
