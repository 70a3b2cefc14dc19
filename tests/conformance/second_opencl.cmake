# The OpenCL tests on a second driver: Intel's runtime for CPUs, where scripts/setup.sh --with-intel-opencl has put it.
# The entries above run on the drivers that the system names, which is PoCL in CI; these name theirs.
if(NOT "opencl" IN_LIST TESSERA_TEST_BACKENDS)
  return()
endif()
if(NOT EXISTS "${TESSERA_INTEL_VENDORS}/intel.icd")
  message(STATUS "The OpenCL tests run on the system's drivers alone: ${TESSERA_INTEL_VENDORS}/intel.icd is not there")
  return()
endif()

# Without conv2d's marches of every length and type, which are two thirds of its time.
set(left_out_on_second "*/slow.*${opencl_left_out}")
set(left_out_on_second_conv2d "*/slow.*:*.uint8_*:*.int16_*:*rows_per_run_8_*:*rows_per_run_32_*:*rows_per_run_128_*")
tessera_add_test_entry(conformance.opencl_intel.times ALONE
  COMMAND tessera_conformance_test --backend=opencl --gtest_filter=${api_times}
  LABELS conformance backend:opencl second_driver
  ENVIRONMENT "OCL_ICD_VENDORS=${TESSERA_INTEL_VENDORS}" "TESSERA_REQUIRE=opencl"
  TIMEOUT 300)
tessera_add_test_entry(conformance.opencl_intel.api
  COMMAND tessera_conformance_test --backend=opencl --gtest_filter=api/*:FloorTest.*:DeviceTest.*-${api_untimed}
  LABELS conformance backend:opencl second_driver
  ENVIRONMENT "OCL_ICD_VENDORS=${TESSERA_INTEL_VENDORS}" "TESSERA_REQUIRE=opencl" ${share_of_round_trips}
  TIMEOUT 300)
foreach(operator IN LISTS TESSERA_OPERATORS)
  set(without "${left_out_on_second}")
  if(operator STREQUAL "conv2d")
    set(without "${left_out_on_second_conv2d}")
  endif()
  tessera_add_test_entry(conformance.opencl_intel.${operator} ONE_OF 11
    COMMAND tessera_conformance_test --backend=opencl --gtest_filter=${operator}/*-${without}
    LABELS conformance backend:opencl second_driver op:${operator}
    ENVIRONMENT "OCL_ICD_VENDORS=${TESSERA_INTEL_VENDORS}" "TESSERA_REQUIRE=opencl"
    TIMEOUT 600)
endforeach()

# Devices of both drivers in one process: copies between them.
file(GLOB system_icds /etc/OpenCL/vendors/*.icd)
set(both_vendors "${CMAKE_CURRENT_BINARY_DIR}/both_vendors")
file(REMOVE_RECURSE "${both_vendors}")
foreach(icd IN LISTS system_icds)
  file(COPY "${icd}" DESTINATION "${both_vendors}")
endforeach()
file(COPY "${TESSERA_INTEL_VENDORS}/intel.icd" DESTINATION "${both_vendors}")
tessera_add_test_entry(conformance.opencl_both
  COMMAND tessera_conformance_test --backend=opencl
    --gtest_filter=api/*copies_from_every_other_device*:api/RoundTripTest.*:api/OwnKernelTest.*
  LABELS conformance backend:opencl second_driver
  ENVIRONMENT "OCL_ICD_VENDORS=${both_vendors}" "TESSERA_REQUIRE=opencl" ${share_of_round_trips} ${TESSERA_TEST_NOT_OPTIMISED}
  TIMEOUT 300)
