# SPDX-License-Identifier: Apache-2.0
# Writes OUTPUT, a C++ file that contains the text of every file in FILES, with its name relative to ROOT: see
# embedded_texts() in embedded.hpp.
set(text "#include \"tools/embedded.hpp\"\n\nnamespace warplens::tools {\n\n")
string(APPEND text "namespace {\nconstexpr EmbeddedText kTexts[] = {\n")
foreach(file IN LISTS FILES)
  file(RELATIVE_PATH name ${ROOT} ${file})
  file(READ ${file} content)
  string(APPEND text "{\"${name}\", R\"embedded(${content})embedded\"},\n")
endforeach()
string(APPEND text "};\n} // namespace\n\n")
string(APPEND text "std::span<const EmbeddedText> embedded_texts() { return kTexts; }\n\n")
string(APPEND text "} // namespace warplens::tools\n")
file(WRITE ${OUTPUT} "${text}")
