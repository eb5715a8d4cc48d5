# SPDX-License-Identifier: Apache-2.0
# Turns the output of --help into a man page. The parts of the output: "usage:" lines; paragraphs; indented blocks,
# which are kept as they are; options, each with a description in a column of its own; headings; "Exit status: …".
# Variables: name, title (one line), version, commands (of the program).

function escaped(text) {
  gsub(/\\/, "\\e", text)
  gsub(/-/, "\\-", text)
  gsub(/'/, "\\(aq", text)
  gsub(/`/, "\\(ga", text)
  gsub(/…/, "...", text)
  if (text ~ /^[.]/) text = "\\&" text
  return text
}

function trimmed(text) {
  sub(/^ +/, "", text)
  sub(/ +$/, "", text)
  return text
}

function heading(text) {
  close_block()
  print ".SH " toupper(text)
  section = text
}

function open_block() {
  if (!in_block) print ".PP\n.nf"
  in_block = 1
}

function close_block() {
  if (in_block) print ".fi"
  in_block = 0
}

# The column of the descriptions: that of the description of --help, which is never too long for one line.
function description_column(    i, at) {
  for (i = 1; i <= count; ++i)
    if ((at = index(line[i], "show this help")) && line[i] ~ /^  -h/) return at
  return 0
}

function option(text,    term) {
  close_block()
  term = trimmed(substr(text, 1, column - 1))
  print ".TP\n\\fB" escaped(term) "\\fR"
  print escaped(trimmed(substr(text, column)))
}

function body(text) {
  if (text ~ /^Exit status: /) {
    heading("Exit status")
    sub(/^Exit status: /, "", text)
    print escaped(text)
  } else if (text ~ /^(Options|Examples):$/) {
    sub(/:$/, "", text)
    heading(text)
  } else if (text == "") {
    close_block()
    if (section != "Options") print ".PP"
  } else if (column && text ~ /^  -/) {
    option(text)
  } else if (section == "Options" && column && text ~ /^      /) {
    print escaped(trimmed(text))
  } else if (text ~ /^ /) {
    open_block()
    print escaped(substr(text, 3))
  } else {
    close_block()
    print escaped(text)
  }
}

function see_also(    i, names, size, separator) {
  heading("See also")
  size = split(commands, names, " ")
  if (name == "warplens")
    for (i = 1; i <= size; ++i) separator = separator (i > 1 ? ",\n" : "") ".BR warplens\\-" names[i] " (1)"
  else
    separator = ".BR warplens (1)"
  gsub(/,\n/, ",\n", separator)
  gsub(/\(1\),/, "(1),", separator)
  print separator
}

{ line[++count] = $0 }

END {
  column = description_column()
  print ".\\\" Written from the output of --help."
  print ".TH " toupper(escaped(name)) " 1 \"\" \"" version "\" \"User Commands\""
  print ".SH NAME\n" escaped(name) " \\- " escaped(title)
  heading("Synopsis")
  open_block()
  for (i = 1; i <= count && line[i] != ""; ++i) {
    text = line[i]
    sub(/^usage: |^       /, "", text)
    print escaped(text)
  }
  heading("Description")
  for (++i; i <= count; ++i) body(line[i])
  see_also()
}
