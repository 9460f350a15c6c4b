# SPDX-License-Identifier: Apache-2.0
#
# One precompiled header for all libraries of this build, because most of the time that it takes to compile a pass is
# spent on reading MLIR's headers. Every source includes all of them, so a source that misses an #include compiles
# nevertheless: a build with -DTRITON_EXT_PCH=OFF finds that. Other projects have it off: one pass compiles faster than
# the header, and a missing #include would show only where the project is built without it.

option(TRITON_EXT_PCH "compile MLIR's headers once" ${TRITON_EXT_BUILDS_INFRA})

# What several extensions include, and is slow to read.
set(TRITON_EXT_PRECOMPILED_HEADERS
  mlir/IR/BuiltinOps.h
  llvm/ADT/MapVector.h
  llvm/ADT/SetVector.h
  llvm/ADT/StringExtras.h
  llvm/ADT/TypeSwitch.h
  mlir/Dialect/Affine/IR/AffineOps.h
  mlir/Dialect/Arith/IR/Arith.h
  mlir/Dialect/Bufferization/IR/Bufferization.h
  mlir/Dialect/ControlFlow/IR/ControlFlowOps.h
  mlir/Dialect/Func/IR/FuncOps.h
  mlir/Dialect/LLVMIR/LLVMDialect.h
  mlir/Dialect/Linalg/IR/Linalg.h
  mlir/Dialect/Math/IR/Math.h
  mlir/Dialect/MemRef/IR/MemRef.h
  mlir/Dialect/SCF/IR/SCF.h
  mlir/Dialect/Tensor/IR/Tensor.h
  mlir/Dialect/UB/IR/UBOps.h
  mlir/Dialect/Utils/StaticValueUtils.h
  mlir/IR/Builders.h
  mlir/IR/Dominance.h
  mlir/IR/IRMapping.h
  mlir/IR/Matchers.h
  mlir/IR/PatternMatch.h
  mlir/IR/TypeUtilities.h
  mlir/Interfaces/FunctionInterfaces.h
  mlir/Interfaces/SideEffectInterfaces.h
  mlir/Parser/Parser.h
  mlir/Pass/Pass.h
  mlir/Pass/PassManager.h
  mlir/Transforms/DialectConversion.h
  mlir/Transforms/GreedyPatternRewriteDriver.h
  triton/Dialect/Triton/IR/Dialect.h)

if(TRITON_EXT_PCH AND CMAKE_GENERATOR STREQUAL "Ninja")
  # A path relative to the directory in which Ninja runs the compiler: ccache then finds in one build directory what was
  # compiled in another.
  set(TRITON_EXT_PRECOMPILED triton_ext_precompiled/mlir.pch)
  # The flags of every library; clang refuses a precompiled header that was made with others.
  string(TOUPPER "${CMAKE_BUILD_TYPE}" _type)
  separate_arguments(_flags UNIX_COMMAND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${_type}}")
  get_target_property(_options TritonExt::Triton INTERFACE_COMPILE_OPTIONS)
  list(TRANSFORM TRITON_EXT_INCLUDE_DIRS PREPEND -isystem OUTPUT_VARIABLE _includes)
  list(APPEND _flags ${CMAKE_CXX20_EXTENSION_COMPILE_OPTION} ${_options} -fpch-instantiate-templates)
  # The first header is compiled, the others are included before it. A file of this build directory that includes them
  # all would be named in the result, and clang would look for it there when ccache serves the result to another
  # directory.
  list(POP_FRONT TRITON_EXT_PRECOMPILED_HEADERS _first)
  find_file(TRITON_EXT_FIRST_HEADER ${_first} PATHS ${TRITON_EXT_INCLUDE_DIRS} NO_CACHE REQUIRED NO_DEFAULT_PATH)
  list(TRANSFORM TRITON_EXT_PRECOMPILED_HEADERS REPLACE "(.+)" "-include;\\1")
  list(APPEND _flags ${TRITON_EXT_PRECOMPILED_HEADERS} -x c++-header -c)

  # ccache hashes this text instead of the precompiled header, which holds paths. It says what the header is made of.
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} --version OUTPUT_VARIABLE _sum COMMAND_ERROR_IS_FATAL ANY)
  string(APPEND _sum "${_flags}\n${_first}\n${TRITON_EXT_SDK_HEADERS}\n")
  file(GLOB_RECURSE _triton_headers CONFIGURE_DEPENDS ${TRITON_EXT_TRITON_ROOT}/include/triton/*)
  foreach(_file ${_triton_headers})
    file(SHA256 ${_file} _hash)
    string(APPEND _sum "${_hash}\n")
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/${TRITON_EXT_PRECOMPILED}.sum CONTENT "${_sum}" @ONLY)

  # Without CCACHE_BASEDIR, because the result holds absolute paths: ccache serves it to every build that finds the
  # headers in the same place. Without time stamps, because a restored file has others; clang compares sizes then.
  set(_launcher "")
  if(TRITON_EXT_CCACHE)
    set(_launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR= CCACHE_SLOPPINESS=pch_defines,time_macros ${TRITON_EXT_CCACHE})
  endif()
  add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/${TRITON_EXT_PRECOMPILED}
    COMMAND ${_launcher} ${CMAKE_CXX_COMPILER} ${_includes} ${_flags} ${TRITON_EXT_FIRST_HEADER}
      -Xclang -fno-pch-timestamp -MD -MF ${TRITON_EXT_PRECOMPILED}.d -MT ${TRITON_EXT_PRECOMPILED}
      -o ${TRITON_EXT_PRECOMPILED}
    WORKING_DIRECTORY ${CMAKE_BINARY_DIR}
    # Clang refuses a header that another version has precompiled.
    DEPENDS ${CMAKE_CXX_COMPILER} DEPFILE ${CMAKE_BINARY_DIR}/${TRITON_EXT_PRECOMPILED}.d
    COMMENT "Precompiling MLIR's headers" VERBATIM)
  add_custom_target(triton_ext_precompiled DEPENDS ${CMAKE_BINARY_DIR}/${TRITON_EXT_PRECOMPILED})
endif()

# triton_ext_use_precompiled(target)
#
# Compiles the sources of `target` with the precompiled header, if there is one, except those with the property
# SKIP_PRECOMPILE_HEADERS and those that are compiled with exceptions, because clang refuses the header with other
# flags.
function(triton_ext_use_precompiled target)
  if(NOT TARGET triton_ext_precompiled)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  foreach(source ${sources})
    get_source_file_property(options ${source} COMPILE_OPTIONS)
    get_source_file_property(skip ${source} SKIP_PRECOMPILE_HEADERS)
    if(NOT skip AND NOT options MATCHES "-fexceptions")
      set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS -include-pch ${TRITON_EXT_PRECOMPILED})
      set_property(SOURCE ${source} APPEND PROPERTY OBJECT_DEPENDS ${CMAKE_BINARY_DIR}/${TRITON_EXT_PRECOMPILED})
    endif()
  endforeach()
  add_dependencies(${target} triton_ext_precompiled)
endfunction()
