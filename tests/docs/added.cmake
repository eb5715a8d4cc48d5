# SPDX-License-Identifier: Apache-2.0
# Builds programs from this tree with exactly the edits that the pages under docs/extending/ describe. A block named
# added/PATH is added to PATH: in a header at the end of the namespace, in a list before the #undef lines, in other files
# at the end.
set(edited ${CMAKE_CURRENT_BINARY_DIR}/edited)
file(GLOB_RECURSE blocks RELATIVE ${examples}/added ${examples}/added/*)
foreach(path IN LISTS blocks)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${path})
  file(READ ${examples}/added/${path} block)
  file(READ ${PROJECT_SOURCE_DIR}/${path} text)
  string(FIND "${text}" "\n} // namespace" end REVERSE)
  if(end EQUAL -1)
    string(FIND "${text}" "\n\n#undef" end)
  endif()
  if(end EQUAL -1)
    string(APPEND text "${block}")
  else()
    string(SUBSTRING "${text}" ${end} -1 rest)
    string(SUBSTRING "${text}" 0 ${end} text)
    string(APPEND text "\n${block}${rest}")
  endif()
  set(old "")
  if(EXISTS ${edited}/${path})
    file(READ ${edited}/${path} old)
  endif()
  if(NOT old STREQUAL text)
    file(WRITE ${edited}/${path} "${text}")
  endif()
endforeach()

# Code that reads the table is compiled again, for the level that every processor has. The rest comes from the libraries;
# the linker takes no object from them whose functions are already defined.
get_property(compiled GLOBAL PROPERTY WARPLENS_COMPILED_LEVELS)
list(GET compiled -1 level)
get_property(groups GLOBAL PROPERTY WARPLENS_LANE_GROUPS)
list(TRANSFORM groups REPLACE "(.+)" "GROUP(fill_\\1)" OUTPUT_VARIABLE each_group)
list(JOIN each_group "" each_group)
set(exec ${PROJECT_SOURCE_DIR}/emulator/exec)
add_library(edited_table OBJECT ${PROJECT_SOURCE_DIR}/emulator/isa/table.cpp)
target_compile_options(edited_table PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fconstexpr-ops-limit=1000000000>
  $<$<CXX_COMPILER_ID:Clang>:-fconstexpr-steps=1000000000>)
add_library(edited_rows OBJECT ${exec}/lanes/lane_rows.cpp)
target_compile_options(edited_rows PRIVATE -fno-math-errno -fno-trapping-math -Wno-conversion)
target_compile_definitions(edited_rows PRIVATE WARPLENS_LEVEL=${level} WARPLENS_FILL=fill_common_lanes WARPLENS_SINGLE_LANE=1
  "WARPLENS_TABLE=\"emulator/isa/instructions/common_lanes.def\"")
add_library(edited_levels OBJECT ${exec}/decode/levels.cpp)
target_compile_definitions(edited_levels PRIVATE "WARPLENS_FOR_EACH_LEVEL=LEVEL(${level})"
  "WARPLENS_FOR_EACH_GROUP=${each_group}")
foreach(part table rows levels)
  target_include_directories(edited_${part} BEFORE PRIVATE ${edited})
  target_link_libraries(edited_${part} PRIVATE warplens_ir)
endforeach()
# The page's #include is passed on the command line.
set(analyzer ${examples}/analyzers/line_requests)
add_library(edited_analyzers OBJECT ${PROJECT_SOURCE_DIR}/analyzers/analyzers.cpp
  ${PROJECT_SOURCE_DIR}/analyzers/metrics.cpp ${analyzer}.cpp)
target_include_directories(edited_analyzers BEFORE PRIVATE ${edited} ${examples})
target_link_libraries(edited_analyzers PRIVATE warplens_analyzers)
set_source_files_properties(${PROJECT_SOURCE_DIR}/analyzers/analyzers.cpp PROPERTIES
  COMPILE_OPTIONS "-include;${analyzer}.hpp"
  OBJECT_DEPENDS "${edited}/analyzers/analyzers.def")
set_source_files_properties(${PROJECT_SOURCE_DIR}/analyzers/metrics.cpp ${analyzer}.cpp PROPERTIES
  OBJECT_DEPENDS "${edited}/analyzers/metrics.def")

set(model ${examples}/model/bandwidth)
add_library(edited_models OBJECT ${PROJECT_SOURCE_DIR}/model/models.cpp ${model}.cpp)
target_include_directories(edited_models BEFORE PRIVATE ${edited} ${examples})
target_link_libraries(edited_models PRIVATE warplens_model)
set_source_files_properties(${PROJECT_SOURCE_DIR}/model/models.cpp ${model}.cpp PROPERTIES
  OBJECT_DEPENDS "${edited}/model/models.def")

# Tests of the pages' analyzer, rules and model.
set(tests ${examples}/tests/analyzers/line_requests_test.cpp ${examples}/tests/analyzers/full_warp_test.cpp
  ${examples}/tests/model/bandwidth_test.cpp)
warplens_test(docs_analyzer_tests
  SOURCES analyzer_example_test.cpp ${tests} ${analyzer}.cpp ${PROJECT_SOURCE_DIR}/analyzers/metrics.cpp
    $<TARGET_OBJECTS:edited_models> $<TARGET_OBJECTS:edited_texts>
  LIBRARIES emulated warplens_api)
set_target_properties(docs_analyzer_tests PROPERTIES UNITY_BUILD OFF) # its files depend on generated headers
target_include_directories(docs_analyzer_tests BEFORE PRIVATE ${edited} ${examples})
set_source_files_properties(${tests} PROPERTIES
  OBJECT_DEPENDS "${edited}/analyzers/metrics.def;${edited}/model/models.def")

# The page's rules and device, as if their files were in the folders of the built-in ones.
file(GLOB rules CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/rules/*.toml)
foreach(rule coalescing_full-warp=full_warp banks_more-banks=more_banks)
  string(REGEX MATCH "(.+)=(.+)" pair ${rule})
  configure_file(${examples}/rules/${CMAKE_MATCH_2}.toml ${edited}/rules/${CMAKE_MATCH_1}.toml COPYONLY)
  list(APPEND rules ${edited}/rules/${CMAKE_MATCH_1}.toml)
endforeach()
warplens_embed_rules(${edited}/rules/embedded_rules.cpp ${rules})
file(GLOB devices CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/model/devices/*.toml)
warplens_embed_devices(${edited}/model/device_texts.cpp ${devices} ${examples}/devices/gtx260.toml)
add_library(edited_texts OBJECT ${edited}/rules/embedded_rules.cpp ${edited}/model/device_texts.cpp)
target_link_libraries(edited_texts PRIVATE warplens_model)

# The command line and the generator of docs/instructions.md, with the edited table.
add_executable(warplens_edited $<TARGET_OBJECTS:warplens> $<TARGET_OBJECTS:warplens_tools>
  $<TARGET_OBJECTS:edited_table> $<TARGET_OBJECTS:edited_rows> $<TARGET_OBJECTS:edited_levels> $<TARGET_OBJECTS:edited_analyzers>
  $<TARGET_OBJECTS:edited_models> $<TARGET_OBJECTS:edited_texts>)
target_link_libraries(warplens_edited PRIVATE warplens_code warplens_api_trace warplens_fatbin warplens_html Boost::program_options)
add_executable(write_edited_instructions $<TARGET_OBJECTS:write_instructions> $<TARGET_OBJECTS:edited_table>)
target_link_libraries(write_edited_instructions PRIVATE warplens_isa)
set_target_properties(warplens_edited write_edited_instructions
  PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
target_compile_definitions(docs_tests PRIVATE WARPLENS_PROGRAM="$<TARGET_FILE:warplens_edited>"
  WARPLENS_WRITE_INSTRUCTIONS="$<TARGET_FILE:write_edited_instructions>")
add_dependencies(docs_tests warplens_edited write_edited_instructions)
