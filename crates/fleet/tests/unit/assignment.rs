use super::*;
use crate::inventory::FORMAT;

pub(crate) fn inventory(host: &str, serials: &[&str]) -> HostInventory {
    let drive = |serial: &&str| InventoryDrive {
        serial: Serial::parse(serial).unwrap(),
        model: "M951 128".to_owned(),
        firmware: if serial.ends_with('2') { "B" } else { "A" }.to_owned(),
        capacity_bytes: 1 << 37,
        spec: format!("/dev/{serial}"),
        transport: "nvme".to_owned(),
        simulated: false,
        slot: None,
        link: None,
        interface_bytes_per_s: None,
        wear: None,
        numa_node: None,
        lot: None,
    };
    HostInventory {
        format: FORMAT,
        host: HostName::parse(host).unwrap(),
        boot_id: None,
        rack: None,
        taken: "2027-02-01T00:00:00Z".to_owned(),
        drives: serials.iter().map(drive).collect(),
        unusable: Vec::new(),
    }
}

fn plan(drives: &str, list: &'static str) -> Plan {
    let text = format!(
        "name = \"x\"\nsuites = [{{ suite = \"quick\" }}]\n[drives]\n{drives}\n[store]\nat = \
         \"/s\"\n"
    );
    Plan::parse("plan.toml", &text, &|_| Ok(list.to_owned())).unwrap()
}

#[test]
fn serials_are_looked_up_and_the_rest_is_left_out() {
    let plan =
        plan("serials = \"l\"\nmodel = \"M951\"\ngroups = \"firmware\"", "A1\nA2\nB1\nC1\nTWO\n");
    let mut other = inventory("h2", &["B1", "TWO", "STRANGER"]);
    other.drives[0].model = "X".to_owned();
    let inventories = [inventory("h1", &["A1", "A2", "TWO"]), other];
    let assignment = assign(&plan, &plan.id().unwrap(), &inventories);
    let h1 = HostName::parse("h1").unwrap();
    let mut groups: Vec<_> = assignment.hosts[&h1]
        .iter()
        .map(|d| (d.drive.serial.as_str(), d.group.as_deref()))
        .collect();
    groups.sort();
    assert_eq!(groups, [("A1", Some("A")), ("A2", Some("B"))]);
    assert_eq!((assignment.hosts.len(), assignment.drives()), (1, 2));
    let left: Vec<_> =
        assignment.left_out.iter().map(|l| (l.serial.as_str(), l.why.code())).collect();
    assert_eq!(left, [("B1", "other_model"), ("C1", "not_found"), ("TWO", "on_several_hosts")]);
    let one = assignment.hosts[&h1][0].estimate.span.0;
    assert_eq!(assignment.span(&h1, Share::Alone).0, 2 * one);
    assert_eq!(assignment.span(&h1, Share::Together).0, one);
}

#[test]
fn without_a_list_all_drives_of_the_model() {
    let plan = plan("model = \"M951\"", "");
    let mut inventories = [inventory("h1", &["A1", "A2"])];
    inventories[0].drives[1].model = "X".to_owned();
    let assignment = assign(&plan, &plan.id().unwrap(), &inventories);
    assert_eq!((assignment.drives(), assignment.left_out.len()), (1, 0));
}

#[test]
fn order_is_random_repeatable_and_balanced() {
    let plan = plan("model = \"M951\"", "");
    let serials: Vec<String> = (0..16).map(|n| format!("S{n:02}")).collect();
    let serials: Vec<&str> = serials.iter().map(String::as_str).collect();
    let mut inventories = [inventory("h1", &serials)];
    for (index, drive) in inventories[0].drives.iter_mut().enumerate() {
        drive.lot = Some(if index < 8 { "1" } else { "2" }.to_owned());
    }
    let order = |hash: &str| -> Vec<String> {
        let id = PlanId::parse(&format!("x-{hash}")).unwrap();
        let assignment = assign(&plan, &id, &inventories);
        let all = assignment.hosts.into_values().flatten();
        all.map(|d| format!("{}{}", d.drive.lot.unwrap_or_default(), d.drive.serial)).collect()
    };
    let first = order("0123456789ab");
    assert_eq!(first, order("0123456789ab"));
    assert_ne!(first, order("0123456789ac"));
    // Lots alternate: each half has as many of one as of the other.
    let of_lot_1 = first[..8].iter().filter(|name| name.starts_with('1')).count();
    assert_eq!(of_lot_1, 4);
}

#[test]
fn a_drive_that_could_be_written_beyond_the_limit_is_left_out() {
    let text = |limit: &str| {
        format!(
            "name = \"x\"\nsuites = [{{ suite = \"consistency\" }}]\n[drives]\nserials = \
             \"l\"\nendurance_tb = 75\n[run]\ndestroy = true\n{limit}\n[store]\nat = \"/s\"\n"
        )
    };
    let plan = |limit: &str| {
        Plan::parse("plan.toml", &text(limit), &|_| Ok("A1\nB1\n".to_owned())).unwrap()
    };
    let mut host = inventory("h", &["A1", "B1"]);
    host.drives[0].interface_bytes_per_s = Some(3_900_000_000);
    let code = |plan: &Plan| {
        let id = plan.id().unwrap();
        let assignment = assign(plan, &id, std::slice::from_ref(&host));
        let selected = crate::task::selection::selected(plan, &host.drives, None);
        assert_eq!(selected.len(), assignment.drives());
        let left_out = assignment.left_out.iter();
        let codes: Vec<&str> = left_out.map(|left| left.why.code()).collect();
        codes.join(" ")
    };
    assert_eq!(code(&plan("")), "");
    assert_eq!(code(&plan("endurance_limit_pct = 99")), "no_write_bound");
    assert_eq!(code(&plan("endurance_limit_pct = 0.1")), "over_endurance_limit no_write_bound");
    // The limit does not determine results.
    assert_eq!(plan("").id().unwrap(), plan("endurance_limit_pct = 1").id().unwrap());
}
