# SPDX-License-Identifier: Apache-2.0
#
# The common parts of triton_ext_add_pass() and triton_ext_add_dialect(): the
# checks of name and class, and the library. Dialects and backends install their
# Python alike.

include(${CMAKE_CURRENT_LIST_DIR}/TritonExtParts.cmake)

# VERSION may have no value, if the caller has got none.
if(POLICY CMP0174)
  cmake_policy(SET CMP0174 NEW)
endif()

# A name becomes an attribute in Python and a namespace in C++. The namespaces in the last line would hide existing
# ones.
set(TRITON_EXT_RESERVED_NAMES
  and as assert async await break class continue def del elif else except finally for from global if import in is
  lambda nonlocal not or pass raise return try while with yield
  alignas alignof asm auto bitand bitor bool case catch char compl concept const constexpr consteval constinit
  decltype default delete do double enum explicit export extern float friend goto inline int long mutable namespace
  new noexcept nullptr operator private protected public register requires short signed sizeof static struct switch
  template this throw typedef typeid typename union unsigned using virtual void volatile xor
  impl llvm mlir std triton triton_ext)

# For an invalid option or operand the glue throws a C++ exception, which nanobind translates. It includes no header of
# MLIR, and those of the standard library are read twice as fast as C++17.
set(TRITON_EXT_GLUE_OPTIONS -fexceptions -std=gnu++17)

# triton_ext_check_extension(kind name class EXAMPLE text [STRAY argument...] [VERSION version])
#
# Stops with an error of one line if `name` and `class` are not valid for an extension of this kind (pass, dialect).
# Sets in the caller:
#   stem     LoopSplit of LoopSplitPass: its files are LoopSplit.td and LoopSplit.cpp
#   version  VERSION, or the project's, or 0.0.0
function(triton_ext_check_extension kind name class)
  cmake_parse_arguments(PARSE_ARGV 3 arg "" "EXAMPLE;VERSION" "STRAY")
  set(where "triton-ext: ${CMAKE_CURRENT_LIST_FILE}: ${kind} '${name}'")
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME directory)
  string(SUBSTRING ${kind} 0 1 initial)
  string(SUBSTRING ${kind} 1 -1 rest)
  string(TOUPPER ${initial} initial)
  set(suffix ${initial}${rest})

  if(arg_STRAY)
    message(FATAL_ERROR "${where} has stray arguments '${arg_STRAY}' (fix: ${arg_EXAMPLE})")
  endif()
  if(NOT name MATCHES "^[a-z][a-z0-9_]*$")
    message(FATAL_ERROR "${where} is not an identifier: expected lower-case letters, digits and '_' (fix: rename the directory)")
  endif()
  if(name IN_LIST TRITON_EXT_RESERVED_NAMES)
    message(FATAL_ERROR "${where} has a name that is reserved in Python or C++ (fix: rename the directory)")
  endif()
  if(NOT directory STREQUAL name)
    message(FATAL_ERROR "${where} lies in the directory '${directory}', which must have the same name "
      "(fix: git mv ${directory} ${name})")
  endif()
  if(NOT class MATCHES "^([A-Z][A-Za-z0-9]*)${suffix}$")
    message(FATAL_ERROR "${where} has class '${class}', expected CamelCase that ends in ${suffix} "
      "(fix: rename the class, e.g. LoopSplit${suffix})")
  endif()
  set(stem ${CMAKE_MATCH_1})
  get_property(taken GLOBAL PROPERTY TRITON_EXT_EXTENSION_${name})
  if(taken)
    message(FATAL_ERROR "${where}: the name is taken by ${taken} (fix: rename one of the two directories)")
  endif()
  set_property(GLOBAL PROPERTY TRITON_EXT_EXTENSION_${name} ${CMAKE_CURRENT_SOURCE_DIR})
  foreach(file ${stem}.td ${stem}.cpp)
    if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${file})
      message(FATAL_ERROR "${where} has no ${file}, which its class ${class} asks for (fix: add the file)")
    endif()
  endforeach()
  set(version 0.0.0)
  foreach(known ${PROJECT_VERSION} ${arg_VERSION})
    set(version ${known})
  endforeach()
  set(stem ${stem} PARENT_SCOPE)
  set(version ${version} PARENT_SCOPE)
endfunction()

# triton_ext_add_extension_library(name class GENERATOR script ARGUMENTS argument... OUTPUTS file... DIALECTS name...
#   SOURCES file...)
#
# Runs the generator on the extension's ${stem}.td, which writes ${stem}Glue.cpp and OUTPUTS into the binary directory,
# and builds libtriton_ext_<name>.so. To be called after triton_ext_check_extension().
function(triton_ext_add_extension_library name class)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "GENERATOR" "ARGUMENTS;OUTPUTS;DIALECTS;SOURCES")
  set(td ${CMAKE_CURRENT_SOURCE_DIR}/${stem}.td)
  set(glue ${CMAKE_CURRENT_BINARY_DIR}/${stem}Glue.cpp)
  list(TRANSFORM TRITON_EXT_INCLUDE_DIRS PREPEND -I OUTPUT_VARIABLE includes)
  cmake_path(GET TRITON_EXT_CMAKE_DIR PARENT_PATH infra)
  list(APPEND includes -I${infra}) # analysis/InferAxisInfo.td
  set(generator ${TRITON_EXT_CMAKE_DIR}/${arg_GENERATOR})
  list(TRANSFORM arg_OUTPUTS PREPEND ${CMAKE_CURRENT_BINARY_DIR}/)
  add_custom_command(OUTPUT ${glue} ${arg_OUTPUTS}
    COMMAND ${Python3_EXECUTABLE} ${generator} --name ${name} --class ${class} --version ${version}
      --triton ${TRITON_EXT_TRITON_VERSION} --llvm-commit ${TRITON_EXT_LLVM_COMMIT}
      --headers ${TRITON_EXT_SDK_HEADERS} ${arg_ARGUMENTS} ${td} -- ${TRITON_EXT_TBLGEN} ${includes}
    DEPENDS ${td} ${generator} ${TRITON_EXT_CMAKE_DIR}/glue.py
      ${TRITON_EXT_CMAKE_DIR}/manifest.py COMMENT "Generating the glue of ${name}" VERBATIM
    DEPENDS_EXPLICIT_ONLY)

  set(target triton_ext_${name})
  add_library(${target} SHARED ${stem}.cpp ${arg_SOURCES} ${arg_OUTPUTS} ${glue})
  target_link_libraries(${target} PRIVATE TritonExt::Triton TritonExt::PassInfra)
  triton_ext_link_dialects(${target} ${arg_DIALECTS})
  # SYSTEM, because the author of an extension cannot mend warnings in TableGen's output.
  target_include_directories(${target} SYSTEM PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
  target_compile_options(${target} PRIVATE -Wall -Wextra)
  set_source_files_properties(${glue} PROPERTIES COMPILE_OPTIONS "${TRITON_EXT_GLUE_OPTIONS}")
  triton_ext_install_library(${target})
endfunction()

# triton_ext_install_python(destination glob...)
#
# Installs the files of the current directory that match a glob, and the package `api` if there is one.
function(triton_ext_install_python destination)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ OUTPUT_VARIABLE globs)
  file(GLOB files CONFIGURE_DEPENDS ${globs})
  install(FILES ${files} DESTINATION ${destination})
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/api/__init__.py OR EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/api/knobs.py)
    install(DIRECTORY api DESTINATION ${destination}
      FILES_MATCHING PATTERN *.py PATTERN *.json PATTERN *.css PATTERN *.html PATTERN __pycache__ EXCLUDE)
  endif()
endfunction()
