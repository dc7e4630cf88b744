#compdef PROGRAM
# Completion of PROGRAM for zsh. Put this into ~/.zshrc, after compinit:
#
#   source <(PROGRAM completion zsh)
#
# or write it to a file called _PROGRAM in a folder of $fpath.

_PROGRAM() {
    local -a lines values shown ending
    local line value help mode
    integer width=0

    lines=("${(@f)$(command PROGRAM __complete --shell zsh -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
    mode=$lines[1]

    if [[ $mode == command ]]; then
        words=("${(@)words[lines[2]+2,-1]}")
        (( CURRENT -= lines[2] + 1 ))
        _normal
        return
    fi
    # What stands before the value, such as --color=, stays as it is.
    [[ -n $lines[2] ]] && compset -P "${(b)lines[2]}"

    for line in "${(@)lines[3,-1]}"; do
        value=${line%%$'\t'*}
        (( $#value > width )) && width=$#value
    done
    for line in "${(@)lines[3,-1]}"; do
        value=${line%%$'\t'*}
        help=
        [[ $line == *$'\t'* ]] && help=${line#*$'\t'}
        if [[ $value == *= ]]; then
            ending+=("$value")
        else
            values+=("$value")
            shown+=("${(r:width:)value}${help:+  -- $help}")
        fi
    done

    local found=1
    (( $#values )) && compadd -V PROGRAM -l -d shown -a values && found=0
    (( $#ending )) && compadd -V PROGRAM -S '' -a ending && found=0
    case $mode in
        files) _files && found=0 ;;
        dirs) _files -/ && found=0 ;;
    esac
    return found
}

if [[ ${funcstack[1]} == _PROGRAM ]]; then
    _PROGRAM "$@"
elif (( $+functions[compdef] )); then
    compdef _PROGRAM PROGRAM
fi
