
function __assay_keys
    for word in (commandline -opc)
        switch $word
            @KEYS@
        end
    end
end

function __assay_drives
    string split ' ' '@SIMULATED@ null:'
    for folder in /sys/block/*
        set -l name /dev/(string replace -a '!' / (path basename $folder))
        test -b $name; and test (cat $folder/size) != 0; and echo $name
    end
end

function __assay_without_suite
    set -l words (commandline -opc)
    test (count $words) = 2
end

complete -c assay -n "__fish_assay_using_subcommand run suites; and __assay_without_suite" -a '@SUITES@'
complete -c assay -n "__fish_assay_using_subcommand run; and not __assay_without_suite" -a '(__assay_drives)'
complete -c assay -n "__fish_assay_using_subcommand job probe check record replay verify testbench purge prepare serve" -a '(__assay_drives)'
complete -c assay -n "__fish_assay_using_subcommand run" -l set -x -a '(__assay_keys)'
