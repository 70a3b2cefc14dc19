# cmake -P: writes a kernel's file with what it includes, one text that a driver compiles. OpenCL's drivers compile strings
# and know no folder, so `#include "..."` is resolved when Tessera is built.
#
#   cmake -DFILE=<path> -DROOT=<folder> -DOUTPUT=<path> [-DDEPFILE=<path>] -P TesseraResolveIncludes.cmake
#
# Names in `#include "..."` are relative to ROOT, whatever file they stand in. Each file is brought in once, where it is
# named first; one that is named first between #if and #endif must not be named again, which is refused. `#line` before and behind each file
# lets the compiler's messages name the file and line that were written. DEPFILE lists what was read, for make and Ninja.
cmake_minimum_required(VERSION 3.25)
foreach(needed FILE ROOT OUTPUT)
  if(NOT DEFINED ${needed})
    message(FATAL_ERROR "TesseraResolveIncludes.cmake needs -D${needed}=...")
  endif()
endforeach()

set(seen "")         # files that were brought in
set(conditional "")  # those of them that stand between #if and #endif

# The number of the line that begins behind `text`, if `text` begins at `line`.
function(count_lines text line result)
  string(REGEX REPLACE "[^\n]+" "" newlines "${text}")
  string(LENGTH "${newlines}" count)
  math(EXPR count "${line} + ${count}")
  set(${result} ${count} PARENT_SCOPE)
endfunction()

# How many #if stand open behind `text`, if `depth` do in front of it.
function(count_conditions text depth result)
  string(REGEX MATCHALL "(^|\n)[ \t]*#[ \t]*if" opened "${text}")
  string(REGEX MATCHALL "(^|\n)[ \t]*#[ \t]*endif" closed "${text}")
  list(LENGTH opened opened)
  list(LENGTH closed closed)
  math(EXPR depth "${depth} + ${opened} - ${closed}")
  set(${result} ${depth} PARENT_SCOPE)
endfunction()

# Sets `resolved` in the caller to the text of ROOT/name with everything that it includes. `from` is who asks, for the
# sentence if it is not there; `depth` is how many #if stand open around it.
function(resolve name from depth resolved)
  if(NOT EXISTS "${ROOT}/${name}")
    message(FATAL_ERROR "${from} includes \"${name}\", but ${ROOT} holds no such file")
  endif()
  list(APPEND seen "${name}")
  if(depth GREATER 0)
    list(APPEND conditional "${name}")
  endif()
  set(result "#line 1 \"${name}\"\n")
  set(line 1)
  file(READ "${ROOT}/${name}" rest)
  while(rest MATCHES "(^|\n)([ \t]*#[ \t]*include[ \t]*\"([^\"\n]+)\"[ \t]*)\n")
    set(statement "${CMAKE_MATCH_1}${CMAKE_MATCH_2}\n")
    set(included "${CMAKE_MATCH_3}")
    string(FIND "${rest}" "${statement}" begin)
    string(SUBSTRING "${rest}" 0 ${begin} before)
    string(LENGTH "${statement}" length)
    math(EXPR begin "${begin} + ${length}")
    string(SUBSTRING "${rest}" ${begin} -1 rest)
    count_lines("${before}${statement}" ${line} line)
    count_conditions("${before}" ${depth} depth)
    string(APPEND result "${before}\n")
    if(NOT included IN_LIST seen)
      resolve("${included}" "${name}" ${depth} text)
      string(APPEND result "${text}")
    elseif(included IN_LIST conditional)
      message(FATAL_ERROR "${name} includes \"${included}\", which was brought in before, but between #if and #endif")
    endif()
    string(APPEND result "#line ${line} \"${name}\"\n")
  endwhile()
  if(rest MATCHES "(^|\n)[ \t]*#[ \t]*include")
    message(FATAL_ERROR "${name} has an #include that is not followed by one name in quotes and the line's end")
  endif()
  set(${resolved} "${result}${rest}" PARENT_SCOPE)
  set(seen "${seen}" PARENT_SCOPE)
  set(conditional "${conditional}" PARENT_SCOPE)
endfunction()

cmake_path(ABSOLUTE_PATH ROOT NORMALIZE)
cmake_path(ABSOLUTE_PATH FILE NORMALIZE OUTPUT_VARIABLE path)
cmake_path(RELATIVE_PATH path BASE_DIRECTORY "${ROOT}" OUTPUT_VARIABLE name)
resolve("${name}" "the build" 0 text)
file(WRITE "${OUTPUT}" "${text}")
if(DEFINED DEPFILE)
  list(TRANSFORM seen PREPEND "${ROOT}/")
  string(REPLACE " " "\\ " seen "${seen}")
  list(JOIN seen " \\\n  " read)
  string(REPLACE " " "\\ " target "${OUTPUT}")
  file(WRITE "${DEPFILE}" "${target}: ${read}\n")
endif()
