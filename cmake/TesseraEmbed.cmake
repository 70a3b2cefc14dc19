# Embeds files' bytes into a target, so that kernels stay real files and binaries need no data folder.
include_guard(GLOBAL)

set(TESSERA_EMBED_FOLDER "${CMAKE_CURRENT_LIST_DIR}")

# tessera_embed_files(<target> HEADER <name.h> NAMESPACE <a::b> FILES <paths...> [INCLUDES_FROM <folder>])
#   Defines in the target `extern const std::string_view <stem>` for each file, in that namespace, and writes the header
#   that declares them; a 0 stands behind each last byte. Files may be build products, and need not be text.
#   With INCLUDES_FROM they are programs whose `#include "..."` are resolved, relative to that folder: see
#   TesseraResolveIncludes.cmake. Whoever edits a file, or one that it includes, and builds, embeds it anew.
function(tessera_embed_files target)
  cmake_parse_arguments(PARSE_ARGV 1 EMBED "" "HEADER;NAMESPACE;INCLUDES_FROM" "FILES")
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/embedded")
  set(views "")
  set(names "")
  set(paths "")
  foreach(file IN LISTS EMBED_FILES)
    cmake_path(ABSOLUTE_PATH file NORMALIZE)
    cmake_path(GET file STEM name)
    if(DEFINED EMBED_INCLUDES_FROM)
      cmake_path(GET file FILENAME resolved)
      set(resolved "${folder}/${resolved}")
      add_custom_command(
        OUTPUT "${resolved}"
        COMMAND "${CMAKE_COMMAND}" "-DFILE=${file}" "-DROOT=${EMBED_INCLUDES_FROM}" "-DOUTPUT=${resolved}"
                "-DDEPFILE=${resolved}.d" -P "${TESSERA_EMBED_FOLDER}/TesseraResolveIncludes.cmake"
        DEPENDS "${file}" "${TESSERA_EMBED_FOLDER}/TesseraResolveIncludes.cmake"
        DEPFILE "${resolved}.d"
        COMMENT "Resolving what ${name} includes"
        VERBATIM)
      set(file "${resolved}")
    endif()
    list(APPEND names "${name}")
    list(APPEND paths "${file}")
    string(APPEND views "extern const std::string_view ${name};\n")
  endforeach()

  file(CONFIGURE OUTPUT "${folder}/${EMBED_HEADER}" @ONLY CONTENT "// Generated: files that are embedded in ${target}.
#pragma once

#include <string_view>

namespace ${EMBED_NAMESPACE} {

${views}
}  // namespace ${EMBED_NAMESPACE}
")
  cmake_path(REPLACE_EXTENSION EMBED_HEADER LAST_ONLY cpp OUTPUT_VARIABLE source)
  set(source "${folder}/${source}")
  list(JOIN paths "|" joined_paths)
  list(JOIN names "|" joined_names)
  add_custom_command(
    OUTPUT "${source}"
    COMMAND "${CMAKE_COMMAND}" "-DOUTPUT=${source}" "-DHEADER=${EMBED_HEADER}" "-DNAMESPACE=${EMBED_NAMESPACE}"
            "-DFILES=${joined_paths}" "-DNAMES=${joined_names}" -P "${TESSERA_EMBED_FOLDER}/TesseraWriteEmbedded.cmake"
    DEPENDS ${paths} "${TESSERA_EMBED_FOLDER}/TesseraWriteEmbedded.cmake"
    COMMENT "Embedding the files of ${EMBED_HEADER}"
    VERBATIM)
  # The assembler reads the files, which a compiler's list of dependencies does not show.
  set_source_files_properties("${source}" PROPERTIES OBJECT_DEPENDS "${paths}")
  target_sources(${target} PRIVATE "${source}")
  target_include_directories(${target} PRIVATE "${folder}")
endfunction()
