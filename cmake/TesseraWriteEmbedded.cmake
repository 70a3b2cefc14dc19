# cmake -P: writes the source file that holds other files' bytes; tessera_embed_files() in TesseraEmbed.cmake calls it.
#
#   cmake -DOUTPUT=<path.cpp> -DHEADER=<name.h> -DNAMESPACE=<a::b> -DFILES=<paths> -DNAMES=<names> -P TesseraWriteEmbedded.cmake
#
# FILES and NAMES are lists of the same length, separated by '|'. The assembler reads the bytes, so the file may be as large
# as it likes; sizes are written as numbers, so that the views are constants and stand before any code runs.
cmake_minimum_required(VERSION 3.25)
string(REPLACE "|" ";" files "${FILES}")
string(REPLACE "|" ";" names "${NAMES}")
string(MAKE_C_IDENTIFIER "${NAMESPACE}" prefix)

set(bytes "")
set(views "")
foreach(file name IN ZIP_LISTS files names)
  file(SIZE "${file}" size)
  set(symbol "${prefix}_${name}")
  string(APPEND bytes "
__asm__(
    \".pushsection .rodata\\n\"
    \".balign 64\\n\"
    \".global ${symbol}\\n\"
    \".hidden ${symbol}\\n\"
    \"${symbol}:\\n\"
    \".incbin \\\"${file}\\\"\\n\"
    \".byte 0\\n\"
    \".popsection\\n\");
extern \"C\" __attribute__((visibility(\"hidden\"))) const char ${symbol}[];
")
  string(APPEND views "constinit const std::string_view ${name}{${symbol}, ${size}};\n")
endforeach()
file(WRITE "${OUTPUT}" "// Generated: the bytes of the files that ${HEADER} names.
#include \"${HEADER}\"
${bytes}
namespace ${NAMESPACE} {

${views}
}  // namespace ${NAMESPACE}
")
