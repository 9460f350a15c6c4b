# SPDX-License-Identifier: Apache-2.0

# triton_ext_add_backend(name [TD file] [SOURCES file...] [PASSES pass...] [RUNTIME file...] [VERSION version]
#   [SUMMARY text])
#
# Builds libtriton_ext_<name>.so, the compiler of a backend: a library that Triton can load as a plugin, with the passes
# that the backend's compiler.py adds. Builds libTritonExt<Name>Runtime.so from the files after RUNTIME; it does not use
# Triton and LLVM. The directory's Python files become triton_ext.backends.<name>, even if the libraries are left out;
# the backend then reports what it lacks. In the wheel of a bundle they are in `backends` of the bundle's package.
# python/triton_ext/backends/__init__.py describes each file.
#
#   name     directory, and the `backend` of its GPUTarget, e.g. cpu
#   TD       declares the passes in SOURCES, as the .td of a pass does; e.g. Passes.td, from which Passes.h.inc is
#            generated. A pass has the argument triton-ext-<name>-<pass>, and is add_<name>_<pass> for Triton.
#            Without it, SOURCES define tritonGetPluginInfo()
#   SOURCES  default: none, for a backend that only runs passes of other extensions and has no library
#   PASSES   the passes in ../../passes that compiler.py runs; if one is missing, the backend is left out
#   VERSION  default: the project's, 0.0.0 if it has none
#   SUMMARY  one line
function(triton_ext_add_backend name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TD;VERSION;SUMMARY" "SOURCES;PASSES;RUNTIME")
  set(where "triton-ext: ${CMAKE_CURRENT_LIST_FILE}: backend '${name}'")
  if(arg_UNPARSED_ARGUMENTS OR arg_KEYWORDS_MISSING_VALUES OR NOT (arg_SOURCES OR arg_PASSES))
    message(FATAL_ERROR "${where} has stray or missing arguments (fix: triton_ext_add_backend(${name} SOURCES Passes.cpp))")
  endif()
  if(NOT name MATCHES "^[a-z][a-z0-9_]*$" OR name IN_LIST TRITON_EXT_RESERVED_NAMES)
    message(FATAL_ERROR "${where} is not an identifier: expected lower-case letters, digits and '_' (fix: rename the directory)")
  endif()
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME directory)
  if(NOT directory STREQUAL name)
    message(FATAL_ERROR "${where} lies in the directory '${directory}', which must have the same name "
      "(fix: git mv ${directory} ${name})")
  endif()
  foreach(file __init__.py compiler.py driver.py)
    if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${file})
      message(FATAL_ERROR "${where} has no ${file}, which Triton imports (fix: add the file)")
    endif()
  endforeach()
  get_property(taken GLOBAL PROPERTY TRITON_EXT_EXTENSION_${name})
  if(taken)
    message(FATAL_ERROR "${where}: the name is taken by ${taken} (fix: rename one of the two directories)")
  endif()
  set_property(GLOBAL PROPERTY TRITON_EXT_EXTENSION_${name} ${CMAKE_CURRENT_SOURCE_DIR})
  if(TRITON_EXT_INSTALL_DIR AND TRITON_EXT_BUILDS_INFRA)
    triton_ext_install_python(triton_ext/backends/${name} *.py backend.json)
  elseif(TRITON_EXT_INSTALL_DIR)
    triton_ext_install_python(${TRITON_EXT_INSTALL_DIR}/backends/${name} *.py backend.json)
  endif()
  cmake_path(SET passes NORMALIZE ${CMAKE_CURRENT_SOURCE_DIR}/../../passes)
  triton_ext_check_parts(${name} PASSES_IN ${passes} PASSES ${arg_PASSES})
  if(left_out)
    return()
  endif()
  set(target triton_ext_${name})
  set(built "") # the passes that this project builds
  foreach(pass ${arg_PASSES})
    if(TARGET triton_ext_${pass})
      list(APPEND built triton_ext_${pass})
    endif()
  endforeach()
  if(NOT arg_SOURCES)
    add_custom_target(${target} ALL DEPENDS ${built})
    return()
  endif()

  set(version 0.0.0)
  foreach(known ${PROJECT_VERSION} ${arg_VERSION})
    set(version ${known})
  endforeach()

  set(declarations "")
  set(glue ${CMAKE_CURRENT_BINARY_DIR}/BackendManifest.cpp)
  if(arg_TD)
    set(glue ${CMAKE_CURRENT_BINARY_DIR}/BackendGlue.cpp)
    set(generator ${TRITON_EXT_CMAKE_DIR}/generate_backend_glue.py)
    cmake_path(ABSOLUTE_PATH arg_TD OUTPUT_VARIABLE td)
    cmake_path(GET td STEM stem)
    set(declarations ${CMAKE_CURRENT_BINARY_DIR}/${stem}.h.inc)
    list(TRANSFORM TRITON_EXT_INCLUDE_DIRS PREPEND -I OUTPUT_VARIABLE includes)
    add_custom_command(OUTPUT ${declarations}
      COMMAND ${TRITON_EXT_TBLGEN} ${includes} -gen-pass-decls -name ${name} ${td} -o ${declarations}
      DEPENDS ${td} COMMENT "Generating ${stem}.h.inc of ${name}" VERBATIM DEPENDS_EXPLICIT_ONLY)
    add_custom_command(OUTPUT ${glue}
      COMMAND ${Python3_EXECUTABLE} ${generator} --name ${name} --version ${version}
        --triton ${TRITON_EXT_TRITON_VERSION} --llvm-commit ${TRITON_EXT_LLVM_COMMIT}
        --headers ${TRITON_EXT_SDK_HEADERS} "--summary=${arg_SUMMARY}" --output ${glue}
        ${td} -- ${TRITON_EXT_TBLGEN} ${includes}
      DEPENDS ${td} ${generator} ${TRITON_EXT_CMAKE_DIR}/generate_pass_glue.py ${TRITON_EXT_CMAKE_DIR}/glue.py
        ${TRITON_EXT_CMAKE_DIR}/manifest.py
      COMMENT "Generating the glue of ${name}" VERBATIM DEPENDS_EXPLICIT_ONLY)
  else()
    triton_ext_write_manifest(BackendManifest.cpp ${name} KIND backend VERSION ${version} SUMMARY "${arg_SUMMARY}")
  endif()
  add_library(${target} SHARED ${arg_SOURCES} ${declarations} ${glue})
  if(arg_TD)
    target_link_libraries(${target} PRIVATE TritonExt::PassInfra)
    target_include_directories(${target} SYSTEM PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
    set_source_files_properties(${glue} PROPERTIES COMPILE_OPTIONS "${TRITON_EXT_GLUE_OPTIONS}")
  endif()
  target_link_libraries(${target} PRIVATE TritonExt::Triton)
  target_include_directories(${target} PRIVATE ${TRITON_EXT_PASS_INCLUDE_DIR})
  target_compile_options(${target} PRIVATE -Wall -Wextra)
  triton_ext_export(${target} [a-zA-Z]*) # the functions with extern "C"
  if(built)
    add_dependencies(${target} ${built})
  endif()
  triton_ext_install_library(${target})

  if(arg_RUNTIME)
    string(SUBSTRING ${name} 0 1 initial)
    string(SUBSTRING ${name} 1 -1 rest)
    string(TOUPPER ${initial} initial)
    set(runtime TritonExt${initial}${rest}Runtime)
    find_package(Threads REQUIRED)
    add_library(${runtime} SHARED ${arg_RUNTIME})
    target_compile_features(${runtime} PRIVATE cxx_std_20)
    target_include_directories(${runtime} PRIVATE ${TRITON_EXT_PASS_INCLUDE_DIR})
    target_compile_options(${runtime} PRIVATE -Wall -Wextra -fvisibility=hidden)
    target_link_libraries(${runtime} PRIVATE Threads::Threads)
    triton_ext_install_library(${runtime})
    add_dependencies(${target} ${runtime})
  endif()
endfunction()
