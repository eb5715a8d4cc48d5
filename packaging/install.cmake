# SPDX-License-Identifier: Apache-2.0
# Where files are installed. Each folder installs its own targets with these variables; this file installs the rest:
# data, pages, man pages, completions, and what CMake and pkg-config need to find the library.
# Components: program, runtime, compiler, data, pages, licence, library, development, bundle. See packages.cmake for the packages.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(WARPLENS_INSTALL_CUDA ${CMAKE_INSTALL_LIBDIR}/warplens/cuda)
set(WARPLENS_INSTALL_COMPILER ${CMAKE_INSTALL_LIBDIR}/warplens)
set(WARPLENS_INSTALL_BUNDLE ${CMAKE_INSTALL_LIBDIR}/warplens/bundle)
set(WARPLENS_INSTALL_DATA ${CMAKE_INSTALL_DATADIR}/warplens)
set(WARPLENS_INSTALL_CONFIG ${CMAKE_INSTALL_LIBDIR}/cmake/Warplens)
set(WARPLENS_INSTALL_PKGCONFIG ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# Sets `out` to the path from one installed folder to another, so that the prefix can be moved. An absolute folder
# cannot be moved and stays as it is.
function(warplens_installed_path out from to)
  if(IS_ABSOLUTE "${from}" OR IS_ABSOLUTE "${to}")
    cmake_path(ABSOLUTE_PATH to BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX} NORMALIZE OUTPUT_VARIABLE path)
  else()
    file(RELATIVE_PATH path "/${from}" "/${to}")
    string(REGEX REPLACE "/$" "" path "${path}")
  endif()
  set(${out} "${path}" PARENT_SCOPE)
endfunction()

# Called by the top CMakeLists.txt when all targets exist.
function(warplens_install_data)
  install(FILES ${PROJECT_SOURCE_DIR}/api/warplens.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
  file(GLOB rules CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/rules/*.toml)
  install(FILES ${rules} DESTINATION ${WARPLENS_INSTALL_DATA}/rules COMPONENT data)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/model/devices DESTINATION ${WARPLENS_INSTALL_DATA} COMPONENT data
    FILES_MATCHING PATTERN "*.toml")
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/tools/submit DESTINATION ${WARPLENS_INSTALL_DATA} COMPONENT data
    USE_SOURCE_PERMISSIONS)
  # The scripts of samples/ make their files; users need only the files.
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/samples DESTINATION ${WARPLENS_INSTALL_DATA} COMPONENT data
    PATTERN compile EXCLUDE PATTERN "*.py" EXCLUDE PATTERN __pycache__ EXCLUDE)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT pages)
  install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CONTRIBUTING.md
    ${PROJECT_SOURCE_DIR}/SECURITY.md ${PROJECT_SOURCE_DIR}/CITATION.cff
    DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT pages)
  # Debian packages have their own forms of these, see packages.cmake.
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/CHANGELOG.md
    DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT licence)
  install(FILES ${PROJECT_SOURCE_DIR}/frontend/licences.txt RENAME LICENSES-OF-HTML-REPORTS.txt
    DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT licence)
endfunction()

# Man pages are written from the output of --help; completions ask the program for commands, options and names.
function(warplens_install_help)
  set(completions ${PROJECT_SOURCE_DIR}/packaging/completions)
  install(FILES ${completions}/warplens.bash RENAME warplens
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT program)
  install(FILES ${completions}/_warplens DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT program)
  install(FILES ${completions}/warplens.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)
  if(CMAKE_CROSSCOMPILING)
    message(STATUS "cross-compiling: the man pages, which require running warplens, are left out")
    return()
  endif()
  set(pages ${PROJECT_BINARY_DIR}/man)
  set(scripts ${PROJECT_SOURCE_DIR}/packaging/man_pages.sh ${PROJECT_SOURCE_DIR}/packaging/man_page.awk)
  add_custom_command(OUTPUT ${pages}/warplens.1
    COMMAND ${PROJECT_SOURCE_DIR}/packaging/man_pages.sh $<TARGET_FILE:warplens> ${pages}
    DEPENDS warplens ${scripts}
    COMMENT "Writing man pages" VERBATIM)
  add_custom_target(warplens_man ALL DEPENDS ${pages}/warplens.1)
  install(DIRECTORY ${pages}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program FILES_MATCHING PATTERN "*.1")
endfunction()

# find_package(Warplens) and pkg-config.
function(warplens_install_config)
  set(made ${PROJECT_BINARY_DIR}/packaging)
  configure_package_config_file(${PROJECT_SOURCE_DIR}/packaging/WarplensConfig.cmake.in ${made}/WarplensConfig.cmake
    INSTALL_DESTINATION ${WARPLENS_INSTALL_CONFIG}
    PATH_VARS WARPLENS_INSTALL_CUDA CMAKE_INSTALL_BINDIR)
  # Before version 1, a minor version may change the interface.
  write_basic_package_version_file(${made}/WarplensConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${made}/WarplensConfig.cmake ${made}/WarplensConfigVersion.cmake
    DESTINATION ${WARPLENS_INSTALL_CONFIG} COMPONENT development)
  install(EXPORT WarplensTargets NAMESPACE Warplens:: DESTINATION ${WARPLENS_INSTALL_CONFIG} COMPONENT development)

  warplens_installed_path(prefix ${WARPLENS_INSTALL_PKGCONFIG} .)
  if(NOT IS_ABSOLUTE "${prefix}")
    string(PREPEND prefix "\${pcfiledir}/")
  endif()
  foreach(folder LIBDIR INCLUDEDIR)
    set(${folder} "\${prefix}/${CMAKE_INSTALL_${folder}}")
    if(IS_ABSOLUTE "${CMAKE_INSTALL_${folder}}")
      set(${folder} "${CMAKE_INSTALL_${folder}}")
    endif()
  endforeach()
  configure_file(${PROJECT_SOURCE_DIR}/packaging/warplens.pc.in ${made}/warplens.pc @ONLY)
  install(FILES ${made}/warplens.pc DESTINATION ${WARPLENS_INSTALL_PKGCONFIG} COMPONENT development)
endfunction()
