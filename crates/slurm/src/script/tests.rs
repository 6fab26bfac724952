use super::*;

#[test]
fn a_script_asks_for_all_that_is_asked_for() {
    let request = JobRequest {
        partition: Some("gpu".into()),
        account: Some("physics".into()),
        constraint: Some("a100|v100".into()),
        nodes: Some(2),
        tasks_per_node: Some(4),
        cores_per_task: Some(3),
        memory: Some(Bytes((1 << 30) + 1)),
        gpus: Some(2),
        gpu_kind: Some("a100".into()),
        time: Some(Seconds(61.0)),
        extra: Vec::new(),
    };
    let script = ArrayScript {
        name: "harp-1",
        comment: "it's mine",
        folder: "/tmp/a b",
        tasks: 3,
        request: &request,
        modules: &["gcc/12".to_owned()],
        command: &["/opt/harp".to_owned(), "within job".to_owned()],
    };
    let text = script.text();
    for line in [
        "#SBATCH --job-name=harp-1",
        r"#SBATCH --comment='it'\''s mine'",
        "#SBATCH --array=0-2",
        "#SBATCH --chdir='/tmp/a b'",
        "#SBATCH --partition=gpu",
        "#SBATCH --account=physics",
        "#SBATCH --constraint='a100|v100'",
        "#SBATCH --nodes=2",
        "#SBATCH --ntasks-per-node=4",
        "#SBATCH --cpus-per-task=3",
        "#SBATCH --mem=1025M",
        "#SBATCH --gpus-per-node=a100:2",
        "#SBATCH --time=00:02:00",
        "#SBATCH --requeue",
        "module load gcc/12 || exit 1",
        "exec /opt/harp 'within job' \"$SLURM_ARRAY_TASK_ID\"",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is missing in\n{text}");
    }
    assert_eq!((request.processes(), request.cores()), (8, Some(24)));
}

#[test]
fn what_is_not_asked_for_is_left_to_the_cluster() {
    let names: Vec<&str> = JobRequest::default().options().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["nodes", "ntasks-per-node"]);
    let without = JobRequest { gpus: Some(0), gpu_kind: Some("a100".into()), ..JobRequest::default() };
    assert!(without.options().iter().all(|(name, _)| *name != "gpus-per-node"));
    assert!(load(&[]).is_empty());
}

#[test]
fn names_that_could_be_something_else_are_told() {
    for good in ["gpu", "a-b_c.d", "user@site", "gcc/12.2"] {
        assert!(is_plain_name(good), "{good}");
    }
    for bad in ["", "-x", "a b", "a;b", "a\nb", "a'b", "$x"] {
        assert!(!is_plain_name(bad), "{bad}");
        assert!(!is_constraint(bad), "{bad}");
    }
    assert!(is_constraint("[rack1|rack2]&a100*2"));
}

#[test]
fn further_options_are_taken_in_full_and_those_that_are_harps_are_not() {
    for word in ["--qos=long", "--exclusive", "--mail-type=END", "--reservation=a b", "--nice=100"] {
        assert_eq!(check_extra(word), Ok(()), "{word}");
    }
    for word in ["--mem=3G", "--array", "--job-name=x", "--requeue"] {
        assert!(check_extra(word).unwrap_err().contains("itself"), "{word}");
    }
    for word in ["", "qos=long", "-q long", "--", "--qos=a\n#SBATCH --mem=1", "--QOS=x", "--x y=1"] {
        assert!(check_extra(word).is_err(), "{word}");
    }
    let extra = vec!["--qos=long".to_owned(), "--reservation=a b".to_owned()];
    let request = JobRequest { extra, ..JobRequest::default() };
    let script = ArrayScript {
        name: "harp-0",
        comment: "c",
        folder: "/f",
        tasks: 1,
        request: &request,
        modules: &[],
        command: &["harp".to_owned()],
    };
    assert!(
        script.text().contains("\n#SBATCH --qos=long\n#SBATCH '--reservation=a b'\n"),
        "{}",
        script.text()
    );
}
