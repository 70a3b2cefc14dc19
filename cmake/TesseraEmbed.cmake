# Embeds a file's bytes into a target, so that kernels stay real files and binaries need no data folder.
include_guard(GLOBAL)

# tessera_embed(<target> FILE <path> SYMBOL <name>)
#   Defines in the target `extern "C" const unsigned char <name>[]`, with a 0 behind the last byte, and
#   `extern "C" const unsigned long <name>_size`, without that 0. The file may be a build product.
function(tessera_embed target)
  cmake_parse_arguments(PARSE_ARGV 1 EMBED "" "FILE;SYMBOL" "")
  cmake_path(ABSOLUTE_PATH EMBED_FILE NORMALIZE)
  set(source "${CMAKE_CURRENT_BINARY_DIR}/embedded/${EMBED_SYMBOL}.cpp")
  set(text "// Generated: the bytes of ${EMBED_FILE}
__asm__(
    \".pushsection .rodata\\n\"
    \".balign 64\\n\"
    \".global ${EMBED_SYMBOL}\\n\"
    \".hidden ${EMBED_SYMBOL}\\n\"
    \"${EMBED_SYMBOL}:\\n\"
    \".incbin \\\"${EMBED_FILE}\\\"\\n\"
    \"${EMBED_SYMBOL}_end:\\n\"
    \".byte 0\\n\"
    \".balign 8\\n\"
    \".global ${EMBED_SYMBOL}_size\\n\"
    \".hidden ${EMBED_SYMBOL}_size\\n\"
    \"${EMBED_SYMBOL}_size:\\n\"
    \".quad ${EMBED_SYMBOL}_end - ${EMBED_SYMBOL}\\n\"
    \".popsection\\n\");
")
  file(CONFIGURE OUTPUT "${source}" CONTENT "${text}" @ONLY)
  set_source_files_properties("${source}" PROPERTIES OBJECT_DEPENDS "${EMBED_FILE}")
  target_sources(${target} PRIVATE "${source}")
endfunction()
