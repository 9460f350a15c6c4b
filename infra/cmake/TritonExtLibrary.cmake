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
  if(TRITON_EXT_INSTALL_DIR)
    install(TARGETS ${target} LIBRARY DESTINATION ${TRITON_EXT_INSTALL_DIR})
  endif()
  if(TRITON_EXT_STAGE_DIR)
    set(staged ${TRITON_EXT_STAGE_DIR}/$<TARGET_FILE_NAME:${target}>)
    add_custom_command(TARGET ${target} POST_BUILD
      COMMAND ${CMAKE_COMMAND} -E make_directory ${TRITON_EXT_STAGE_DIR}
      COMMAND ${CMAKE_COMMAND} -E copy $<TARGET_FILE:${target}> ${staged}.part
      COMMAND ${CMAKE_COMMAND} -E rename ${staged}.part ${staged}
      VERBATIM)
    set_property(GLOBAL APPEND PROPERTY TRITON_EXT_STAGED
      ${TRITON_EXT_STAGE_DIR}/${CMAKE_SHARED_LIBRARY_PREFIX}${target}${CMAKE_SHARED_LIBRARY_SUFFIX})
  endif()
endfunction()

# Removes staged libraries whose extension no longer exists, so that a deleted
# directory is gone from Python too. Call it after the last extension.
function(triton_ext_remove_stale_libraries)
  get_property(staged GLOBAL PROPERTY TRITON_EXT_STAGED)
  file(GLOB present ${TRITON_EXT_STAGE_DIR}/*.so)
  if(present AND staged)
    list(REMOVE_ITEM present ${staged})
  endif()
  if(present)
    message(STATUS "triton-ext: removing ${present}: no extension builds it any more")
    file(REMOVE ${present})
  endif()
endfunction()
