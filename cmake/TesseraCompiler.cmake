# Warnings, sanitizers and ccache: one interface target, tessera_compiler, that every target of ours links.
include_guard(GLOBAL)

add_library(tessera_compiler INTERFACE)
target_compile_options(tessera_compiler INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wconversion -Wno-sign-conversion
  $<$<BOOL:${TESSERA_WERROR}>:-Werror>)
# g++ 12 warns of overlapping copies inside std::string's own operator+ (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(tessera_compiler INTERFACE -Wno-restrict)
endif()

# Under a sanitizer's instrumentation g++ takes std::optional's empty payload for a use of it.
if(TESSERA_SANITIZER AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(tessera_compiler INTERFACE -Wno-maybe-uninitialized)
endif()

if(TESSERA_SANITIZER STREQUAL "address")
  target_compile_options(tessera_compiler INTERFACE -fsanitize=address,undefined -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  target_link_options(tessera_compiler INTERFACE -fsanitize=address,undefined)
elseif(TESSERA_SANITIZER STREQUAL "thread")
  target_compile_options(tessera_compiler INTERFACE -fsanitize=thread -fno-omit-frame-pointer)
  target_link_options(tessera_compiler INTERFACE -fsanitize=thread)
elseif(TESSERA_SANITIZER)
  message(FATAL_ERROR "TESSERA_SANITIZER is '${TESSERA_SANITIZER}', but must be address, thread or empty")
endif()

# UBSan's questions at every access are asked of what is tested; in tests and oracles they take a third of the compiler's
# time. What else it asks, and all of AddressSanitizer's, is asked there too.
set(TESSERA_UNASKED_OF_TESTS "")
if(TESSERA_SANITIZER STREQUAL "address")
  set(TESSERA_UNASKED_OF_TESTS -fno-sanitize=alignment,null,object-size,pointer-overflow,vptr)
endif()

find_program(TESSERA_CCACHE ccache)
if(TESSERA_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # What ccache needs to keep an object that was compiled with a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros "${TESSERA_CCACHE}")
endif()
