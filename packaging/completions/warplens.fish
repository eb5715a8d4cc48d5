# SPDX-License-Identifier: Apache-2.0
# Completion of warplens for fish: commands and options from --help, names from `warplens list`.

# The program on the command line, so that one that is not in PATH answers for itself.
function __warplens_program
    set -l words (commandline -opc)
    string replace -r '^~' $HOME -- $words[1]
end

# The command on the command line, or nothing.
function __warplens_command
    set -l words (commandline -opc)
    set -e words[1]
    while test (count $words) -gt 1; and test $words[1] = --limit
        set -e words[1..2]
    end
    if test (count $words) -gt 0
        echo $words[1]
    end
end

function __warplens_commands
    set -l program (__warplens_program)
    $program --help 2>/dev/null | sed -n '/^Exit status/q; s/^  \([a-z][a-z]*\) .*/\1/p'
end

function __warplens_options
    set -l program (__warplens_program)
    set -l command (__warplens_command)
    if test -n "$command"
        $program $command --help 2>/dev/null | grep -oE '^  (-h \[ )?--[a-z0-9-]+' | grep -oE -- '--[a-z0-9-]+'
    else
        printf '%s\n' --limit --help --version
    end
end

# The names that the word before the cursor takes: for an option, those of `warplens list`; for list, its topics.
function __warplens_names
    set -l program (__warplens_program)
    switch (commandline -opc)[-1]
        case --device
            $program list devices 2>/dev/null | sed -n '1d; s/^  \([^ ]*\) .*/\1/p'
        case --rule
            $program list rules 2>/dev/null | sed -n '1d; s/^  \([^ ]*\) .*/\1/p'
        case --analyzers
            $program list analyzers 2>/dev/null | sed -n 's/^\([a-z_0-9]*\): .*/\1/p'
            echo all
        case --model
            $program list models 2>/dev/null | sed -n 's/^  \([a-z0-9-]*\): .*/\1/p'
        case list
            $program list --help 2>/dev/null | sed -n '1s/^usage: warplens list //p' | tr '|' '\n'
    end
end

complete -c warplens -n 'test -z (__warplens_command)""' -f -a '(__warplens_commands)'
complete -c warplens -n 'string match -q -- "-*" (commandline -ct)' -f -a '(__warplens_options)'
complete -c warplens -n 'contains -- (commandline -opc)[-1] --device --rule --analyzers --model list' -a '(__warplens_names)'
