# SPDX-License-Identifier: Apache-2.0

# triton_ext_link_analysis(name)
#
# Links the analyses statically to the extension `name`, which has to be added before: #include "analysis/AxisInfo.h"
# and the other headers in infra/analysis. Does nothing for an extension that is left out.
function(triton_ext_link_analysis name)
  set(analysis ${TRITON_EXT_CMAKE_DIR}/../analysis)
  if(NOT TARGET TritonExtAnalysis)
    add_subdirectory(${analysis} ${CMAKE_BINARY_DIR}/infra/analysis EXCLUDE_FROM_ALL)
  endif()
  get_target_property(type triton_ext_${name} TYPE)
  if(type STREQUAL SHARED_LIBRARY)
    target_link_libraries(triton_ext_${name} PRIVATE TritonExtAnalysis)
  endif()
endfunction()
