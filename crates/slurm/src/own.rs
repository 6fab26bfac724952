//! The names of harp's own jobs: `harp-<experiment>-<batch>`, and `harp-<batch>` as earlier versions wrote it.
//! People read the first part in the queue; harp finds its jobs again by the whole.

/// What the name of each of them begins with.
const PREFIX: &str = "harp-";

/// Digits of a batch.
const DIGITS: usize = 16;

/// So much of an experiment's name is enough to know it by.
const LONGEST: usize = 32;

/// The name of the job of a batch of an experiment. Of the experiment's name only what Slurm and its lists
/// take as it is stays.
pub fn own_job_name(experiment: &str, batch: &str) -> String {
    let mut label = String::new();
    for letter in experiment.chars() {
        let letter = if is_plain(letter) { letter } else { '-' };
        if letter != '-' || !(label.is_empty() || label.ends_with('-')) {
            label.push(letter);
        }
    }
    label.truncate(LONGEST);
    match label.trim_end_matches('-') {
        "" => format!("{PREFIX}{batch}"),
        label => format!("{PREFIX}{label}-{batch}"),
    }
}

/// The batch of one of harp's own jobs; `None` of any other.
pub fn batch_of_job_name(name: &str) -> Option<&str> {
    let rest = name.strip_prefix(PREFIX)?;
    let (label, batch) = rest.rsplit_once('-').map_or((None, rest), |(label, batch)| (Some(label), batch));
    let is_batch = batch.len() == DIGITS && batch.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_label = |label: &str| !label.is_empty() && label.len() <= LONGEST && label.chars().all(is_plain);
    (is_batch && label.is_none_or(is_label)).then_some(batch)
}

fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "-_.".contains(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BATCH: &str = "0123456789abcdef";

    #[test]
    fn people_read_the_experiment_in_the_name_of_a_job() {
        for (experiment, label) in [
            ("heat", "heat-"),
            ("heat_2.5-d", "heat_2.5-d-"),
            ("Euler 3D, hot/cold", "Euler-3D-hot-cold-"),
            ("--wärme--", "w-rme-"),
            ("温度", ""),
            ("", ""),
            ("a-name-that-goes-on-and-on-until-nobody-reads-it", "a-name-that-goes-on-and-on-until-"),
        ] {
            assert_eq!(own_job_name(experiment, BATCH), format!("harp-{label}{BATCH}"));
        }
    }

    #[test]
    fn a_name_of_an_earlier_version_is_known_too_and_no_other() {
        assert_eq!(batch_of_job_name("harp-0123456789abcdef"), Some(BATCH));
        assert_eq!(batch_of_job_name("harp-heat-0123456789abcdef"), Some(BATCH));
        for other in [
            "harp-",
            "harp-heat",
            "harp--0123456789abcdef",
            "harp-heat-0123456789abcdeg",
            "harp-heat-0123456789abcdef0",
            "harp-two words-0123456789abcdef",
            "heat-0123456789abcdef",
        ] {
            assert_eq!(batch_of_job_name(other), None, "{other}");
        }
    }

    proptest::proptest! {
        #[test]
        fn every_own_job_is_known_again(experiment in ".{0,60}", batch in "[0-9a-f]{16}") {
            let name = own_job_name(&experiment, &batch);
            proptest::prop_assert_eq!(batch_of_job_name(&name), Some(batch.as_str()));
            proptest::prop_assert!(name.len() <= 54 && name.chars().all(is_plain));
        }
    }
}
