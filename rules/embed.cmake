# SPDX-License-Identifier: Apache-2.0
# Writes OUTPUT, a C++ file that contains the text of every file in FILES: see embedded_rules() in embedded.hpp.
set(text "#include \"rules/embedded.hpp\"\n\nnamespace warplens::rules {\n\n")
string(APPEND text "namespace {\nconstexpr EmbeddedRule kRules[] = {\n")
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME)
  file(READ ${file} content)
  string(APPEND text "{\"${name}\", R\"rule(${content})rule\"},\n")
endforeach()
string(APPEND text "};\n} // namespace\n\n")
string(APPEND text "std::span<const EmbeddedRule> embedded_rules() { return kRules; }\n\n")
string(APPEND text "} // namespace warplens::rules\n")
file(WRITE ${OUTPUT} "${text}")
