# The two lists that stand once: the operators (api/operators.txt) and the backends (backends/backends.txt). Sets
# TESSERA_OPERATORS, TESSERA_OPERATOR_TYPES, TESSERA_LISTED_BACKENDS and TESSERA_DEVICE_PREFIXES, each in the file's order.
include_guard(GLOBAL)

# tessera_read_list(<file> <first words> <second words>): the words that each line of the file begins with.
function(tessera_read_list file firsts seconds)
  set_property(DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  set(first_words "")
  set(second_words "")
  file(STRINGS "${file}" lines REGEX "^[^#]")
  foreach(line IN LISTS lines)
    if(NOT line MATCHES "^([a-z0-9_]+) +([A-Za-z0-9_]+)( |$)")
      message(FATAL_ERROR "${file} has the line '${line}', but a line begins with two words")
    endif()
    list(APPEND first_words "${CMAKE_MATCH_1}")
    list(APPEND second_words "${CMAKE_MATCH_2}")
  endforeach()
  set(${firsts} "${first_words}" PARENT_SCOPE)
  set(${seconds} "${second_words}" PARENT_SCOPE)
endfunction()

tessera_read_list("${PROJECT_SOURCE_DIR}/api/operators.txt" TESSERA_OPERATORS TESSERA_OPERATOR_TYPES)
tessera_read_list("${PROJECT_SOURCE_DIR}/backends/backends.txt" TESSERA_LISTED_BACKENDS TESSERA_DEVICE_PREFIXES)

# tessera_join_rows(<variable> <separator> <row> <stems> <names>): the row once for every pair of the two lists, with @1@
# and @2@ in it replaced by the two.
function(tessera_join_rows variable separator row stems names)
  set(rows "")
  foreach(stem name IN ZIP_LISTS ${stems} ${names})
    string(REPLACE "@1@" "${stem}" line "${row}")
    string(REPLACE "@2@" "${name}" line "${line}")
    if(NOT rows STREQUAL "")
      string(APPEND rows "${separator}")
    endif()
    string(APPEND rows "${line}")
  endforeach()
  set(${variable} "${rows}" PARENT_SCOPE)
endfunction()
