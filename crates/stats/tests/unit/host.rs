use super::*;

#[test]
fn mean_of_loads() {
    assert_eq!(HostLoad::mean(&[]), None);
    let a = HostLoad { idle_pct: 90.0, user_pct: 10.0, ..HostLoad::default() };
    let b = HostLoad { idle_pct: 50.0, iowait_pct: 20.0, ..HostLoad::default() };
    let mean = HostLoad::mean(&[a, b]).unwrap();
    assert_eq!((mean.idle_pct, mean.iowait_pct, mean.user_pct), (70.0, 10.0, 5.0));
    assert_eq!(mean.busy_pct(), 20.0);
}
