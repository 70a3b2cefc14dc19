# Install rules of the library and its headers, the package config, pkg-config and the .deb. Plug-ins (component: their
# name) and the program (component: tools) install themselves. Here: library, development; and tests, on request alone.
include_guard(GLOBAL)
include(CMakePackageConfigHelpers)

set(TESSERA_PACKAGE_TEMPLATES "${CMAKE_CURRENT_LIST_DIR}/package")
set(TESSERA_INSTALL_CMAKEDIR "${CMAKE_INSTALL_LIBDIR}/cmake/tessera")
set(TESSERA_INSTALL_SEAMDIR "${CMAKE_INSTALL_INCLUDEDIR}/tessera_seam")

# The library, its headers and the seam.
install(TARGETS tessera tessera_seam EXPORT tessera_targets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT library NAMELINK_COMPONENT development
  INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/api/include/tessera" "${PROJECT_BINARY_DIR}/api/include/tessera"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development FILES_MATCHING PATTERN "*.h")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/api/backend"
  DESTINATION "${TESSERA_INSTALL_SEAMDIR}" COMPONENT development FILES_MATCHING PATTERN "*.h" PATTERN example EXCLUDE)
if(IS_DIRECTORY "${PROJECT_SOURCE_DIR}/api/backend/example")
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/api/backend/example/"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/tessera/minimal_backend" COMPONENT development)
endif()

# find_package(tessera CONFIG): targets tessera::tessera and tessera::seam.
install(EXPORT tessera_targets NAMESPACE tessera:: FILE tesseraTargets.cmake
  DESTINATION "${TESSERA_INSTALL_CMAKEDIR}" COMPONENT development)
configure_package_config_file("${TESSERA_PACKAGE_TEMPLATES}/tesseraConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/package/tesseraConfig.cmake"
  INSTALL_DESTINATION "${TESSERA_INSTALL_CMAKEDIR}" NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor version may change the API, so only the same minor version is compatible.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/tesseraConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/package/tesseraConfig.cmake"
  "${PROJECT_BINARY_DIR}/package/tesseraConfigVersion.cmake"
  DESTINATION "${TESSERA_INSTALL_CMAKEDIR}" COMPONENT development)

# pkg-config: the prefix is found from where the .pc file lies, so that the folder can be moved.
cmake_path(SET tessera_pc_dir NORMALIZE "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig")
file(RELATIVE_PATH TESSERA_PC_PREFIX "${tessera_pc_dir}" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" TESSERA_PC_PREFIX "${TESSERA_PC_PREFIX}")
file(RELATIVE_PATH TESSERA_PC_LIBDIR "${CMAKE_INSTALL_PREFIX}" "${CMAKE_INSTALL_FULL_LIBDIR}")
file(RELATIVE_PATH TESSERA_PC_INCLUDEDIR "${CMAKE_INSTALL_PREFIX}" "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
configure_file("${TESSERA_PACKAGE_TEMPLATES}/tessera.pc.in" "${PROJECT_BINARY_DIR}/package/tessera.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/package/tessera.pc"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT development)

# What scripts/stage.sh takes to machines that cannot build; it finds the library beside itself.
file(RELATIVE_PATH tessera_bin_to_lib "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}")
foreach(target tessera_conformance_test tessera_misuse_test tessera_misuse_probe tessera_overhead)
  if(TARGET ${target})
    set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/${tessera_bin_to_lib}")
    install(TARGETS ${target} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT tests EXCLUDE_FROM_ALL)
  endif()
endforeach()
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/CHANGELOG.md"
  DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT library)

# The tool with every plug-in that it loads: what scripts/compare.sh builds.
get_property(tessera_backends GLOBAL PROPERTY TESSERA_BACKENDS)
if(TARGET tessera_tool)
  add_custom_target(tessera_program DEPENDS tessera_tool)
  foreach(backend IN LISTS tessera_backends)
    add_dependencies(tessera_program tessera_${backend})
  endforeach()
endif()

if(PROJECT_IS_TOP_LEVEL)
  include(TesseraDeb)
endif()
