//! `harp dnn` as a person uses it: files, presets, peaks, mistakes.
#![allow(clippy::unwrap_used, clippy::panic)] // a test that cannot go on should stop

mod support;

use std::fs;

#[test]
fn memory_is_answered_for_one_gpu_with_an_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let arguments =
        ["dnn", "memory", "llama-2-7b", "--gpus", "8", "--zero", "2", "--sequence", "2048", "--flash"];
    let with = |more: &[&'static str]| [arguments.as_slice(), more].concat();
    let answer = support::json(here, &with(&["--gpu", "A100-80", "--chart", "memory.svg", "--json"]));
    assert_eq!(answer["parameters"], 6_738_415_616_u64);
    assert_eq!(answer["fits"][0]["fits"], true);
    let sum: u64 = answer["parts"].as_array().unwrap().iter().map(|part| part["gpu"].as_u64().unwrap()).sum();
    assert!(sum.abs_diff(answer["gpu"].as_u64().unwrap()) < 10, "{answer:#}");
    assert!(fs::read_to_string(here.join("memory.svg")).unwrap().contains("optimizer"));
    support::run(here, &with(&["--gpu", "T4"]), 4);
    let said = support::stderr(&support::run(here, &with(&["--gpu", "Voodoo2"]), 2));
    assert!(said.contains("`Voodoo2` is not known") && said.contains("A100-80"), "{said}");
    let site = support::json(here, &["dnn", "memory", "bert-base", "--site", "osc-pitzer", "--json"]);
    assert!(site["fits"].as_array().unwrap().iter().all(|fit| fit["gpu"].as_str().unwrap().contains("V100")));
}

#[test]
fn a_folder_with_tensors_and_configuration_is_read_from_disk() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let header = r#"{"h.0.attn.weight":{"dtype":"F32","shape":[32,34],"data_offsets":[0,4352]}}"#;
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.extend([0; 4352]);
    fs::write(here.join("model.safetensors"), &bytes).unwrap();
    let alone = support::json(here, &["dnn", "memory", "model.safetensors", "--json"]);
    assert_eq!((alone["parameters"].as_u64(), alone["complete"].as_bool()), (Some(1088), Some(false)));
    let said = support::stderr(&support::run(
        here,
        &["dnn", "time", "model.safetensors", "--gpu", "T4", "--samples", "100"],
        2,
    ));
    assert!(said.contains("does not say how often each weight is used"), "{said}");
    let configuration =
        r#"{"model_type":"gpt2","n_embd":8,"n_head":2,"n_layer":1,"n_positions":16,"vocab_size":9}"#;
    fs::write(here.join("config.json"), configuration.replace("\"n_layer\":1", "\"n_layer\":4")).unwrap();
    let said = support::stderr(&support::run(here, &["dnn", "memory", "model.safetensors"], 2));
    assert!(said.contains("holds 1088 parameters, the config.json beside it describes 3704"), "{said}");
    fs::write(here.join("config.json"), configuration).unwrap();
    let described = support::json(here, &["dnn", "memory", "model.safetensors", "--json"]);
    assert_eq!((described["parameters"].as_u64(), described["complete"].as_bool()), (Some(1088), Some(true)));
    fs::write(here.join("cut.safetensors"), &bytes[..100]).unwrap();
    let said = support::stderr(&support::run(here, &["dnn", "memory", "cut.safetensors"], 2));
    assert!(said.contains("cut.safetensors: `data_offsets`") && said.contains("truncated"), "{said}");
    let mut claim = 10_000_000_000_u64.to_le_bytes().to_vec();
    claim.extend([b' '; 64]);
    fs::write(here.join("large.safetensors"), claim).unwrap();
    let said = support::stderr(&support::run(here, &["dnn", "memory", "large.safetensors"], 2));
    assert!(said.contains("`header length` is 10000000000 bytes"), "{said}");
}

#[test]
fn mistakes_name_the_field_and_a_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::write(here.join("net.toml"), "input = [4]\nlayers = [{ kind = \"quantum\" }]\n").unwrap();
    for (arguments, words) in [
        (vec!["net.toml"], "net.toml: `layers[0].kind` `quantum` is a kind of layer that is not known"),
        (vec!["gpt2", "--batch", "99999999999"], "`batch` = 99999999999 cannot be meant"),
        (vec!["gpt2", "--batch", "-1"], "'-1' for '--batch <SAMPLES>': write a whole number above 0"),
        (vec!["gpt2", "--batch", "1e18"], "`batch` = 1000000000000000000 cannot be meant"),
        (vec!["gpt2", "--gpus", "0"], "--gpus"),
        (vec!["gpt2", "--zero", "5"], "use one of 0, 1, 2, 3"),
        (vec!["gpt2", "--offload", "all"], "`offload` of parameters needs ZeRO 3"),
        (vec!["resnet50", "--tensor", "2", "--gpus", "2"], "`tensor` above 1 is known for transformers only"),
        (vec!["dense:784,{n},10"], "`{n}` in `dense:784,{n},10` has no value"),
        (vec!["missing.onnx"], "there is no file `missing.onnx`"),
    ] {
        let all = [vec!["dnn", "memory"], arguments].concat();
        let said = support::stderr(&support::run(here, &all, 2));
        assert!(said.contains(words), "{all:?}: {said}");
    }
}

#[test]
fn what_does_not_fit_comes_with_what_would_help() {
    let folder = tempfile::tempdir().unwrap();
    let remark = |arguments: &[&str]| {
        let all = [&["dnn", "memory", "llama-2-70b", "--gpu", "A100-80", "--json"], arguments].concat();
        let output = support::run(folder.path(), &all, 4);
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        answer["fits"][0]["remark"].as_str().unwrap().to_owned()
    };
    let states = remark(&["--sequence", "128"]);
    assert_eq!(states, "more GPUs do not help: try --zero 3, --offload, --tensor");
    let activations = remark(&["--gpus", "64", "--zero", "3"]);
    assert_eq!(
        activations,
        "more GPUs do not help: try a shorter --sequence, --recompute full, --flash, --tensor"
    );
}

#[test]
fn what_the_roofline_does_not_know_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let training = ["dnn", "time", "dense:784,64,10", "--gpu", "P100", "--samples", "1"];
    let said = support::stdout(folder.path(), &[training.as_slice(), &["--precision", "fp8"]].concat());
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("an epoch is 1 step of 1 sample and"), "{said}");
    assert!(said.contains("P100-16 has no arithmetic in 8 bits"), "{said}");
    assert!(said.contains("A step this short is mostly starting kernels"), "{said}");
}

#[test]
fn measured_peaks_replace_the_assumed_overhead() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let model = "dense:784,{neurons}x2,10";
    let formula = |neurons: &str, batch: &str| {
        let setting = format!("neurons={neurons}");
        let arguments =
            ["dnn", "memory", model, "--set", &setting, "--batch", batch, "--overhead", "0", "--json"];
        support::json(here, &arguments)["gpu"].as_f64().unwrap()
    };
    let mut rows = "neurons,batch,peak_memory_bytes\n".to_owned();
    for (neurons, batch) in [("100", "16"), ("400", "64"), ("1600", "64"), ("3200", "256"), ("6400", "512")] {
        rows.push_str(&format!("{neurons},{batch},{:.0}\n", 3e7 + 1.2 * formula(neurons, batch)));
    }
    fs::write(here.join("peaks.csv"), rows).unwrap();
    let arguments = [
        "dnn",
        "memory",
        model,
        "--set",
        "neurons=800",
        "--batch",
        "128",
        "--calibrate",
        "peaks.csv",
        "--json",
    ];
    let answer = support::json(here, &arguments);
    let expected = 3e7 + 1.2 * formula("800", "128");
    assert!((answer["gpu"].as_f64().unwrap() / expected - 1.0).abs() < 0.01, "{answer:#}");
    assert!(answer["calibration"]["calibrated_error"].as_f64().unwrap() < 1.0, "{answer:#}");
    assert!(answer["calibration"]["formula_error"].as_f64().unwrap() > 100.0, "the assumed GiB was far off");
}

/// What a host must hold is compared with the host there is, and a training that fits nowhere is not timed
/// without a word.
#[test]
fn hosts_are_looked_at_and_times_say_what_does_not_fit() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let offloaded = ["--gpus", "4", "--zero", "3", "--offload", "all", "--flash", "--recompute", "full"];
    let site = ["dnn", "memory", "llama-2-70b", "--sequence", "512", "--site", "osc-pitzer", "--json"];
    let answer = support::json(here, &[site.as_slice(), offloaded.as_slice()].concat());
    let fits = answer["fits"].as_array().unwrap();
    let on_host =
        |fit: &&serde_json::Value| fit["remark"].as_str().is_some_and(|said| said.contains("a host has"));
    assert!(fits.iter().any(|fit| on_host(&fit)), "{answer:#}");
    assert!(fits.iter().filter(on_host).all(|fit| fit["fits"] == false), "{answer:#}");
    let time = ["dnn", "time", "llama-2-7b", "--gpu", "V100-16", "--batch", "64", "--samples", "1000000"];
    let said = support::stdout(here, &time);
    assert!(said.contains("It does not fit") && said.contains("no tensor cores for bf16"), "{said}");
    assert_eq!(support::json(here, &[time.as_slice(), &["--json"]].concat())["fits"], false);
    let chart = ["dnn", "memory", "bert-base", "--gpu", "A100-80", "--chart", "memory.png"];
    assert!(support::stderr(&support::run(here, &chart, 2)).contains("ends in .svg"));
    let frozen = ["dnn", "memory", "bert-base", "--gpu", "A100-80", "--freeze", "zzz"];
    assert!(support::stderr(&support::run(here, &frozen, 2)).contains("`zzz` is in the name of no layer"));
    let to_disk =
        ["dnn", "memory", "llama-2-7b", "--zero", "2", "--offload", "optimizer", "--offload-to", "nvme"];
    assert!(support::stderr(&support::run(here, &to_disk, 2)).contains("needs ZeRO 3"));
    let given = ["dnn", "memory", "resnet50", "--gpu", "A100-80", "--sequence", "20", "--set", "k=4"];
    let said = support::stderr(&support::run(here, &given, 0));
    assert!(said.contains("--sequence of a network that is no transformer has no effect"), "{said}");
    assert!(said.contains("no {k} in MODEL"), "{said}");
}
