# SPDX-License-Identifier: Apache-2.0
#
# cmake -DDIRECTORY=dir -DLIST=file -P: removes the libraries in DIRECTORY that
# are not in LIST, so that Python does not find a deleted extension.

file(STRINGS ${LIST} staged)
file(GLOB present ${DIRECTORY}/*.so)
if(present AND staged)
  list(REMOVE_ITEM present ${staged})
endif()
if(present)
  message(STATUS "triton-ext: removing ${present}: no extension builds it any more")
  file(REMOVE ${present})
endif()
