//! `assay fit`, `assay predict`, `assay fidelity`, and simulated drives from a user's file.

use crate::fixture::{Fixture, number};

/// The measured profile: the 951 with a slower controller, slower flash and a narrower data path.
fn hidden(fixture: &Fixture) {
    let text = include_str!("../../../../profiles/samsung-951.toml");
    let changed: Vec<String> = text
        .lines()
        .map(|line| {
            let key = line.split(' ').next().unwrap_or_default();
            let value = match key {
                "read_command_ns" => "15_000",
                "read_ns" => "[55_000, 68_000]",
                "direct_bytes_per_second" => "1_400_000_000",
                "name" => return "name = \"hidden\"".to_owned(),
                _ => return line.to_owned(),
            };
            // The first section with this key: [slc] has none in this profile.
            let (before, rest) = line.split_once("value = ").unwrap();
            let after = rest
                .find(", fitted")
                .or_else(|| rest.find(", assumed"))
                .or_else(|| rest.find(", published"))
                .unwrap();
            format!("{before}value = {value}{}", &rest[after..])
        })
        .collect();
    fixture.write("hidden.toml", changed.join("\n"));
}

const FREE: &str =
    "--free firmware.read_command_ns --free nand.read_ns --free data_path.direct_bytes_per_second";

#[test]
fn a_custom_profile_predicts_held_out_cells() {
    let fixture = Fixture::on_disk();
    hidden(&fixture);
    fixture.ok("run quick sim:./hidden.toml --scale 0.05 --out measured");
    let fitted = fixture.json(&format!(
        "fit samsung-951 --to measured --name my-twin --evaluations 200 {FREE} --hold-out bs=32k \
         --hold-out threads=64"
    ));
    let targets = &fitted["targets"];
    assert!(targets["median_error_pct"].as_f64().unwrap() < 3.0, "{fitted:#}");
    let held_out = &fitted["held_out"];
    assert!(held_out["figures"].as_u64().unwrap() >= 8, "{fitted:#}");
    // Of other block sizes too, none of which is given.
    let error = |name: &str| held_out[name].as_f64().unwrap();
    assert!(error("median_error_pct") < 4.0, "{fitted:#}");
    assert!(error("within_tolerance") >= error("figures") - 2.0, "{fitted:#}");
    // The contents sampling is no workload.
    assert!(!fitted["left_out"].as_array().unwrap().is_empty());
    assert!(fixture.text("my-twin.residuals.csv").lines().count() > 10);
    let fitted_profile = fixture.text("my-twin.toml");
    assert!(
        fitted_profile.contains("name = \"my-twin\"") && fitted_profile.contains("fitted = \"run ")
    );
    assert!(!fixture.path("my-twin.toml.fit-state").exists());

    // The fitted profile predicts the measured one outside of the fitted cells, except for the data
    // path, which none of the cells reaches.
    let iops = |drive: &str| {
        let done = fixture.json(&format!(
            "job sim:./{drive}.toml --rw randread --bs 8k --numjobs 12 --runtime 200ms \
             --ramp_time 50ms"
        ));
        assert_eq!(done["simulated"], true);
        done["jobs"][0]["read"]["iops"].as_f64().unwrap()
    };
    let (truth, predicted) = (iops("hidden"), iops("my-twin"));
    assert!((predicted / truth - 1.0).abs() < 0.08, "{predicted} for {truth}");
    let before = fixture.json(
        "job sim:samsung-951 --rw randread --bs 8k --numjobs 12 --runtime 200ms --ramp_time 50ms",
    );
    let before = before["jobs"][0]["read"]["iops"].as_f64().unwrap();
    assert!(
        (before / truth - 1.0).abs() > 0.1,
        "the measured profile differs from the 951: {before} for {truth}"
    );
}

#[test]
fn fits_to_a_table_are_deterministic() {
    let fixture = Fixture::on_disk();
    fixture.write(
        "m.csv",
        "rw,block,threads,metric,value,role\nrandread,4k,16,mib_per_s,500,\nrandread,4k,1,\
         median_us,90,\nrandread,32k,16,mib_per_s,1200,held_out\n",
    );
    let command = format!("fit samsung-951 --to m.csv --name one --evaluations 30 {FREE}");
    let text = fixture.ok(&command).stdout;
    for part in ["Fitted to", "Held out", "Free parameters", "sim:./one.toml", "nand.read_ns"] {
        assert!(text.contains(part), "{part} is not in:\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let first = fixture.text("one.toml");
    fixture.ok(&format!("{command} --threads 3"));
    assert_eq!(fixture.text("one.toml"), first);
    assert!(first.contains("fitted = \"m.csv"), "{first}");
}

#[test]
fn invalid_fits_are_refused_with_advice() {
    let fixture = Fixture::on_disk();
    fixture.write("bad.csv", "rw,block,value\nrandread,4k,100\nrandread,4k,fast\n");
    fixture.write("good.csv", "value\n100\n");
    fixture.write("notes.toml", "not = \"a profile\"");
    for (words, expected) in [
        ("fit samsung-951 --to bad.csv", "bad.csv, line 3, column value"),
        ("fit samsung-951 --to nowhere", "measurements (.csv)"),
        ("fit samsung-95 --to published", "samsung-951"),
        ("fit ./none.toml --to published", "none.toml"),
        ("fit samsung-951 --to good.csv --free nand.read", "no such number"),
        ("fit samsung-951 --to good.csv --free nand.cache_read", "not a number"),
        ("fit samsung-951 --to good.csv --hold-out bs=1m", "randread bs=4k"),
        ("fit samsung-951 --to good.csv --hold-out bs=4k", "held out"),
        ("fit samsung-951 --to good.csv --name My_Drive", "lower-case letters"),
        ("fit samsung-951 --to good.csv -o notes.toml", "not a profile"),
        ("fit samsung-951 --to good.csv -o copy", "NAME.toml"),
        ("fit samsung-951 --to good.csv --recipe missing.toml", "missing.toml"),
        ("probe sim:./none.toml", "none.toml"),
        ("probe sim:./notes.toml", "notes.toml"),
        ("fidelity no-such-drive", "samsung-951"),
    ] {
        let done = fixture.run(words);
        assert!(done.status == 2 || done.status == 4, "{done}");
        assert!(done.stderr.contains(expected), "{expected} is not in: {done}");
    }
    assert_eq!(fixture.text("notes.toml"), "not = \"a profile\"");
}

/// Drives whose published figures the curve knows, so that it must find their simulations.
#[test]
fn the_page_of_quick_predicts_what_it_did_not_measure() {
    let fixture = Fixture::on_disk();
    let drives = ["samsung-951", "toshiba-rd400", "intel-600p"];
    let specs = drives.map(|drive| format!("sim:{drive}")).join(" ");
    fixture.ok(&format!("run quick {specs} --scale 0.1 --out quick --report page.html"));
    let page = fixture.text("page.html");
    for drive in drives {
        let caption = format!("{drive} (simulated): random read by synchronous threads, predicted");
        assert!(page.contains(&caption), "{caption}");
        let predicted = fixture.json(&format!("predict --cells quick --drive {drive}"));
        let cells = predicted["cells"].as_array().unwrap();
        let measured: Vec<_> = cells.iter().filter(|cell| cell["measured"] == true).collect();
        assert_eq!(measured.len(), 5, "{predicted:#}");
        for (bs, threads) in [(8192, 64), (32_768, 16), (65_536, 64)] {
            let is = |c: &&serde_json::Value| c["bs_bytes"] == bs && c["numjobs"] == threads;
            let ends = &cells.iter().find(is).unwrap()["iops_interval"];
            let [low, high] = [0, 1].map(|end| ends[end].as_f64().unwrap());
            let job = format!("job sim:{drive},host=bench --rw randread --bs {bs} --runtime 1");
            let job = fixture.json(&format!("{job} --numjobs {threads}"));
            let iops = number(&job, "/jobs/0/read/iops");
            assert!((low..=high).contains(&iops), "{drive} {bs} {threads}: {iops}, {low} {high}");
        }
    }
    fixture.ok("run bandwidth sim:samsung-951 --scale 0.01 --out other --report other.html");
    let other = fixture.text("other.html");
    assert!(!other.contains("synchronous threads, predicted"));
}

#[test]
fn reads_are_predicted_from_a_data_sheet_and_measured_cells_narrow_their_intervals() {
    let fixture = Fixture::on_disk();
    // The 960 EVO's ratings and six of its published cells, measured in its cache.
    let sheet = "predict --rated-iops 330000 --rated-mb 3200 --cell-bits 2";
    let rows = ["4k,16,543", "4k,64,1003", "16k,16,1026", "16k,64,1099", "512,64,125"];
    fixture.write("cells.csv", format!("block,threads,value\n{}\n", rows.join("\n")));
    let at = |document: &serde_json::Value, block: u64| {
        let cells = document["cells"].as_array().unwrap().clone();
        let is = |c: &&serde_json::Value| c["bs_bytes"] == block && c["numjobs"] == 16;
        let cell = cells.iter().find(is).unwrap();
        let ends = cell["mib_per_s_interval"].as_array().unwrap();
        [&cell["mib_per_s"], &ends[0], &ends[1]].map(|v| v.as_f64().unwrap())
    };
    let unseen = fixture.json(sheet);
    let known = fixture.json(&format!("{sheet} --cells cells.csv"));
    assert_eq!((&unseen["known_cells"], &known["known_cells"]), (&0.into(), &5.into()));
    // Published: 815 MiB/s.
    for document in [&unseen, &known] {
        let [centre, low, high] = at(document, 8192);
        assert!(low < centre && centre < high, "{document:#}");
        assert!((low..=high).contains(&815.0), "{document:#}");
        // No drive gave more than its rated bytes: 3200 MB/s.
        let [_, _, high] = at(document, 262_144);
        assert!(high <= 3052.0, "{document:#}");
    }
    let beside_cache = fixture.json("predict --rated-iops 330000 --rated-mb 3200");
    assert!(at(&beside_cache, 4096)[0] < 0.9 * at(&unseen, 4096)[0]);
    assert!(beside_cache["drives"].as_u64() > unseen["drives"].as_u64());
    let width = |document| {
        let [_, low, high] = at(document, 8192);
        high / low
    };
    assert!(width(&known) < width(&unseen), "{} {}", width(&known), width(&unseen));
    let text = fixture.ok(sheet).stdout;
    assert!(text.contains("16 threads") && text.contains("Not predicted"), "{text}");
    // The kind of drive is inferred from the rated bytes, and said; 3D XPoint is saturated at 16.
    let sata = "predict --rated-iops 95k --rated-mb 560";
    let text = fixture.ok(sata).stdout;
    assert!(text.contains("assumed: SATA"), "{text}");
    let [iops, _, high] = at(&fixture.json(sata), 4096).map(|mib| mib * 256.0);
    assert!(iops > 0.8 * 95e3 && high < 1.1 * 95e3, "{iops} {high}");
    let optane = fixture.json("predict --rated-iops 550k --rated-mb 2400 --medium 3d-xpoint");
    let [iops, low, _] = at(&optane, 4096).map(|mib| mib * 256.0);
    assert!(iops > 4.5e5 && low > 2e5, "{optane:#}");
    let in_millions = fixture.json("predict --rated-iops 1.5M,2m --rated-mb 14000,12000");
    assert_eq!(in_millions, fixture.json("predict --rated-iops 1500000 --rated-mb 14000"));
    fixture.write("writes.csv", "rw,value\nrandwrite,100\n");
    for (words, expected) in [
        ("predict --rated-iops 0 --rated-mb 3200".to_owned(), "number from 1"),
        ("predict --rated-iops 500k,M --rated-mb 3200".to_owned(), "500k or 1.5M"),
        ("predict --rated-iops 500k --rated-mb 3500M".to_owned(), "number of MB/s"),
        (format!("{sheet} --interface sata"), "no more than 600 MB/s"),
        (format!("{sheet} --medium 3d-xpoint"), "--cell-bits"),
        (format!("{sata} --medium 3d-xpoint --interface sata"), "nothing"),
        (format!("{sheet} --cells nowhere"), "measurements (.csv)"),
        (format!("{sheet} --cells writes.csv"), "random read"),
    ] {
        let done = fixture.run(&words);
        assert_eq!(done.status, 2, "{done}");
        assert!(done.stderr.contains(expected), "{done}");
    }
}

#[test]
fn the_fidelity_page_shows_every_published_figure() {
    let fixture = Fixture::on_disk();
    let document = fixture.json("fidelity samsung-951 -o page.html --markdown page.md");
    let summary = &document["drives"][0]["summary"];
    assert_eq!(summary["figures"], 22, "{document:#}");
    assert!(summary["median_error_pct"].as_f64().unwrap() < 3.0);
    let (page, text) = (fixture.text("page.html"), fixture.text("page.md"));
    assert!(page.starts_with("<!DOCTYPE html>"));
    for figure in ["random read, 64 x 4 KiB", "temperature after 2 min", "1,070"] {
        assert!(page.contains(figure) && text.contains(figure), "{figure}");
    }
    assert!(!page.contains("<script src") && !page.contains("http-equiv=\"refresh\""));
}

/// Cells of the hidden drive as a table of measurements, by jobs.
fn measured_table(fixture: &Fixture, cells: &[(u32, u32)]) -> String {
    let mut table = String::from("rw,block,threads,metric,value,role\n");
    for &(threads, kib) in cells {
        let done = fixture.json(&format!(
            "job sim:./hidden.toml --rw randread --bs {kib}k --numjobs {threads} --runtime 300ms \
             --ramp_time 50ms"
        ));
        let iops = done["jobs"][0]["read"]["iops"].as_f64().unwrap();
        let rate = iops * f64::from(kib) / 1024.0;
        let role = if threads == 8 { "held_out" } else { "target" };
        table.push_str(&format!("randread,{kib}k,{threads},mib_per_s,{rate:.2},{role}\n"));
    }
    table
}

#[test]
fn auto_chooses_profile_and_structure() {
    let fixture = Fixture::on_disk();
    hidden(&fixture);
    let table = measured_table(&fixture, &[(1, 4), (32, 4), (8, 16), (32, 16), (1, 64), (32, 64)]);
    fixture.write("cells.csv", table);
    for (words, missing) in [
        ("fit auto --name my-twin", "--to"),
        ("fit auto --to cells.csv", "--name"),
        ("fit auto --to cells.csv --name a --free nand.read_ns", "--free"),
    ] {
        fixture.run(words).refuses(2, &[missing]);
    }
    let shown = fixture.ok("fit auto --to cells.csv --name my-twin");
    let text = &shown.stdout;
    assert!(text.contains("Structure: ") && text.contains("Held out"), "{text}");
    let residuals = fixture.text("my-twin.residuals.csv");
    assert_eq!(residuals.lines().count(), 7, "{residuals}");
    let profile = fixture.text("my-twin.toml");
    assert!(profile.contains("fitted = \"cells.csv"), "{profile}");
    fixture.ok("job sim:./my-twin.toml --rw randread --runtime 20ms");
}
