
_assay_keys() {
    case $1 in
        @KEYS@
    esac
}

_assay_drives() {
    local folder name size
    echo @SIMULATED@ null:
    for folder in /sys/block/*; do
        name=${folder##*/}
        name=/dev/${name//\!/\/}
        if [[ -b $name ]] && read -r size <"$folder/size" && [[ $size != 0 ]]; then
            echo "$name"
        fi
    done
}
