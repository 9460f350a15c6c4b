# SPDX-License-Identifier: Apache-2.0

# The library of analyses that comes with triton-ext, named after the headers that it was compiled with.
string(MD5 _headers "${TRITON_EXT_SDK_HEADERS}")
string(SUBSTRING ${_headers} 0 8 _headers)
set(TRITON_EXT_ANALYSIS_ARCHIVE libTritonExtAnalysis-${_headers}.a)

# triton_ext_link_analysis(name)
#
# Links the analyses statically to the extension `name`, which has to be added before: #include "analysis/AxisInfo.h"
# and the other headers in infra/analysis. Does nothing for an extension that is left out.
#
# Other projects use the library that comes with triton-ext. They compile it if they have other headers, or want it
# instrumented.
function(triton_ext_link_analysis name)
  set(analysis ${TRITON_EXT_CMAKE_DIR}/../analysis)
  set(built ${TRITON_EXT_LIBRARIES}/${TRITON_EXT_ANALYSIS_ARCHIVE})
  if(TARGET TritonExtAnalysis)
    # added by another extension
  elseif(TRITON_EXT_USES_BUILT AND EXISTS ${built} AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    cmake_path(GET TRITON_EXT_CMAKE_DIR PARENT_PATH infra)
    add_library(TritonExtAnalysis STATIC IMPORTED GLOBAL)
    target_link_libraries(TritonExtAnalysis INTERFACE TritonExt::Triton)
    target_include_directories(TritonExtAnalysis INTERFACE ${infra} ${TRITON_EXT_PASS_INCLUDE_DIR})
    set_target_properties(TritonExtAnalysis PROPERTIES IMPORTED_LOCATION ${built} SYSTEM OFF)
  else()
    add_subdirectory(${analysis} ${CMAKE_BINARY_DIR}/infra/analysis EXCLUDE_FROM_ALL)
    if(TRITON_EXT_BUILDS_INFRA AND TRITON_EXT_INSTALL_DIR)
      # Not in that directory, whose rules of installation are excluded with it.
      install(FILES $<TARGET_FILE:TritonExtAnalysis> DESTINATION ${TRITON_EXT_INSTALL_DIR} OPTIONAL
        RENAME ${TRITON_EXT_ANALYSIS_ARCHIVE})
    endif()
  endif()
  get_target_property(type triton_ext_${name} TYPE)
  if(type STREQUAL SHARED_LIBRARY)
    target_link_libraries(triton_ext_${name} PRIVATE TritonExtAnalysis)
  endif()
endfunction()
