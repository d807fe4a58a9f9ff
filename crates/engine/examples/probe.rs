use std::sync::atomic::AtomicBool;
use assay_engine::{options::JobOptions, plan::*, run::*};
use assay_measure::{HostLoad, Interval};
use assay_target::{Telemetry, open::OpenDrive, identity, Nanos};
struct O; impl Observer for O { fn interval(&mut self,_:usize,_:&Interval){} fn telemetry(&mut self,_:usize,_:Nanos,_:Telemetry){} fn host(&mut self,_:u32,_:HostLoad){} }
fn main(){
  let a: Vec<String> = std::env::args().collect();
  let depth: u32 = a[2].parse().unwrap(); let jobs: u32 = a[3].parse().unwrap();
  let null = a[1]=="null"; 
  let (mut bed, facts) = if null {(Bed::Null, DriveFacts{name:"null:".into(),capacity_bytes:16<<30,min_io_bytes:512,kind:FactsKind::Null})}
  else { let info = identity::identify(std::path::Path::new(&a[1])).unwrap(); let open=OpenDrive::open(&info,true,None).unwrap(); let f=DriveFacts{name:a[1].clone(),capacity_bytes:info.capacity_bytes,min_io_bytes:info.min_io_bytes,kind:FactsKind::File}; (Bed::Real{open,info:Box::new(info)},f)};
  let o = JobOptions{rw:Some("randread".into()),bs:Some("4k".into()),iodepth:Some(depth),numjobs:Some(jobs),runtime:Some("3s".into()),engine:a.get(4).cloned(),..Default::default()};
  let w = Workload::plan(&o,&facts).unwrap();
  let mut parts=[Part{drive:0,workload:&w,bed:&mut bed}];
  let out = run_together(&mut parts,&AtomicBool::new(false),&mut O).unwrap();
  let s = out.parts[0].totals.summary(assay_units::Op::Read);
  println!("{:.0} iops {:.1} ns/io  p50 {} p99 {} errors {} host {:?} iops/cpu {:.0}", s.iops, 1e9/s.iops*jobs as f64, s.latency_ns.p50, s.latency_ns.p99, s.errors, out.host, s.iops/(out.host.cpu_user_pct+out.host.cpu_system_pct)*100.0);
}
