
_assay_with_values() {
    local line=${COMP_LINE:0:COMP_POINT} words word suite= current=
    read -ra words <<<"$line"
    [[ $line == *[[:space:]] ]] || current=${words[-1]}
    [[ $line == *[[:space:]] ]] || unset 'words[-1]'
    local before=${words[-1]}
    for word in "${words[@]:2}"; do
        [[ " @SUITES@ " == *" $word "* ]] && suite=$word && break
    done
    case ${words[1]} in
        run | job | probe | record | replay | verify | testbench | purge | prepare | serve) ;;
        *)
            _assay "$@"
            return
            ;;
    esac
    if [[ $before == --set ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_assay_keys "$suite")" -- "$current")
        compopt -o nospace 2>/dev/null
        return
    fi
    if [[ $current == -* || $before == -* || ${words[1]} == run && ${#words[@]} == 2 ]]; then
        _assay "$@"
        return
    fi
    mapfile -t COMPREPLY < <(compgen -W "$(_assay_drives)" -- "$current"; compgen -f -- "$current")
    if [[ $current == *:* && $COMP_WORDBREAKS == *:* ]]; then
        COMPREPLY=("${COMPREPLY[@]#"${current%"${current##*:}"}"}")
    fi
}
complete -F _assay_with_values -o bashdefault -o default assay
