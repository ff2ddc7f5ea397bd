/// The scripts that shells read. They ask `latchkey __complete` for everything.
enum CompletionScript {
    /// The words are read anew from the line, because bash splits them at : and =
    /// and wants only what stands behind the last of these.
    static let bash = #"""
        # Completes latchkey in bash. Written by: latchkey completion bash
        _latchkey() {
            local line=${COMP_LINE:0:COMP_POINT} words candidate current prefix quote=
            local last=${COMP_WORDS[COMP_CWORD]:-}
            case $last in
                # Up to its end a quoted word is one, and is not split; the quote stays where it is.
                \'*|\"*) quote=${last:0:1}; line=${line%"$last"} ;;
            esac
            # Without -r a backslash takes the meaning from the blank behind it.
            IFS=$' \t' read -a words <<< "$line"
            if [[ -n $quote ]]; then
                words+=("${last:1}")
            else
                [[ $line == *[!\\][[:blank:]] ]] && words+=("")
            fi
            current=${words[-1]}
            prefix=${current%"${current##*[:=]}"}
            COMPREPLY=()
            while IFS= read -r candidate; do
                case $quote in
                    # What would end the quote, or means something within it, is left to the person.
                    \') [[ $candidate != *\'* ]] && COMPREPLY+=("$candidate") ;;
                    \") [[ $candidate != *[\"\$\`\\!]* ]] && COMPREPLY+=("$candidate") ;;
                    *) COMPREPLY+=("$(printf %q "${candidate#"$prefix"}")") ;;
                esac
            done < <(latchkey __complete -- "${words[@]:1}" 2>/dev/null)
        }
        complete -o default -F _latchkey latchkey

        """#

    static let zsh = #"""
        #compdef latchkey
        # Completes latchkey in zsh. Written by: latchkey completion zsh
        _latchkey() {
            local -a found
            found=("${(@f)$(latchkey __complete -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
            found=(${found:#})
            if (( $#found )); then compadd -a found; else _files; fi
        }
        if [[ $funcstack[1] == _latchkey ]]; then _latchkey "$@"; else compdef _latchkey latchkey; fi

        """#

    static let fish = #"""
        # Completes latchkey in fish. Written by: latchkey completion fish
        function __latchkey_candidates
            set -l before (commandline -opc)
            # Within an opened quote, or behind a backslash, the word is not what is typed.
            set -l current (commandline -ct | string replace -r '^[\'"]' '' | string unescape)
            latchkey __complete -- $before[2..] "$current" 2>/dev/null
        end
        # Files where nothing else fits, as in the other shells.
        complete -c latchkey -n 'count (__latchkey_candidates) >/dev/null' -f
        complete -c latchkey -a '(__latchkey_candidates)'

        """#
}
