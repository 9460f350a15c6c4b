# SPDX-License-Identifier: Apache-2.0
#
# The dialects that an extension declares that it uses, and the libraries that
# hold them: libTritonExtMLIR.so for those of MLIR that libtriton lacks (the part
# `linalg` of the SDK), libtriton_ext_<name>.so for those of extensions. What is
# declared is linked, and loaded before the extension.

set(TRITON_EXT_MLIR_DIALECTS bufferization complex linalg sparse_tensor tensor)

# In this repository the part of the SDK counts, elsewhere the library that was installed with the package.
set(_library "")
if(TRITON_EXT_BUILDS_INFRA)
  string(JSON _library ERROR_VARIABLE _no_part GET "${_sdk}" parts linalg library)
  if(_no_part)
    set(_library "")
  endif()
  set(_fix "triton-ext sdk install --with linalg")
elseif(EXISTS ${_package_root}/triton_ext/lib/libTritonExtMLIR.so)
  set(_library ${_package_root}/triton_ext/lib/libTritonExtMLIR.so)
else()
  set(_fix "pip install --force-reinstall triton-ext")
endif()
if(_library)
  add_library(TritonExt::MLIR SHARED IMPORTED)
  target_link_libraries(TritonExt::MLIR INTERFACE TritonExt::Triton)
  set_target_properties(TritonExt::MLIR PROPERTIES IMPORTED_LOCATION ${_library})
endif()
set(TRITON_EXT_NO_MLIR "the library with MLIR's ${TRITON_EXT_MLIR_DIALECTS} (fix: ${_fix})")
string(REPLACE ";" ", " TRITON_EXT_NO_MLIR "${TRITON_EXT_NO_MLIR}")
# Headers of the dialects of extensions, as <name>/<Stem>.h.
set(TRITON_EXT_DIALECT_HEADERS ${_package_root}/triton_ext/share/dialects)

# triton_ext_check_dialects(name dialect...)
#
# Sets `left_out` in the caller if one of the dialects cannot be had here because MLIR's library was not installed, and
# makes a target of that extension's name which says so. Stops if there is no such dialect at all.
function(triton_ext_check_dialects name)
  set(why "")
  foreach(dialect ${ARGN})
    get_property(reason GLOBAL PROPERTY TRITON_EXT_LEFT_OUT_${dialect})
    if(dialect IN_LIST TRITON_EXT_MLIR_DIALECTS)
      if(NOT TARGET TritonExt::MLIR)
        set(why "${TRITON_EXT_NO_MLIR}")
      endif()
    elseif(reason)
      set(why "${reason}")
    elseif(NOT TARGET triton_ext_${dialect} AND NOT EXISTS ${TRITON_EXT_DIALECT_HEADERS}/${dialect})
      message(FATAL_ERROR "triton-ext: ${CMAKE_CURRENT_LIST_FILE}: '${name}' uses the dialect '${dialect}', which is "
        "none of MLIR's that are built apart (${TRITON_EXT_MLIR_DIALECTS}) and none of an extension that comes before "
        "it (fix: correct DIALECTS; those inside libtriton need no mention)")
    endif()
  endforeach()
  if(why)
    message(STATUS "triton-ext: leaving out ${name}, which needs ${why}")
    set_property(GLOBAL PROPERTY TRITON_EXT_LEFT_OUT_${name} "${why}")
    add_custom_target(triton_ext_${name}
      COMMAND ${CMAKE_COMMAND} -E echo "error: ${name} needs ${why}" COMMAND ${CMAKE_COMMAND} -E false VERBATIM)
  endif()
  set(left_out "${why}" PARENT_SCOPE)
endfunction()

# triton_ext_link_dialects(target dialect...)
#
# Call it for dialects that triton_ext_check_dialects() has found to be there.
function(triton_ext_link_dialects target)
  foreach(dialect ${ARGN})
    if(dialect IN_LIST TRITON_EXT_MLIR_DIALECTS)
      target_link_libraries(${target} PRIVATE TritonExt::MLIR)
    elseif(TARGET triton_ext_${dialect})
      target_link_libraries(${target} PRIVATE triton_ext_${dialect})
    else()
      target_link_libraries(${target} PRIVATE ${TRITON_EXT_DIALECT_HEADERS}/../../lib/libtriton_ext_${dialect}.so)
      target_include_directories(${target} SYSTEM PRIVATE ${TRITON_EXT_DIALECT_HEADERS})
    endif()
  endforeach()
endfunction()

# triton_ext_export_dialect(name stem)
#
# Makes the classes of a dialect usable by other extensions: exports what is in its namespace, and nothing else, and
# puts its headers where they are found as <name>/<Stem>.h.
function(triton_ext_export_dialect name stem)
  set(target triton_ext_${name})
  string(LENGTH ${name} length)
  set(script ${CMAKE_CURRENT_BINARY_DIR}/${name}.exports)
  file(CONFIGURE OUTPUT ${script} CONTENT
    "{ global: tritonGetPluginInfo; *10triton_ext@length@@name@*; local: *; };\n" @ONLY)
  target_link_options(${target} PRIVATE LINKER:--version-script=${script})
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  foreach(source ${sources})
    set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS -fvisibility=default)
  endforeach()

  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR PARENT_PATH dialects)
  target_include_directories(${target} INTERFACE ${dialects})
  target_include_directories(${target} SYSTEM INTERFACE ${CMAKE_CURRENT_BINARY_DIR})
  file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.h ${CMAKE_CURRENT_SOURCE_DIR}/*.td)
  list(APPEND headers ${CMAKE_CURRENT_BINARY_DIR}/${stem}.h.inc)
  if(TRITON_EXT_INSTALL_DIR AND TRITON_EXT_BUILDS_INFRA)
    install(FILES ${headers} DESTINATION triton_ext/share/dialects/${name})
  elseif(TRITON_EXT_BUILDS_INFRA)
    add_custom_command(TARGET ${target} POST_BUILD
      COMMAND ${CMAKE_COMMAND} -E make_directory ${TRITON_EXT_DIALECT_HEADERS}/${name}
      COMMAND ${CMAKE_COMMAND} -E copy_if_different ${headers} ${TRITON_EXT_DIALECT_HEADERS}/${name}
      VERBATIM)
  endif()
endfunction()
