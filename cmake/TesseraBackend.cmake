# What the backends share in their builds: the option AUTO|ON|OFF and the shape of a plug-in.
include_guard(GLOBAL)

# tessera_backend_option(<b> <reason>): decides whether backend <b> is built. `reason` is "" if everything it needs is
# there, or the sentence that says what is missing. Sets TESSERA_BUILD_<B> in the caller and records the summary's row.
function(tessera_backend_option backend reason)
  string(TOUPPER "${backend}" upper)
  set(option "${TESSERA_BACKEND_${upper}}")
  if(NOT option MATCHES "^(AUTO|ON|OFF)$")
    message(FATAL_ERROR "TESSERA_BACKEND_${upper} is '${option}', but must be AUTO, ON or OFF")
  endif()
  set(build OFF)
  if(TESSERA_ONLY_BACKENDS AND NOT backend IN_LIST TESSERA_ONLY_BACKENDS)
    if(option STREQUAL "ON")
      message(FATAL_ERROR "TESSERA_BACKEND_${upper}=ON, but TESSERA_ONLY_BACKENDS=${TESSERA_ONLY_BACKENDS}")
    endif()
    set(row "off: TESSERA_ONLY_BACKENDS=${TESSERA_ONLY_BACKENDS}")
  elseif(option STREQUAL "OFF")
    set(row "off: TESSERA_BACKEND_${upper}=OFF")
  elseif(reason STREQUAL "")
    set(build ON)
    set(row "on")
  elseif(option STREQUAL "ON")
    message(FATAL_ERROR "TESSERA_BACKEND_${upper}=ON, but ${reason}")
  else()
    set(row "off: ${reason}")
  endif()
  set(TESSERA_BUILD_${upper} ${build} PARENT_SCOPE)
  set_property(GLOBAL PROPERTY TESSERA_SUMMARY_${upper} "${row}")
endfunction()

# tessera_add_backend(<b> [EXCEPT <files...>] [LIBRARIES <targets...>]): the plug-in libtessera_<b>.so, placed and installed
# in the folder tessera/ beside the library, with its own libraries found beside itself or one folder up. Its sources are
# every .cpp in the backend's folder, but for those of EXCEPT.
function(tessera_add_backend backend)
  cmake_parse_arguments(PARSE_ARGV 1 BACKEND "" "" "EXCEPT;LIBRARIES")
  set(target tessera_${backend})
  file(GLOB_RECURSE sources RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" CONFIGURE_DEPENDS *.cpp)
  list(REMOVE_ITEM sources ${BACKEND_EXCEPT})
  add_library(${target} MODULE ${sources})
  # In a unity build, what stands outside of ops/. There the files of variants call their steps by the same names, and
  # Highway's are compiled once for each instruction set.
  set(together ${sources})
  list(FILTER together EXCLUDE REGEX "^ops/")
  set_source_files_properties(${together} PROPERTIES UNITY_GROUP ${target})
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  target_precompile_headers(${target} PRIVATE <algorithm> <functional> <map> <memory> <mutex> <string> <vector>
    "${PROJECT_SOURCE_DIR}/api/backend/backend.h" "${PROJECT_SOURCE_DIR}/api/backend/operator_table.h")
  target_include_directories(${target} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
  target_link_libraries(${target} PRIVATE tessera_mathematics tessera_compiler ${BACKEND_LIBRARIES})
  set_target_properties(${target} PROPERTIES
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib/tessera"
    INSTALL_RPATH "$ORIGIN;$ORIGIN/..")
  install(TARGETS ${target} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/tessera" COMPONENT ${backend})
  set_property(GLOBAL APPEND PROPERTY TESSERA_BACKENDS ${backend})
endfunction()
