
_assay_drives_or_files() {
    setopt localoptions nullglob
    compadd -- $(_assay_drives)
    _files
}

_assay_keys_of_suite() {
    local word
    for word in $words; do
        compadd -S '' -- $(_assay_keys $word)
    done
}

