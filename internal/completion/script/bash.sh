# Completion of PROGRAM for bash 3.2 and later. Put this into ~/.bashrc:
#
#   source <(PROGRAM completion bash)

_PROGRAM() {
    local rest=$COMP_LINE piece gap value pre mode at=0
    local -a words lines starts
    local i n=0 pos
    COMPREPLY=()

    # Bash takes words apart at = and : too. What no blank separates is one word.
    for ((i = 0; i <= COMP_CWORD; i++)); do
        piece=${COMP_WORDS[i]}
        gap=${rest%%[![:space:]]*}
        rest=${rest#"$gap"}
        pos=$((${#COMP_LINE} - ${#rest}))
        rest=${rest#"$piece"}
        if ((i == COMP_CWORD)); then
            if ((COMP_POINT > pos)); then piece=${piece:0:COMP_POINT-pos}; else piece=; fi
        fi
        if ((n > 0)) && [[ -z $gap ]]; then
            words[n-1]=${words[n-1]}$piece
        else
            words[n]=$piece
            starts[n]=$i
            n=$((n + 1))
        fi
    done
    # What of the last word bash has cut off, and does not replace.
    case $piece in
        = | :) pre=${words[n-1]} ;;
        *) pre=${words[n-1]%"$piece"} ;;
    esac

    i=0
    while IFS= read -r value; do
        lines[i]=$value
        i=$((i + 1))
    done < <(command PROGRAM __complete --shell bash -- "${words[@]:1}" 2>/dev/null)
    mode=${lines[0]}

    for value in "${lines[@]:2}"; do
        COMPREPLY[${#COMPREPLY[@]}]=${value#"$pre"}
        [[ $value == *= ]] && compopt -o nospace 2>/dev/null
    done
    case $mode in
        words) compopt -o nosort 2>/dev/null ;;
        files | dirs)
            if ((${#COMPREPLY[@]} == 0)); then
                if [[ $mode == files ]]; then compopt -o default 2>/dev/null; else compopt -o dirnames 2>/dev/null; fi
                return
            fi
            compopt -o filenames 2>/dev/null
            while IFS= read -r value; do
                COMPREPLY[${#COMPREPLY[@]}]=$value
            done < <(compgen -A "${mode%s}" -- "$2" 2>/dev/null)
            ;;
        command)
            at=${starts[lines[1]+1]}
            if declare -F _comp_command_offset >/dev/null; then
                _comp_command_offset "$at"
            elif declare -F _command_offset >/dev/null; then
                _command_offset "$at"
            elif ((at == COMP_CWORD)); then
                while IFS= read -r value; do
                    COMPREPLY[${#COMPREPLY[@]}]=$value
                done < <(compgen -c -- "$2" 2>/dev/null)
            else
                compopt -o default 2>/dev/null
            fi
            ;;
    esac
}

complete -F _PROGRAM PROGRAM
