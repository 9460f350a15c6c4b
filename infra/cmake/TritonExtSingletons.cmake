# SPDX-License-Identifier: Apache-2.0
#
# Objects of headers that must exist once per process, such as the instance of a memory resource: a library uses those
# of its hosts (libtriton, libraries of dialects) and has no copies. python/triton_ext/loading/singletons.py explains
# how.

set(TRITON_EXT_SINGLETONS ${TRITON_EXT_PYTHON} -m triton_ext.loading.singletons)
set(TRITON_EXT_STUB_DIR ${CMAKE_BINARY_DIR}/triton_ext_singletons)

# triton_ext_singletons_of(host result)
#
# Writes the stub of the existing library `host`, again whenever the library has changed, and sets `result` to the stub.
function(triton_ext_singletons_of host result)
  cmake_path(GET host STEM name)
  set(stub ${TRITON_EXT_STUB_DIR}/${name}.o)
  file(MAKE_DIRECTORY ${TRITON_EXT_STUB_DIR})
  execute_process(COMMAND ${TRITON_EXT_SINGLETONS} write-stub --compiler ${CMAKE_CXX_COMPILER} ${stub} ${host}
    RESULT_VARIABLE failed ERROR_VARIABLE why)
  if(failed)
    string(REGEX REPLACE "^error: " "" why "${why}")
    message(FATAL_ERROR "triton-ext: ${why}")
  endif()
  set_property(DIRECTORY ${CMAKE_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${host})
  set(${result} ${stub} PARENT_SCOPE)
endfunction()

# triton_ext_use_singletons(target stub)
#
# Makes the library `target` use the objects that `stub` names. A link option comes before the object files.
function(triton_ext_use_singletons target stub)
  target_link_options(${target} PRIVATE ${stub})
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${stub})
  set_property(TARGET ${target} APPEND PROPERTY TRITON_EXT_STUBS ${stub})
endfunction()

# triton_ext_export(target pattern...)
#
# Exports from the library `target` the symbols that match a pattern, and no others. All code is compiled with default
# visibility, because a hidden object cannot bind to another library.
function(triton_ext_export target)
  list(JOIN ARGN "; " patterns)
  set(script ${CMAKE_CURRENT_BINARY_DIR}/${target}.exports)
  file(CONFIGURE OUTPUT ${script} CONTENT "{ global: @patterns@; local: *; };\n" @ONLY)
  # Triton loads libraries into the global scope. -Bsymbolic makes a library call its own functions; otherwise a rebuilt
  # library would call those of the one that was loaded before.
  target_link_options(${target} PRIVATE LINKER:-Bsymbolic)
  # LINKER: would split a path at a comma.
  target_link_options(${target} PRIVATE "SHELL:-Xlinker \"--version-script=${script}\"")
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${script})
endfunction()
