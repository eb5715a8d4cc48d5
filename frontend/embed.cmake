# SPDX-License-Identifier: Apache-2.0
# Writes OUTPUT, a C++ file that contains the PAGE with the SCRIPT, the STYLE and the LICENCES in it: see
# api/html/template.hpp. The content security policy of the page permits only this script and this style, by their
# SHA-256. INPUTS is what esbuild bundled (--metafile).

cmake_minimum_required(VERSION 3.25)
# base64_sha256(VARIABLE FILE)
function(base64_sha256 variable file)
  set(digits ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
  file(SHA256 ${file} hexadecimal)
  set(text "")
  foreach(begin RANGE 0 60 6) # 11 groups of 24 bits, the last one with 16
    string(SUBSTRING "${hexadecimal}00" ${begin} 6 group)
    foreach(shift 18 12 6 0)
      math(EXPR digit "(0x${group} >> ${shift}) & 63")
      string(SUBSTRING ${digits} ${digit} 1 letter)
      string(APPEND text ${letter})
    endforeach()
  endforeach()
  string(SUBSTRING ${text} 0 43 text)
  set(${variable} "${text}=" PARENT_SCOPE)
endfunction()

base64_sha256(SCRIPT_HASH ${SCRIPT})
base64_sha256(STYLE_HASH ${STYLE})
file(READ ${PAGE} page)
file(READ ${SCRIPT} script)
file(READ ${STYLE} style)
file(READ ${LICENCES} licences)
file(READ ${INPUTS} inputs)

# Each bundled module has its licence in the page. inputs: {"src/main.jsx": …, "/usr/share/nodejs/d3-scale/src/band.js"}
string(JSON inputs GET "${inputs}" inputs)
string(JSON count LENGTH "${inputs}")
math(EXPR last "${count} - 1")
foreach(i RANGE ${last})
  string(JSON input MEMBER "${inputs}" ${i})
  if(input MATCHES "(^|/)${MODULES_NAME}/([^/]+)/")
    set(module ${CMAKE_MATCH_2})
    if(NOT licences MATCHES "(^|[ \n])${module}[,:]")
      message(FATAL_ERROR "${LICENCES} lacks the licence of ${module}, which the page contains")
    endif()
  endif()
endforeach()

foreach(name SCRIPT_HASH STYLE_HASH VERSION)
  string(REPLACE "@${name}@" "${${name}}" page "${page}")
endforeach()
# The texts come last: they may contain what looks like a name.
string(FIND "${page}" "@DATA@" data)
string(SUBSTRING "${page}" 0 ${data} before)
math(EXPR data "${data} + 6")
string(SUBSTRING "${page}" ${data} -1 after)
string(REPLACE "@STYLE@" "${style}" before "${before}")
string(REPLACE "@LICENCES@" "${licences}" before "${before}")
string(REPLACE "@SCRIPT@" "${script}" after "${after}")
foreach(text before after)
  if("${${text}}" MATCHES "\\)page\"")
    message(FATAL_ERROR "the page contains the end of a raw string")
  endif()
endforeach()
file(WRITE ${OUTPUT} "#include \"api/html/template.hpp\"

namespace warplens::api {

HtmlTemplate html_template() {
  return {R\"page(${before})page\", R\"page(${after})page\"};
}

} // namespace warplens::api
")
