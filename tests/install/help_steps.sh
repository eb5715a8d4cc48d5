# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Steps of install_test.sh, which sets the variables: man pages and completions.
: "${moved:?}" "${bin:?}"

step_man() {
  local command page commands
  commands=$("$moved/$bin/warplens" --help | sed -n '/^Exit status/q; s/^  \([a-z]*\) .*/\1/p')
  [[ $(wc -w <<<"$commands") -ge 12 ]] || fail "warplens --help lists only: $commands"
  for command in '' $commands; do
    page=$moved/share/man/man1/warplens${command:+-$command}.1
    [[ -f $page ]] || fail "$page is missing"
    expect "^\.SH SYNOPSIS" cat "$page"
    if command -v groff >/dev/null; then
      [[ -z $(groff -man -K utf8 -Tutf8 -ww "$page" 2>&1 >/dev/null) ]] || fail "groff warns about $page"
    fi
  done
  expect '^\\fB\\-\\-device NAME\|FILE\\fR$' cat "$moved/share/man/man1/warplens-run.1"
  expect '^\.SH EXIT STATUS' cat "$moved/share/man/man1/warplens-run.1"
  # A program with another form of help has no pages, rather than empty ones.
  refuse 'lists no commands' "$WARPLENS_SOURCE/packaging/man_pages.sh" true "$WARPLENS_TEST_FOLDER/no_pages"
  refuse 'usage' "$WARPLENS_SOURCE/packaging/man_pages.sh"
}

# completed SHELL WANTED WORD…: among the completions of the last word is WANTED.
completed() {
  local shell=$1 wanted=$2
  shift 2
  local all
  all=$("complete_in_$shell" "$moved/$bin/warplens" "$@")
  grep -qxF -- "$wanted" <<<"$all" || fail "$shell: '$wanted' does not complete '$*': $(sed -n 1,5p <<<"$all")"
}

complete_in_bash() {
  bash -c 'source "$1" && shift && COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) && _warplens
    printf "%s\n" "${COMPREPLY[@]}"' \
    - "$moved/share/bash-completion/completions/warplens" "$@"
}

# The line editor is not needed: compadd prints what it would offer, if it begins with the last word.
complete_in_zsh() {
  zsh -f -c 'compadd() { print -l -- ${(M)${(P)2}:#${words[CURRENT]##*,}*} }; compset() { :; }; _files() { :; }
    file=$1; shift; words=("$@"); CURRENT=$#words; source $file' - "$moved/share/zsh/site-functions/_warplens" "$@"
}

complete_in_fish() {
  local line
  line=${*:2}
  PATH=$moved/$bin:$PATH HOME=$WARPLENS_TEST_FOLDER fish --no-config -c 'source $argv[1]; complete -C $argv[2]' \
    "$moved/share/fish/vendor_completions.d/warplens.fish" "warplens $line"
}

completions_of() {
  local shell=$1
  command -v "$shell" >/dev/null || { echo "skipped: no $shell"; exit 77; }
  completed "$shell" sweep sw
  completed "$shell" --device run --dev
  completed "$shell" --help run --h
  completed "$shell" h200 run samples --device h
  completed "$shell" 1.2 run --rule 1.
  completed "$shell" roofline predict --model ro
  completed "$shell" devices list dev
  completed "$shell" check --limit file_bytes=1 ch
  completed "$shell" --version --v
  [[ -z $("complete_in_$shell" "$moved/$bin/warplens" nosuch --devi) ]] || fail "$shell: nosuch has completions"
}

step_bash() { completions_of bash; }
step_zsh() { completions_of zsh; }
step_fish() { completions_of fish; }
