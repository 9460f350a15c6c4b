# SPDX-License-Identifier: Apache-2.0

# A name becomes an attribute in Python and a namespace in C++.
set(TRITON_EXT_RESERVED_NAMES
  and as assert async await break class continue def del elif else except finally for from global if import in is
  lambda nonlocal not or pass raise return try while with yield
  alignas alignof asm auto bitand bitor bool case catch char compl concept const constexpr consteval constinit
  decltype default delete do double enum explicit export extern float friend goto inline int long mutable namespace
  new noexcept nullptr operator private protected public register requires short signed sizeof static struct switch
  template this throw typedef typeid typename union unsigned using virtual void volatile xor)

# triton_ext_add_pass(name Class STAGE stage [VERSION version] [SOURCES file...])
#
# Builds libtriton_ext_<name>.so, a Triton plugin with the one pass `Class`.
#
#   name     directory and Python name, e.g. loop_split
#   Class    TableGen def and C++ class, e.g. LoopSplitPass; its options and
#            documentation come from LoopSplit.td, its code from LoopSplit.cpp
#   stage    ttir, ttgir or llir: the stage whose modules the pass takes
#   VERSION  default: the project's, 0.0.0 if it has none
#   SOURCES  further C++ files
#
# The glue (registration, option schema, manifest) is generated: see
# generate_pass_glue.py.
function(triton_ext_add_pass name class)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "STAGE;VERSION" "SOURCES")
  set(where "triton-ext: ${CMAKE_CURRENT_LIST_FILE}: pass '${name}'")
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME directory)
  set(stages ttir ttgir llir)
  string(REPLACE ";" ", " valid_stages "${stages}")

  if(arg_UNPARSED_ARGUMENTS OR arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "${where} has stray arguments '${arg_UNPARSED_ARGUMENTS}${arg_KEYWORDS_MISSING_VALUES}' "
      "(fix: triton_ext_add_pass(${name} ${class} STAGE ttir))")
  endif()
  if(NOT name MATCHES "^[a-z][a-z0-9_]*$")
    message(FATAL_ERROR "${where} is no identifier: expected lower-case letters, digits and '_' (fix: rename the directory)")
  endif()
  if(name IN_LIST TRITON_EXT_RESERVED_NAMES)
    message(FATAL_ERROR "${where} has a name that is reserved in Python or C++ (fix: rename the directory)")
  endif()
  if(NOT directory STREQUAL name)
    message(FATAL_ERROR "${where} lies in the directory '${directory}', which must have the same name "
      "(fix: git mv ${directory} ${name})")
  endif()
  if(NOT arg_STAGE IN_LIST stages)
    message(FATAL_ERROR "${where} has stage '${arg_STAGE}', expected one of: ${valid_stages} (fix: add STAGE ttir)")
  endif()
  if(NOT class MATCHES "^([A-Z][A-Za-z0-9]*)Pass$")
    message(FATAL_ERROR "${where} has class '${class}', expected CamelCase that ends in Pass "
      "(fix: rename the class, e.g. LoopSplitPass)")
  endif()
  set(stem ${CMAKE_MATCH_1})
  get_property(taken GLOBAL PROPERTY TRITON_EXT_PASS_${name})
  if(taken)
    message(FATAL_ERROR "${where}: the name is taken by ${taken} (fix: rename one of the two directories)")
  endif()
  set_property(GLOBAL PROPERTY TRITON_EXT_PASS_${name} ${CMAKE_CURRENT_SOURCE_DIR})
  foreach(file ${stem}.td ${stem}.cpp)
    if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${file})
      message(FATAL_ERROR "${where} has no ${file}, which its class ${class} asks for (fix: add the file)")
    endif()
  endforeach()
  if(NOT arg_VERSION)
    set(arg_VERSION ${PROJECT_VERSION})
  endif()
  if(NOT arg_VERSION)
    set(arg_VERSION 0.0.0)
  endif()

  set(td ${CMAKE_CURRENT_SOURCE_DIR}/${stem}.td)
  set(declarations ${CMAKE_CURRENT_BINARY_DIR}/${stem}.h.inc)
  set(glue ${CMAKE_CURRENT_BINARY_DIR}/${stem}Glue.cpp)
  list(TRANSFORM TRITON_EXT_INCLUDE_DIRS PREPEND -I OUTPUT_VARIABLE includes)
  add_custom_command(OUTPUT ${declarations}
    COMMAND ${TRITON_EXT_TBLGEN} ${includes} -gen-pass-decls -name ${stem} ${td} -o ${declarations}
    DEPENDS ${td} COMMENT "Generating ${stem}.h.inc" VERBATIM DEPENDS_EXPLICIT_ONLY)
  set(generator ${TRITON_EXT_CMAKE_DIR}/generate_pass_glue.py)
  add_custom_command(OUTPUT ${glue}
    COMMAND ${Python3_EXECUTABLE} ${generator} --name ${name} --class ${class} --stage ${arg_STAGE}
      --version ${arg_VERSION} --triton ${TRITON_EXT_TRITON_VERSION} --llvm-commit ${TRITON_EXT_LLVM_COMMIT}
      --headers ${TRITON_EXT_SDK_HEADERS} --output ${glue} ${td} -- ${TRITON_EXT_TBLGEN} ${includes}
    DEPENDS ${td} ${generator} COMMENT "Generating the glue of ${name}" VERBATIM
    DEPENDS_EXPLICIT_ONLY)

  set(target triton_ext_${name})
  add_library(${target} SHARED ${stem}.cpp ${arg_SOURCES} ${declarations} ${glue})
  target_link_libraries(${target} PRIVATE TritonExt::Triton TritonExt::PassInfra)
  # SYSTEM: what TableGen writes is not the author's to warn about.
  target_include_directories(${target} SYSTEM PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
  target_compile_options(${target} PRIVATE -Wall -Wextra)
  # An invalid option leaves the glue as a C++ exception, for pybind11 to translate.
  set_source_files_properties(${glue} PROPERTIES COMPILE_OPTIONS -fexceptions)
  triton_ext_install_library(${target})
endfunction()
