# CUDA at build time: finding nvcc and the headers, and compiling one .cu file to one embedded image. CMake's CUDA
# language is not used: host code is ordinary C++ and nothing of the toolkit is linked.
include_guard(GLOBAL)

# tessera_find_cuda(<reason>): looks for nvcc, cuda.h and nvrtc.h. Sets in the caller the variable named by `reason` to
# "" or to the sentence that says what is missing, and TESSERA_CUDA_NVCC, TESSERA_CUDA_INCLUDE, TESSERA_CUDA_VERSION and
# TESSERA_CUDA_GENCODE (nvcc's options for TESSERA_CUDA_ARCHITECTURES). With the architectures "none", nvcc is not needed:
# the images hold nothing, and only a driver that stands in for a card takes them (tests/fault/cuda).
function(tessera_find_cuda reason)
  find_package(CUDAToolkit QUIET)
  set(roots ${CUDAToolkit_BIN_DIR}/.. $ENV{CUDA_PATH} $ENV{CUDA_HOME} /usr/local/cuda)
  find_program(TESSERA_CUDA_NVCC nvcc HINTS ${CUDAToolkit_NVCC_EXECUTABLE} ${roots} PATH_SUFFIXES bin)
  find_path(TESSERA_CUDA_INCLUDE NAMES cuda.h HINTS ${CUDAToolkit_INCLUDE_DIRS} ${roots} PATH_SUFFIXES include)
  mark_as_advanced(TESSERA_CUDA_NVCC TESSERA_CUDA_INCLUDE)
  set(${reason} "" PARENT_SCOPE)
  if(NOT TESSERA_CUDA_NVCC AND NOT TESSERA_CUDA_ARCHITECTURES STREQUAL "none")
    set(${reason} "nvcc is not found on the PATH, in $CUDA_PATH or in /usr/local/cuda" PARENT_SCOPE)
    return()
  endif()
  if(NOT EXISTS "${TESSERA_CUDA_INCLUDE}/cuda.h" OR NOT EXISTS "${TESSERA_CUDA_INCLUDE}/nvrtc.h")
    set(${reason} "cuda.h and nvrtc.h are not there beside nvcc, in $CUDA_PATH or in /usr/local/cuda" PARENT_SCOPE)
    return()
  endif()
  if(TESSERA_CUDA_ARCHITECTURES STREQUAL "none")
    return()
  endif()

  execute_process(COMMAND "${TESSERA_CUDA_NVCC}" --version OUTPUT_VARIABLE text ERROR_QUIET RESULT_VARIABLE failed)
  string(REGEX MATCH "release ([0-9]+\\.[0-9]+)" found "${text}")
  set(version "${CMAKE_MATCH_1}")
  if(failed OR NOT found)
    set(${reason} "${TESSERA_CUDA_NVCC} --version does not answer with a release" PARENT_SCOPE)
    return()
  endif()
  if(version VERSION_LESS 12.0)
    set(${reason} "nvcc is of CUDA ${version}, but C++20 needs at least 12.0" PARENT_SCOPE)
    return()
  endif()

  execute_process(COMMAND "${TESSERA_CUDA_NVCC}" --list-gpu-arch OUTPUT_VARIABLE known ERROR_QUIET)
  string(REGEX MATCHALL "[0-9]+" known "${known}")
  set(gencode "")
  foreach(architecture IN LISTS TESSERA_CUDA_ARCHITECTURES)
    if(NOT architecture MATCHES "^(ptx)?(([0-9]+)[af]?)$")
      message(FATAL_ERROR "TESSERA_CUDA_ARCHITECTURES holds '${architecture}', but each must be like 80, 90a or ptx90")
    endif()
    set(name "${CMAKE_MATCH_2}")
    set(kind "sm")
    if(CMAKE_MATCH_1)
      set(kind "compute")
    endif()
    if(NOT CMAKE_MATCH_3 IN_LIST known)
      string(REPLACE ";" ", " known "${known}")
      set(${reason} "nvcc of CUDA ${version} knows ${known}, but TESSERA_CUDA_ARCHITECTURES holds ${architecture}"
          PARENT_SCOPE)
      return()
    endif()
    list(APPEND gencode "--generate-code=arch=compute_${name},code=${kind}_${name}")
  endforeach()
  if(NOT gencode)
    set(${reason} "TESSERA_CUDA_ARCHITECTURES is empty" PARENT_SCOPE)
    return()
  endif()
  tessera_try_nvcc("${gencode}" said)
  if(said)
    set(${reason} "nvcc of CUDA ${version} does not compile here: ${said}" PARENT_SCOPE)
    return()
  endif()
  set(TESSERA_CUDA_VERSION "${version}" PARENT_SCOPE)
  set(TESSERA_CUDA_GENCODE "${gencode}" PARENT_SCOPE)
endfunction()

# tessera_try_nvcc(<gencode> <said>): sets in the caller the variable named by `said` to "" if nvcc compiles an empty
# kernel, or to its words: an nvcc that is older than the machine's g++ refuses it. Asked once for each command line.
function(tessera_try_nvcc gencode said)
  list(GET gencode 0 one)
  set(command "${TESSERA_CUDA_NVCC}" --fatbin -std=c++20 ${TESSERA_NVCC_FLAGS} "${one}")
  if(NOT "${TESSERA_CUDA_TRIED}" STREQUAL "${command}")
    set(folder "${CMAKE_BINARY_DIR}/CMakeFiles/TesseraCuda")
    file(WRITE "${folder}/try.cu" "#include <cstdint>\nextern \"C\" __global__ void nothing(std::int64_t) {}\n")
    execute_process(COMMAND ${command} -o "${folder}/try.fatbin" "${folder}/try.cu"
      RESULT_VARIABLE failed OUTPUT_VARIABLE words ERROR_VARIABLE words)
    if(failed)
      string(REGEX REPLACE "[ \n]+" " " words "${words}")
      string(SUBSTRING "${words}" 0 300 words)
      set(${said} "${words}" PARENT_SCOPE)
      return()
    endif()
    set(TESSERA_CUDA_TRIED "${command}" CACHE INTERNAL "nvcc's command line that was seen to work")
  endif()
  set(${said} "" PARENT_SCOPE)
endfunction()

# tessera_cuda_kernel(<target> FILE <path.cu> NAME <name> [SHAPE <type>_<m>x<n>]): compiles the file for every listed
# architecture into one image, build/.../<name>.fatbin, which tessera_cuda_embed() makes known as embedded::<name>. With a
# shape the image's name is <name>_<shape>, and the file is told TESSERA_TYPE, TESSERA_TILE_M and TESSERA_TILE_N:
# float32_64x128 are tiles of 64 rows and 128 columns.
function(tessera_cuda_kernel target)
  cmake_parse_arguments(PARSE_ARGV 1 KERNEL "" "FILE;NAME;SHAPE" "")
  set(definitions "")
  if(DEFINED KERNEL_SHAPE)
    if(NOT KERNEL_SHAPE MATCHES "^([a-z]+[0-9]+)_([0-9]+)x([0-9]+)$")
      message(FATAL_ERROR "the shape of ${KERNEL_FILE} is '${KERNEL_SHAPE}', but must be like float32_64x128")
    endif()
    set(definitions -DTESSERA_TYPE=${CMAKE_MATCH_1} -DTESSERA_TILE_M=${CMAKE_MATCH_2} -DTESSERA_TILE_N=${CMAKE_MATCH_3})
    string(APPEND KERNEL_NAME "_${KERNEL_SHAPE}")
  endif()
  cmake_path(ABSOLUTE_PATH KERNEL_FILE NORMALIZE)
  set(image "${CMAKE_CURRENT_BINARY_DIR}/images/${KERNEL_NAME}.fatbin")
  set_property(TARGET ${target} APPEND PROPERTY TESSERA_CUDA_IMAGES "${image}")
  file(MAKE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/images")
  if(TESSERA_CUDA_ARCHITECTURES STREQUAL "none")
    file(GENERATE OUTPUT "${image}" CONTENT "no image: TESSERA_CUDA_ARCHITECTURES is none\n")
    return()
  endif()
  set(strict "")
  if(TESSERA_WERROR)
    set(strict --Werror all-warnings)
  endif()
  cmake_path(RELATIVE_PATH KERNEL_FILE BASE_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE shown)
  if(DEFINED KERNEL_SHAPE)
    string(APPEND shown " as ${KERNEL_SHAPE}")
  endif()
  # Lines for profilers and compute-sanitizer, but not in what is shipped: they carry this machine's paths.
  # TESSERA_NVCC_FLAGS is for experiments: -DTESSERA_NVCC_FLAGS="-Xptxas;-v" prints registers and spills.
  set(line_info "")
  if(CMAKE_BUILD_TYPE MATCHES "^(Debug|RelWithDebInfo)$")
    set(line_info -lineinfo)
  endif()
  # Optimising takes two thirds of nvcc's time. Without it ptxas tells where it lets wgmma wait, which says nothing of what
  # is shipped.
  set(optimised -O3)
  if(NOT TESSERA_CUDA_OPTIMISED)
    set(optimised -Xcicc -O1 -Xptxas -O0)
  endif()
  set(language -std=c++20 ${strict} ${definitions} "-I${CMAKE_CURRENT_SOURCE_DIR}" "-I${PROJECT_SOURCE_DIR}/backends"
    "-I${PROJECT_SOURCE_DIR}/api" "-I${PROJECT_SOURCE_DIR}/api/include" "-I${PROJECT_BINARY_DIR}/api/include")
  set(checks "")
  # Not -G, which writes debug information as well.
  foreach(architecture IN LISTS TESSERA_CUDA_CHECKED)
    list(APPEND checks COMMAND "${TESSERA_CUDA_NVCC}" -ptx -Xcicc -O0 "-arch=compute_${architecture}" ${language}
      -o "${image}.${architecture}.ptx" "${KERNEL_FILE}"
      COMMAND "${CMAKE_COMMAND}" -E rm "${image}.${architecture}.ptx")
  endforeach()
  add_custom_command(
    OUTPUT "${image}"
    ${checks}
    COMMAND "${TESSERA_CUDA_NVCC}" --fatbin -Xfatbin=-compress-all ${optimised} ${line_info} ${TESSERA_CUDA_GENCODE}
            ${TESSERA_NVCC_FLAGS} ${language} -MD -MF "${image}.d" -MT "${image}" -o "${image}" "${KERNEL_FILE}"
    DEPENDS "${KERNEL_FILE}"
    DEPFILE "${image}.d"
    COMMENT "Compiling ${shown} for ${TESSERA_CUDA_ARCHITECTURES}"
    VERBATIM)
endfunction()

# tessera_cuda_embed(<target>): embeds every image of the target, and writes cuda_embedded.h, which declares them. To be
# called behind the last tessera_cuda_kernel().
function(tessera_cuda_embed target)
  get_target_property(images ${target} TESSERA_CUDA_IMAGES)
  tessera_embed_files(${target} HEADER cuda_embedded.h NAMESPACE tessera::cuda::embedded FILES ${images})
endfunction()
