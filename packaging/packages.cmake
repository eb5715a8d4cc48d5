# SPDX-License-Identifier: Apache-2.0
# Packages: `cpack -G DEB` in the build folder makes the Debian packages,
# `cpack --config CPackSourceConfig.cmake` makes the source archive. test_packages.sh installs and tests the packages.
set(CPACK_PACKAGE_NAME warplens)
set(CPACK_PACKAGE_VENDOR "Warplens developers")
set(CPACK_PACKAGE_CONTACT "Warplens developers <warplens@example.org>")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR DEB)
# Folders are created with mode 755 whatever the umask is.
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

# ---- the source archive: everything but build folders, git's files and what editors and interpreters leave behind
set(CPACK_SOURCE_GENERATOR TXZ)
set(CPACK_SOURCE_PACKAGE_FILE_NAME warplens-${PROJECT_VERSION})
string(REGEX REPLACE "([][+.*()^$?|\\\\])" "\\\\\\1" root "${PROJECT_SOURCE_DIR}")
set(CPACK_SOURCE_IGNORE_FILES
  "^${root}/build[^/]*/" "^${root}/_CPack_Packages/" "^${root}/\\.git$" "^${root}/\\.git/" "^${root}/.*/__pycache__/"
  "^${root}/.*~$" "^${root}/.*\\.swp$" "^${root}/\\.cache/" "^${root}/compile_commands\\.json$"
  "^${root}/[^/]*\\.(deb|tar\\.xz)$")

# ---- Debian packages: components are grouped into packages of these names
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL program runtime data pages library development
  debian-warplens debian-libwarplens0 debian-libwarplens-dev) # not licence: see debian/texts.sh
if(WARPLENS_COMPILER)
  list(APPEND CPACK_COMPONENTS_ALL compiler debian-warplens-compiler)
endif()
if(WARPLENS_BUILDS_PYTHON)
  list(APPEND CPACK_COMPONENTS_ALL python debian-python3-warplens)
endif()
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# libcudart.so.* need libcuda.so.1 of the same folder, and no package may promise NVIDIA's.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib/cuda)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(debian_version ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})

# warplens_debian_package(NAME SECTION VARIABLE COMPONENT…): VARIABLE is NAME as CPack writes it in variables. Sets
# the variables of the package, and installs its copyright, changelog and overrides of lintian. The first line of
# debian/NAME.description is the synopsis; CPACK_PACKAGE_DESCRIPTION_SUMMARY would replace it in all packages.
macro(warplens_debian_package name section variable)
  foreach(component ${ARGN} debian-${name})
    string(TOUPPER ${component} upper)
    set(CPACK_COMPONENT_${upper}_GROUP ${name})
  endforeach()
  set(CPACK_DEBIAN_${variable}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${variable}_PACKAGE_SECTION ${section})
  file(READ ${PROJECT_SOURCE_DIR}/packaging/debian/${name}.description text)
  string(STRIP "${text}" CPACK_DEBIAN_${variable}_DESCRIPTION)
  set(made ${PROJECT_BINARY_DIR}/packaging/debian/${name})
  foreach(file copyright changelog.Debian.gz)
    install(FILES ${PROJECT_BINARY_DIR}/packaging/debian/${file} DESTINATION share/doc/${name}
      COMPONENT debian-${name} EXCLUDE_FROM_ALL)
  endforeach()
  # One list for all packages; lintian reads one file for each.
  file(STRINGS ${PROJECT_SOURCE_DIR}/packaging/lintian-overrides lines REGEX "^${name}: ")
  list(JOIN lines "\n" text)
  file(WRITE ${made}/${name} "${text}\n")
  install(FILES ${made}/${name} DESTINATION share/lintian/overrides COMPONENT debian-${name} EXCLUDE_FROM_ALL)
endmacro()

warplens_debian_package(warplens devel WARPLENS program runtime data pages)
warplens_debian_package(libwarplens0 libs LIBWARPLENS0 library)
warplens_debian_package(libwarplens-dev libdevel LIBWARPLENS-DEV development)
if(WARPLENS_COMPILER)
  warplens_debian_package(warplens-compiler devel WARPLENS-COMPILER compiler)
  # What it exchanges with the program or the library is of the same build.
  set(CPACK_DEBIAN_WARPLENS-COMPILER_PACKAGE_DEPENDS "warplens (= ${debian_version}) | libwarplens0 (= ${debian_version})")
  set(CPACK_DEBIAN_WARPLENS_PACKAGE_RECOMMENDS "warplens-compiler (= ${debian_version})")
  set(CPACK_DEBIAN_LIBWARPLENS0_PACKAGE_RECOMMENDS "warplens-compiler (= ${debian_version})")
endif()
if(WARPLENS_BUILDS_PYTHON)
  warplens_debian_package(python3-warplens python PYTHON3-WARPLENS python)
  math(EXPR next "${Python_VERSION_MINOR} + 1")
  set(CPACK_DEBIAN_PYTHON3-WARPLENS_PACKAGE_DEPENDS "warplens (= ${debian_version}), python3-numpy, python3 (>= 3.${Python_VERSION_MINOR}~), python3 (<< 3.${next})")
  set(CPACK_DEBIAN_PYTHON3-WARPLENS_PACKAGE_SUGGESTS "python3-pandas, jupyter-notebook, python3-matplotlib")
  set(CPACK_DEBIAN_PYTHON3-WARPLENS_PACKAGE_CONTROL_EXTRA
    ${PROJECT_SOURCE_DIR}/packaging/debian/python3-warplens/postinst
    ${PROJECT_SOURCE_DIR}/packaging/debian/python3-warplens/prerm)
endif()
set(CPACK_DEBIAN_WARPLENS_PACKAGE_SUGGESTS "gnuplot-nox, libwarplens-dev (= ${debian_version})")
set(CPACK_DEBIAN_LIBWARPLENS-DEV_PACKAGE_DEPENDS "libwarplens0 (= ${debian_version})")
set(CPACK_DEBIAN_LIBWARPLENS-DEV_PACKAGE_SUGGESTS "warplens (= ${debian_version})")
# What programs that link the library depend on, by symbol, and the trigger that updates the linker's cache.
set(CPACK_DEBIAN_LIBWARPLENS0_PACKAGE_CONTROL_EXTRA
  ${PROJECT_SOURCE_DIR}/packaging/debian/symbols ${PROJECT_SOURCE_DIR}/packaging/debian/shlibs
  ${PROJECT_SOURCE_DIR}/packaging/debian/triggers)

# copyright and changelog, from LICENSE, frontend/licences.txt and CHANGELOG.md
execute_process(
  COMMAND ${PROJECT_SOURCE_DIR}/packaging/debian/texts.sh ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/packaging/debian
          ${debian_version} ${CPACK_PACKAGE_CONTACT}
  COMMAND_ERROR_IS_FATAL ANY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS LICENSE CHANGELOG.md frontend/licences.txt
  packaging/lintian-overrides packaging/debian/texts.sh packaging/debian/warplens.description packaging/debian/warplens-compiler.description
  packaging/debian/libwarplens0.description
  packaging/debian/libwarplens-dev.description
  packaging/debian/python3-warplens.description)
include(CPack)
