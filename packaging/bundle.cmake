# SPDX-License-Identifier: Apache-2.0
# The bundle: libwarplens.so as one file that contains its third-party libraries. It has the objects of the ordinary
# library; only what they are linked with differs.
option(WARPLENS_BUNDLE "also build the bundle, libwarplens.so with its third-party libraries inside" OFF)

# The tests build it, too, but not with sanitizers, which need the shared C++ library.
set(WARPLENS_BUILDS_BUNDLE OFF)
if(WARPLENS_BUNDLE OR (WARPLENS_TESTS AND NOT CMAKE_CXX_FLAGS MATCHES fsanitize))
  set(WARPLENS_BUILDS_BUNDLE ON)
endif()

# warplens_dependency(NAME SHARED BUNDLED): the library warplens_NAME stands for SHARED. In the bundle, whose property
# WARPLENS_BUNDLED is set, it stands for BUNDLED.
function(warplens_dependency name shared bundled)
  add_library(warplens_${name} INTERFACE)
  target_link_libraries(warplens_${name} INTERFACE
    $<IF:$<BOOL:$<TARGET_PROPERTY:WARPLENS_BUNDLED>>,${bundled},${shared}>)
endfunction()
