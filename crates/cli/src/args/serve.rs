//! Arguments of `assay serve`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay serve sim:samsung-951 --nbd unix:/tmp/drive.sock
  assay serve sim:intel-600p,state=fresh,ps=1 --nbd tcp:127.0.0.1:10809
  assay serve sim:samsung-951 --nbd unix:/tmp/drive.sock --fault latency-spike@1000=50ms --fault \
                        media-error@1g+64k
  fio --name=x --ioengine=nbd --uri='nbd+unix:///?socket=/tmp/drive.sock' --rw=randread \
                        --iodepth=32 --size=1g
  qemu-img info 'nbd+unix:///?socket=/tmp/drive.sock'
  assay serve sim:samsung-951 --vfio-user /tmp/nvme.sock              NVMe drive of a virtual \
                        machine
  assay serve sim:samsung-951 --nvme-tcp tcp:127.0.0.1:4420           NVMe drive of any Linux \
                        host: prints its `nvme connect` command

The drive keeps written data until the command ends (Ctrl-C, status 0). Memory: 8 bytes per 4 KiB \
                        of its flash, and the data
written to it. See docs/plug-a-simulated-drive-into-linux.md.")]
pub struct ServeArguments {
    /// The simulated drive: sim:PROFILE[,key=value...]
    pub drive: String,
    /// Export it over NBD at unix:PATH or tcp:HOST:PORT
    #[arg(long, value_name = "ADDRESS", required_unless_present_any = ["vfio_user", "nvme_tcp"])]
    pub nbd: Option<String>,
    /// Export it over NVMe/TCP at tcp:HOST:PORT, port 4420 by default: an NVMe drive for
    /// `nvme connect` of any Linux host
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["nbd", "vfio_user"])]
    pub nvme_tcp: Option<String>,
    /// Name of the NVMe subsystem, by default one made of the drive's serial number
    #[arg(long, value_name = "NQN")]
    pub nqn: Option<String>,
    /// Export it as the NVMe drive of a virtual machine, at this socket (QEMU 10.1 or later:
    /// -device vfio-user-pci)
    #[arg(long, value_name = "PATH", conflicts_with_all = ["nbd", "allow_remote"])]
    pub vfio_user: Option<PathBuf>,
    /// real: replies are paced by the wall clock at the model's completion times; free: as soon as
    /// possible
    #[arg(long, default_value = "real", value_parser = ["real", "free"])]
    pub pace: String,
    /// Fault to inject, as in sim:PROFILE,fault=...; repeatable
    #[arg(long, value_name = "FAULT")]
    pub fault: Vec<String>,
    /// Allow an address that other machines can reach; there is no authentication
    #[arg(long)]
    pub allow_remote: bool,
}
