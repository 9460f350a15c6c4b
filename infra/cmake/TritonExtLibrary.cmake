# SPDX-License-Identifier: Apache-2.0
#
# triton_ext_install_library(target): where a built library goes. In a wheel it is
# installed; in a checkout it is put, whole or not at all, where the Python
# package looks for it.

function(triton_ext_install_library target)
  set_target_properties(${target} PROPERTIES
    BUILD_WITH_INSTALL_RPATH ON
    INSTALL_RPATH "$ORIGIN"
    LINK_DEPENDS_NO_SHARED ON)
  get_target_property(libraries ${target} LINK_LIBRARIES)
  if("${libraries}" MATCHES "TritonExt::Triton")
    triton_ext_use_precompiled(${target})
    add_custom_command(TARGET ${target} POST_BUILD
      COMMAND ${TRITON_EXT_SINGLETONS} check $<TARGET_FILE:${target}> ${TRITON_EXT_STUB}
        $<TARGET_PROPERTY:${target},TRITON_EXT_STUBS>
      COMMAND_EXPAND_LISTS VERBATIM)
  endif()
  if(TRITON_EXT_INSTALL_DIR)
    install(TARGETS ${target} LIBRARY DESTINATION ${TRITON_EXT_INSTALL_DIR})
  endif()
  if(TRITON_EXT_STAGE_DIR)
    set(staged ${TRITON_EXT_STAGE_DIR}/${CMAKE_SHARED_LIBRARY_PREFIX}${target}${CMAKE_SHARED_LIBRARY_SUFFIX})
    # As a byproduct it is made again where somebody has removed it.
    add_custom_command(TARGET ${target} POST_BUILD
      COMMAND ${CMAKE_COMMAND} -E make_directory ${TRITON_EXT_STAGE_DIR}
      COMMAND ${CMAKE_COMMAND} -E copy $<TARGET_FILE:${target}> ${staged}.part
      COMMAND ${CMAKE_COMMAND} -E rename ${staged}.part ${staged}
      BYPRODUCTS ${staged}
      VERBATIM)
    set_property(GLOBAL APPEND PROPERTY TRITON_EXT_STAGED ${staged})
  endif()
endfunction()

# Removes staged libraries whose extension no longer exists. Call it after the
# last extension. Happens when everything is built, not when CMake runs: one that
# failed on the way would not have seen every extension.
function(triton_ext_remove_stale_libraries)
  get_property(staged GLOBAL PROPERTY TRITON_EXT_STAGED)
  list(JOIN staged "\n" lines)
  set(list ${PROJECT_BINARY_DIR}/staged_libraries.txt)
  set(stamp ${PROJECT_BINARY_DIR}/stale_libraries_removed)
  file(GENERATE OUTPUT ${list} CONTENT "${lines}\n")
  add_custom_command(OUTPUT ${stamp}
    COMMAND ${CMAKE_COMMAND} -DDIRECTORY=${TRITON_EXT_STAGE_DIR} -DLIST=${list}
      -P ${TRITON_EXT_CMAKE_DIR}/remove_stale_libraries.cmake
    COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
    DEPENDS ${list} COMMENT "Removing libraries that no extension builds any more" VERBATIM)
  add_custom_target(remove_stale_libraries ALL DEPENDS ${stamp})
endfunction()
