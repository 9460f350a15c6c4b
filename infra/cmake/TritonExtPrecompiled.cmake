# SPDX-License-Identifier: Apache-2.0
#
# Precompiled headers, because most of the time that it takes to compile a pass is spent on reading MLIR's headers.
# Every source includes all of them, so a source that misses an #include compiles nevertheless: a build with
# -DTRITON_EXT_PCH=OFF finds that.
#
#   ON      headers in the build directory, which have also Triton's; the default of triton-ext itself
#   SHARED  one small header beside the SDK, for all other projects (triton_ext.sdk.precompiled): compiling a pass is
#           faster than making a header. The default of other projects
#   OFF     none. The default for a wheel of another project, because it is built once, and must not miss an #include

set(_default SHARED)
if(TRITON_EXT_BUILDS_INFRA)
  set(_default ON)
elseif(SKBUILD AND NOT "${SKBUILD_STATE}" STREQUAL "editable")
  set(_default OFF)
endif()
set(TRITON_EXT_PCH ${_default} CACHE STRING "whether MLIR's headers are precompiled: ON, SHARED or OFF")

# What passes of most projects include, in the header that they share.
set(TRITON_EXT_SHARED_HEADERS
  mlir/IR/BuiltinOps.h
  llvm/ADT/MapVector.h
  llvm/ADT/SetVector.h
  llvm/ADT/StringExtras.h
  llvm/ADT/TypeSwitch.h
  mlir/Dialect/Arith/IR/Arith.h
  mlir/Dialect/Math/IR/Math.h
  mlir/Dialect/SCF/IR/SCF.h
  mlir/IR/Builders.h
  mlir/IR/Dominance.h
  mlir/IR/IRMapping.h
  mlir/IR/Matchers.h
  mlir/IR/PatternMatch.h
  mlir/IR/TypeUtilities.h
  mlir/Interfaces/FunctionInterfaces.h
  mlir/Interfaces/SideEffectInterfaces.h
  mlir/Pass/Pass.h
  mlir/Pass/PassManager.h
  mlir/Transforms/DialectConversion.h
  mlir/Transforms/GreedyPatternRewriteDriver.h)

# The headers in the build directory. Each but the first contains the one that _AFTER names, and adds what several sources
# of triton-ext include and is slow to read: a third of a second to three seconds for each source. But every source that
# uses a larger header is a fifth slower to compile, even if it needs none of the additions, and waits for it longer. So a
# source uses the smallest one that has what it includes: see triton_ext_choose_precompiled(). LLVM's dialect alone takes
# two fifths of the time of the first two.
set(TRITON_EXT_PRECOMPILED core llvm gpu linalg)
set(TRITON_EXT_PRECOMPILED_core
  ${TRITON_EXT_SHARED_HEADERS}
  mlir/Dialect/ControlFlow/IR/ControlFlowOps.h
  mlir/Dialect/Func/IR/FuncOps.h
  mlir/Dialect/UB/IR/UBOps.h
  mlir/Dialect/Utils/StaticValueUtils.h
  mlir/IR/ImplicitLocOpBuilder.h
  mlir/IR/Remarks.h
  mlir/Parser/Parser.h
  triton/Dialect/Triton/IR/Dialect.h)
set(TRITON_EXT_PRECOMPILED_core_AFTER "")
set(TRITON_EXT_PRECOMPILED_llvm mlir/Dialect/LLVMIR/LLVMDialect.h)
set(TRITON_EXT_PRECOMPILED_llvm_AFTER core)
set(TRITON_EXT_PRECOMPILED_gpu
  mlir/Dialect/GPU/IR/GPUDialect.h
  triton/Dialect/TritonGPU/IR/Dialect.h)
set(TRITON_EXT_PRECOMPILED_gpu_AFTER core)
set(TRITON_EXT_PRECOMPILED_linalg
  mlir/Dialect/Linalg/IR/Linalg.h
  mlir/Dialect/Affine/IR/AffineOps.h
  mlir/Dialect/Bufferization/IR/Bufferization.h
  mlir/Dialect/MemRef/IR/MemRef.h
  mlir/Dialect/Tensor/IR/Tensor.h)
set(TRITON_EXT_PRECOMPILED_linalg_AFTER llvm)

if(TRITON_EXT_PCH AND NOT TRITON_EXT_PCH STREQUAL "SHARED" AND CMAKE_GENERATOR STREQUAL "Ninja")
  # Its paths are relative to the directory in which Ninja runs the compiler: ccache then finds in one build directory
  # what was compiled in another.
  set(TRITON_EXT_PRECOMPILED_DIR triton_ext_precompiled)
  # The flags of every library; clang refuses a precompiled header that was made with others.
  string(TOUPPER "${CMAKE_BUILD_TYPE}" _type)
  separate_arguments(_flags UNIX_COMMAND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${_type}}")
  get_target_property(_options TritonExt::Triton INTERFACE_COMPILE_OPTIONS)
  list(TRANSFORM TRITON_EXT_INCLUDE_DIRS PREPEND -isystem OUTPUT_VARIABLE _includes)
  list(APPEND _flags ${CMAKE_CXX20_EXTENSION_COMPILE_OPTION} ${_options} -fpch-instantiate-templates)

  # ccache hashes this text instead of the precompiled header, which holds paths. It says what the header is made of.
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} --version OUTPUT_VARIABLE _sum COMMAND_ERROR_IS_FATAL ANY)
  string(APPEND _sum "${_flags}\n${TRITON_EXT_SDK_HEADERS}\n")
  file(GLOB_RECURSE _triton_headers CONFIGURE_DEPENDS ${TRITON_EXT_TRITON_ROOT}/include/triton/*)
  foreach(_file ${_triton_headers})
    file(SHA256 ${_file} _hash)
    string(APPEND _sum "${_hash}\n")
  endforeach()

  # Without CCACHE_BASEDIR, because the result holds absolute paths: ccache serves it to every build that finds the
  # headers in the same place. Without time stamps, because a restored file has others; clang compares sizes then.
  set(_ccache "")
  if(TRITON_EXT_CCACHE)
    set(_ccache ${CMAKE_COMMAND} -E env CCACHE_BASEDIR= CCACHE_SLOPPINESS=pch_defines,time_macros ${TRITON_EXT_CCACHE})
  endif()
  set(_sum_ "${_sum}")
  foreach(_name ${TRITON_EXT_PRECOMPILED})
    # The first header is compiled, the others are included before it. A file of this build directory that includes them
    # all would be named in the result, and clang would look for it there when ccache serves the result to another
    # directory.
    set(_headers ${TRITON_EXT_PRECOMPILED_${_name}})
    set(_after ${TRITON_EXT_PRECOMPILED_${_name}_AFTER})
    set(_sum_${_name} "${_sum_${_after}}${_headers}\n")
    set(_launcher ${_ccache})
    set(_contains "")
    set(_before "")
    if(_after)
      set(_launcher "") # clang writes the absolute path of the header that is contained
      set(_contains -include-pch ${TRITON_EXT_PRECOMPILED_DIR}/${_after}.pch)
      set(_before ${CMAKE_BINARY_DIR}/${TRITON_EXT_PRECOMPILED_DIR}/${_after}.pch)
    endif()
    list(POP_FRONT _headers _first)
    find_file(TRITON_EXT_FIRST_${_name} ${_first} PATHS ${TRITON_EXT_INCLUDE_DIRS} NO_CACHE REQUIRED NO_DEFAULT_PATH)
    list(TRANSFORM _headers REPLACE "(.+)" "-include;\\1")
    set(_file ${TRITON_EXT_PRECOMPILED_DIR}/${_name}.pch)
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/${_file}.sum CONTENT "${_sum_${_name}}" @ONLY)
    add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/${_file}
      COMMAND ${_launcher} ${CMAKE_CXX_COMPILER} ${_includes} ${_flags} ${_contains} ${_headers} -x c++-header -c
        ${TRITON_EXT_FIRST_${_name}} -Xclang -fno-pch-timestamp -MD -MF ${_file}.d -MT ${_file} -o ${_file}
      WORKING_DIRECTORY ${CMAKE_BINARY_DIR}
      # Clang refuses a header that another version has precompiled.
      DEPENDS ${CMAKE_CXX_COMPILER} ${_before} DEPFILE ${CMAKE_BINARY_DIR}/${_file}.d
      COMMENT "Precompiling MLIR's headers (${_name})" VERBATIM)
    # A target for each, so that sources which need the first need not wait for the last.
    add_custom_target(triton_ext_precompiled_${_name} DEPENDS ${CMAKE_BINARY_DIR}/${_file})
  endforeach()
endif()

# triton_ext_choose_precompiled(name source)
#
# Sets `name` to the precompiled header for a source: the smallest that has what the source, and the headers of this
# project that it includes, include; if none has all, the one that has LLVM's dialect, because that is the slowest to
# read. A source for which another one would be better, because its includes have changed since CMake ran, compiles as
# well, only slower.
function(triton_ext_choose_precompiled name source)
  cmake_path(GET TRITON_EXT_CMAKE_DIR PARENT_PATH infra)
  set(chosen core)
  set(seen "")
  set(files ${source})
  while(files)
    list(POP_FRONT files file)
    list(APPEND seen ${file})
    get_property(includes GLOBAL PROPERTY TRITON_EXT_INCLUDES_${file})
    if(NOT includes AND EXISTS ${file})
      file(STRINGS ${file} includes REGEX "^#include \"")
      list(TRANSFORM includes REPLACE "^#include \"(.*)\".*" "\\1")
      set_property(GLOBAL PROPERTY TRITON_EXT_INCLUDES_${file} ${includes})
    endif()
    if(includes MATCHES "/Dialect/(Affine|Bufferization|Linalg|MemRef|Tensor)/")
      set(chosen linalg)
      break()
    elseif(includes MATCHES "/Dialect/LLVMIR/")
      set(chosen llvm)
    elseif(includes MATCHES "/Dialect/(GPU|TritonGPU)/" AND chosen STREQUAL "core")
      set(chosen gpu)
    endif()
    cmake_path(GET file PARENT_PATH beside)
    list(FILTER includes EXCLUDE REGEX "^(llvm|mlir|triton)/")
    foreach(include ${includes})
      foreach(directory ${beside} ${infra} ${TRITON_EXT_PASS_INCLUDE_DIR} ${PROJECT_SOURCE_DIR}/dialects)
        if(EXISTS ${directory}/${include} AND NOT ${directory}/${include} IN_LIST seen)
          list(APPEND files ${directory}/${include})
          break()
        endif()
      endforeach()
    endforeach()
  endwhile()
  set(${name} ${chosen} PARENT_SCOPE)
endfunction()

# triton_ext_use_precompiled(target)
#
# Compiles the sources of `target` with the precompiled header, if there is one, except those with the property
# SKIP_PRECOMPILE_HEADERS and those that are compiled with options other than warnings, because clang refuses the header
# with other flags.
function(triton_ext_use_precompiled target)
  if(TARGET triton_ext_precompiled_core)
    triton_ext_include_precompiled(${target})
  elseif(TRITON_EXT_PCH STREQUAL "SHARED")
    # The target is imported, so the end of the project may not see it.
    get_target_property(options TritonExt::Triton INTERFACE_COMPILE_OPTIONS)
    set_property(GLOBAL PROPERTY TRITON_EXT_COMPILE_OPTIONS ${options})
    # At the end, when the project has set all options of the target.
    cmake_language(EVAL CODE "cmake_language(DEFER DIRECTORY [==[${CMAKE_SOURCE_DIR}]==]
      CALL triton_ext_share_precompiled [==[${target}]==])")
  endif()
endfunction()

# triton_ext_include_precompiled(target [file])
#
# Compiles the sources of `target` with a precompiled header: with `file`, or with those in the build directory.
function(triton_ext_include_precompiled target)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  get_target_property(directory ${target} SOURCE_DIR)
  foreach(source ${sources})
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${directory})
    get_source_file_property(options ${source} TARGET_DIRECTORY ${target} COMPILE_OPTIONS)
    get_source_file_property(skip ${source} TARGET_DIRECTORY ${target} SKIP_PRECOMPILE_HEADERS)
    foreach(property COMPILE_DEFINITIONS COMPILE_FLAGS)
      get_source_file_property(more ${source} TARGET_DIRECTORY ${target} ${property})
      if(more)
        set(skip ON)
      endif()
    endforeach()
    list(FILTER options EXCLUDE REGEX "^-W|^NOTFOUND$")
    if(NOT skip AND NOT options)
      set(name ${ARGN})
      set(file ${ARGN})
      if(NOT name)
        triton_ext_choose_precompiled(chosen ${source})
        set(name ${TRITON_EXT_PRECOMPILED_DIR}/${chosen}.pch) # seen from the directory in which the compiler runs
        set(file ${CMAKE_BINARY_DIR}/${name})
      endif()
      set_property(SOURCE ${source} TARGET_DIRECTORY ${target} APPEND PROPERTY COMPILE_OPTIONS -include-pch ${name})
      set_property(SOURCE ${source} TARGET_DIRECTORY ${target} APPEND PROPERTY OBJECT_DEPENDS ${file})
      if(NOT ARGN)
        list(APPEND sources_of_${chosen} ${source})
      endif()
    endif()
  endforeach()
  foreach(chosen ${TRITON_EXT_PRECOMPILED})
    triton_ext_batch(${target} ${chosen} ${sources_of_${chosen}})
  endforeach()
endfunction()

# triton_ext_share_precompiled(target)
#
# Compiles `target` with the header beside the SDK, which is made if it is missing. Does nothing if none can be made, or
# if the target has options or definitions of its own, which the header would not have.
function(triton_ext_share_precompiled target)
  foreach(property COMPILE_OPTIONS COMPILE_DEFINITIONS COMPILE_FLAGS CXX_STANDARD INTERPROCEDURAL_OPTIMIZATION)
    get_target_property(own ${target} ${property})
    if(own AND property STREQUAL "COMPILE_OPTIONS")
      list(FILTER own EXCLUDE REGEX "^-W")
    elseif(own AND property STREQUAL "CXX_STANDARD")
      list(REMOVE_ITEM own 20)
    endif()
    if(own)
      return()
    endif()
  endforeach()
  get_target_property(directory ${target} SOURCE_DIR)
  get_directory_property(definitions DIRECTORY ${directory} COMPILE_DEFINITIONS) # not in the target's, unlike options
  # Other libraries may add options to those that link to them.
  get_target_property(libraries ${target} LINK_LIBRARIES)
  list(FILTER libraries EXCLUDE REGEX "^TritonExt|^triton_ext_|^/")
  if(definitions OR libraries OR CMAKE_CONFIGURATION_TYPES)
    return()
  endif()

  # The flags of every source in the target's directory.
  foreach(variable CMAKE_BUILD_TYPE CMAKE_CXX_FLAGS TRITON_EXT_PYTHON TRITON_EXT_SHARED_HEADERS)
    get_directory_property(${variable} DIRECTORY ${directory} DEFINITION ${variable})
  endforeach()
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  get_directory_property(type_flags DIRECTORY ${directory} DEFINITION CMAKE_CXX_FLAGS_${type})
  separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS} ${type_flags}")
  get_target_property(extensions ${target} CXX_EXTENSIONS)
  if(extensions STREQUAL "extensions-NOTFOUND" OR extensions)
    list(APPEND flags ${CMAKE_CXX20_EXTENSION_COMPILE_OPTION})
  else()
    list(APPEND flags ${CMAKE_CXX20_STANDARD_COMPILE_OPTION})
  endif()
  get_property(options GLOBAL PROPERTY TRITON_EXT_COMPILE_OPTIONS)
  list(APPEND flags ${options})

  # One process for all targets with the same flags.
  string(MD5 key "${flags}")
  get_property(known GLOBAL PROPERTY TRITON_EXT_SHARED_${key} SET)
  if(NOT known)
    list(TRANSFORM TRITON_EXT_SHARED_HEADERS PREPEND --header= OUTPUT_VARIABLE headers)
    execute_process(
      COMMAND ${TRITON_EXT_PYTHON} -m triton_ext.sdk.precompiled --compiler ${CMAKE_CXX_COMPILER} ${headers} -- ${flags}
      OUTPUT_VARIABLE file OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    set_property(GLOBAL PROPERTY TRITON_EXT_SHARED_${key} "${file}")
    if(file)
      # CMake runs again, and makes the header again, if it has been removed.
      set_property(DIRECTORY ${CMAKE_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    endif()
  endif()
  get_property(file GLOBAL PROPERTY TRITON_EXT_SHARED_${key})
  if(file)
    triton_ext_include_precompiled(${target} ${file})
  endif()
endfunction()
