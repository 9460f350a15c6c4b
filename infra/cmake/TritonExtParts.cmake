# SPDX-License-Identifier: Apache-2.0
#
# The dialects and passes that an extension declares to use, and the libraries
# that contain them: libTritonExtMLIR.so for the dialects of MLIR that libtriton
# lacks (the part `linalg` of the SDK), libtriton_ext_<name>.so for extensions.
# They are linked to the extension and loaded before it. If one is missing, the
# extension is left out.

set(TRITON_EXT_MLIR_DIALECTS bufferization complex linalg sparse_tensor tensor)

# This repository uses the part of the SDK, other projects use the library that was installed with the package.
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
  triton_ext_singletons_of(${_library} TRITON_EXT_MLIR_STUB)
endif()
set(TRITON_EXT_NO_MLIR "the library with MLIR's ${TRITON_EXT_MLIR_DIALECTS} (fix: ${_fix})")
string(REPLACE ";" ", " TRITON_EXT_NO_MLIR "${TRITON_EXT_NO_MLIR}")
# The headers of extensions' dialects, as <name>/<Stem>.h.
set(TRITON_EXT_DIALECT_HEADERS ${_package_root}/triton_ext/share/dialects)
set(TRITON_EXT_LIBRARIES ${_package_root}/triton_ext/lib)

# triton_ext_check_parts(name [LACKS text] [DIALECTS dialect...] [PASSES pass...] [PASSES_IN directory])
#
# Sets `left_out` in the caller to the reason if one of them is missing: MLIR's library is not installed, there is no
# such extension, or it is left out itself. Prints the reason, and adds a target with the extension's name that prints
# it, too. LACKS is a reason that the caller has found. The passes are beside the extension, or in PASSES_IN if they are
# run but not linked; in other projects, installed passes can be run, too.
function(triton_ext_check_parts name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PASSES_IN" "LACKS;DIALECTS;PASSES")
  set(why "${arg_LACKS}")
  foreach(dialect ${arg_DIALECTS})
    get_property(reason GLOBAL PROPERTY TRITON_EXT_LEFT_OUT_${dialect})
    if(dialect IN_LIST TRITON_EXT_MLIR_DIALECTS)
      if(NOT TARGET TritonExt::MLIR)
        set(why "${TRITON_EXT_NO_MLIR}")
      endif()
    elseif(reason)
      set(why "${reason}")
    elseif(NOT TARGET triton_ext_${dialect}
        AND (TRITON_EXT_BUILDS_INFRA OR NOT EXISTS ${TRITON_EXT_DIALECT_HEADERS}/${dialect}))
      set(why "the dialect '${dialect}', which is neither one of MLIR's that are built apart nor one of an extension before it \
(fix: add it, or correct DIALECTS in ${CMAKE_CURRENT_LIST_FILE}; those inside libtriton need no mention)")
    endif()
  endforeach()
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR PARENT_PATH beside)
  if(arg_PASSES_IN)
    set(beside ${arg_PASSES_IN})
  endif()
  foreach(pass ${arg_PASSES})
    if(EXISTS ${beside}/${pass}/CMakeLists.txt)
      triton_ext_add_directory(${beside}/${pass} passes/${pass})
    endif()
    get_property(reason GLOBAL PROPERTY TRITON_EXT_LEFT_OUT_${pass})
    if(reason)
      set(why "${reason}")
    elseif(arg_PASSES_IN AND NOT TRITON_EXT_BUILDS_INFRA AND EXISTS ${TRITON_EXT_LIBRARIES}/libtriton_ext_${pass}.so)
      continue() # the backend runs the installed pass
    elseif(NOT TARGET triton_ext_${pass})
      set(why "the pass '${pass}', which is not in ${beside}, or runs this one (fix: add it, or correct PASSES in \
${CMAKE_CURRENT_LIST_FILE})")
    endif()
  endforeach()
  if(why)
    message(STATUS "triton-ext: leaving out ${name}, which needs ${why}")
    set_property(GLOBAL PROPERTY TRITON_EXT_LEFT_OUT_${name} "${why}")
    set_property(GLOBAL APPEND PROPERTY TRITON_EXT_LEFT_OUT ${name})
    add_custom_target(triton_ext_${name}
      COMMAND ${CMAKE_COMMAND} -E echo "error: ${name} needs ${why}" COMMAND ${CMAKE_COMMAND} -E false VERBATIM)
  endif()
  set(left_out "${why}" PARENT_SCOPE)
endfunction()

# triton_ext_add_directory(source binary)
#
# Does what add_subdirectory() does, unless the directory was added before.
function(triton_ext_add_directory source binary)
  get_property(added GLOBAL PROPERTY TRITON_EXT_DIRECTORIES)
  if(NOT source IN_LIST added)
    set_property(GLOBAL APPEND PROPERTY TRITON_EXT_DIRECTORIES ${source})
    add_subdirectory(${source} ${PROJECT_BINARY_DIR}/${binary})
  endif()
endfunction()

# triton_ext_link_dialects(target dialect...)
#
# Links the libraries of the dialects, which triton_ext_check_parts() has found, to `target`.
function(triton_ext_link_dialects target)
  foreach(dialect ${ARGN})
    if(dialect IN_LIST TRITON_EXT_MLIR_DIALECTS)
      target_link_libraries(${target} PRIVATE TritonExt::MLIR)
      set(stub ${TRITON_EXT_MLIR_STUB})
    elseif(TARGET triton_ext_${dialect})
      target_link_libraries(${target} PRIVATE triton_ext_${dialect})
      get_target_property(stub triton_ext_${dialect} TRITON_EXT_STUB)
    else()
      set(library ${_package_root}/triton_ext/lib/libtriton_ext_${dialect}.so)
      triton_ext_singletons_of(${library} stub)
      target_link_libraries(${target} PRIVATE ${library})
      target_include_directories(${target} SYSTEM PRIVATE ${TRITON_EXT_DIALECT_HEADERS})
    endif()
    triton_ext_use_singletons(${target} ${stub})
  endforeach()
endfunction()

# triton_ext_export_dialect(name stem)
#
# Makes the classes of a dialect usable by other extensions: exports the symbols of its namespace and no others, writes
# the stub for the objects of its headers, and copies the headers, so that they are found as <name>/<Stem>.h.
function(triton_ext_export_dialect name stem)
  set(target triton_ext_${name})
  string(LENGTH ${name} length)
  triton_ext_export(${target} tritonGetPluginInfo *10triton_ext${length}${name}*)
  file(MAKE_DIRECTORY ${TRITON_EXT_STUB_DIR})
  set(stub ${TRITON_EXT_STUB_DIR}/${target}.o)
  set_target_properties(${target} PROPERTIES TRITON_EXT_STUB ${stub})
  add_custom_command(TARGET ${target} POST_BUILD
    COMMAND ${TRITON_EXT_SINGLETONS} write-stub --compiler ${CMAKE_CXX_COMPILER} ${stub} $<TARGET_FILE:${target}>
    COMMAND ${CMAKE_COMMAND} -E touch ${stub} # a byproduct must not be older than the library
    BYPRODUCTS ${stub} VERBATIM)

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
