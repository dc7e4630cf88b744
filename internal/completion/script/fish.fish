# Completion of PROGRAM for fish. Write this to
# ~/.config/fish/completions/PROGRAM.fish:
#
#   PROGRAM completion fish > ~/.config/fish/completions/PROGRAM.fish

function __PROGRAM_complete
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    set -l words $before
    set -e words[1]
    set -l lines (command PROGRAM __complete --shell fish -- $words "$current" 2>/dev/null)
    test (count $lines) -ge 2; or return

    set -l mode $lines[1]
    set -l prefix $lines[2]
    set -e lines[1..2]
    if test (count $lines) -gt 0
        printf '%s\n' $lines
    end
    switch $mode
        case files
            set -l typed (string sub -s (math (string length -- "$prefix") + 1) -- "$current")
            for path in (__fish_complete_path "$typed")
                printf '%s%s\n' "$prefix" $path
            end
        case dirs
            set -l typed (string sub -s (math (string length -- "$prefix") + 1) -- "$current")
            for path in (__fish_complete_directories "$typed" '')
                printf '%s%s\n' "$prefix" $path
            end
        case command
            set -l own
            for i in (seq $prefix)
                set -e words[1]
            end
            for word in $words
                set -a own (string escape -- $word)
            end
            complete -C (string join ' ' -- $own "$current")
    end
end

complete -c PROGRAM -e
complete -c PROGRAM -f -k -a '(__PROGRAM_complete)'
