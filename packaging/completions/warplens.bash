# SPDX-License-Identifier: Apache-2.0
# Completion of warplens for bash: commands and options from --help, names from `warplens list`.

_warplens_commands() { "$1" --help 2>/dev/null | sed -n '/^Exit status/q; s/^  \([a-z][a-z]*\) .*/\1/p'; }

# The options of a command; without a command, those of warplens.
_warplens_options() {
  if [[ -n $2 ]]; then
    "$1" "$2" --help 2>/dev/null | grep -oE '^  (-h \[ )?--[a-z0-9-]+' | grep -oE -- '--[a-z0-9-]+'
  else
    printf '%s\n' --limit --help --version
  fi
}

# The names of `warplens list TOPIC`.
_warplens_names() {
  case $2 in
    devices | rules) "$1" list "$2" 2>/dev/null | sed -n '1d; s/^  \([^ ]*\) .*/\1/p' ;;
    analyzers) "$1" list analyzers 2>/dev/null | sed -n 's/^\([a-z_0-9]*\): .*/\1/p' && echo all ;;
    models) "$1" list models 2>/dev/null | sed -n 's/^  \([a-z0-9-]*\): .*/\1/p' ;;
    topics) "$1" list --help 2>/dev/null | sed -n '1s/^usage: warplens list //p' | tr '|' '\n' ;;
  esac
}

# The topic whose names an option takes, or nothing.
_warplens_topic() {
  case $1 in
    --device) echo devices ;;
    --rule) echo rules ;;
    --analyzers) echo analyzers ;;
    --model) echo models ;;
  esac
}

# _warplens_offer WORD CANDIDATES: those that begin with the last part of WORD, which may be a list with commas.
_warplens_offer() {
  local word=$1 before=''
  if [[ $word == *,* ]]; then before=${word%,*}, word=${word##*,}; fi
  mapfile -t COMPREPLY < <(compgen -P "$before" -W "$2" -- "$word")
}

_warplens() {
  local program=${COMP_WORDS[0]/#\~/$HOME} word=${COMP_WORDS[COMP_CWORD]} last=${COMP_WORDS[COMP_CWORD - 1]}
  local first=1 command='' topic
  while [[ ${COMP_WORDS[first]} == --limit ]]; do ((first += 2)); done
  if ((first < COMP_CWORD)); then command=${COMP_WORDS[first]}; fi
  COMPREPLY=()
  topic=$(_warplens_topic "$last")
  if [[ -n $command && -n $topic ]]; then
    _warplens_offer "$word" "$(_warplens_names "$program" "$topic")"
  elif [[ $word == -* ]]; then
    _warplens_offer "$word" "$(_warplens_options "$program" "$command")"
  elif [[ $command == list && $last == list ]]; then
    _warplens_offer "$word" "$(_warplens_names "$program" topics)"
  elif [[ -z $command ]]; then
    _warplens_offer "$word" "$(_warplens_commands "$program")"
  fi
  # No names: -o default completes files.
}

complete -o default -F _warplens warplens
