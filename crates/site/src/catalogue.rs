//! The profiles that come with harp, and how a caller's own replace them.

use thiserror::Error;

use crate::{Site, SiteError};

/// Why a site could not be had by name.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum FindError {
    /// There is no profile of that name.
    #[error("there is no site `{name}`; known are {}", known.join(", "))]
    Unknown {
        /// The name asked for.
        name: String,
        /// Names that would have been found.
        known: Vec<String>,
    },
    /// A profile was read and is wrong.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Invalid(Vec<SiteError>),
}

/// File names and texts of the profiles that come with harp.
pub fn embedded() -> [(&'static str, &'static str); 13] {
    macro_rules! profiles {
        ($($name:literal),* $(,)?) => {
            [$(($name, include_str!(concat!("../profiles/", $name)))),*]
        };
    }
    profiles![
        "osc-pitzer.toml",
        "osc-owens.toml",
        "osc-ascend.toml",
        "osc-cardinal.toml",
        "tacc-frontera.toml",
        "tacc-stampede3.toml",
        "tacc-lonestar6.toml",
        "tacc-vista.toml",
        "ncsa-delta.toml",
        "purdue-anvil.toml",
        "sdsc-expanse.toml",
        "nersc-perlmutter.toml",
        "cloud.toml",
    ]
}

/// The site of that name: from the caller's own `(file name, text)` profiles first, the last one
/// winning, then from those that come with harp. `local` is not here: it is made of a host by
/// [`Site::local`].
pub fn find(name: &str, own: &[(String, String)]) -> Result<Site, FindError> {
    let own = own.iter().rev().map(|(file, text)| (file.as_str(), text.as_str()));
    let mut known = Vec::new();
    for (file, text) in own.chain(embedded()) {
        let site = Site::parse(file, text).map_err(FindError::Invalid)?;
        if site.name == name {
            return Ok(site);
        }
        known.push(site.name);
    }
    known.push("local".to_owned());
    known.sort();
    known.dedup();
    Err(FindError::Unknown { name: name.to_owned(), known })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embedded_profiles_are_valid_and_named_like_their_file() {
        for (file, text) in embedded() {
            let site = Site::parse(file, text).unwrap();
            assert_eq!(format!("{}.toml", site.name), file);
            assert!(site.source.is_some() && site.date.is_some(), "{file} says where its facts are from");
            assert_eq!(
                Site::parse(file, &site.to_toml().unwrap()),
                Ok(site),
                "{file} survives writing and reading"
            );
        }
    }

    #[test]
    fn the_charges_of_sites_are_those_of_their_guides() {
        use harp_core::{Allocation, Bytes, Money, Seconds};
        let price = |site: &str, node_type: &str, partition: &str, allocation: &Allocation, seconds: f64| {
            let place = crate::Placement { node_type: node_type.into(), partition: Some(partition.into()) };
            find(site, &[]).unwrap().price(allocation, &place, Seconds(seconds)).map(|Money(price)| price)
        };
        let asked = |cores, gpus, memory: Option<u64>| Allocation {
            cores: Some(cores),
            gpus: Some(gpus).filter(|&gpus| gpus > 0),
            memory: memory.map(Bytes),
            ..Allocation::default()
        };
        // Stampede3: four nodes of spr for five minutes are charged as fifteen
        let four = Allocation { nodes: Some(4), ..Allocation::default() };
        assert_eq!(price("tacc-stampede3", "spr", "spr", &four, 300.0), Ok(2.0));
        assert_eq!(price("tacc-frontera", "rtx", "rtx", &four, 300.0), Ok(1.0));
        // Delta: the largest of one GPU, 16 cores and 62.5 GB
        let gb = 1_000_000_000;
        for (memory, units) in [(62 * gb, 1.0), (125 * gb, 2.0)] {
            let found =
                price("ncsa-delta", "a100x4", "gpuA100x4", &asked(16, 1, Some(memory)), 3600.0).unwrap();
            assert!((found - units).abs() < 1e-6, "{found}");
        }
        let memory =
            price("ncsa-delta", "cpu128", "cpu-preempt", &asked(1, 0, Some(8 * gb)), 3600.0).unwrap();
        assert!((memory - 2.0).abs() < 1e-6, "half of four cores' worth: {memory}");
        // Anvil: memory counts as cores, GPUs alone where there are some
        assert_eq!(price("purdue-anvil", "cpu128", "any", &asked(1, 0, Some(8 * gb)), 3600.0), Ok(4.0));
        assert_eq!(price("purdue-anvil", "highmem128", "any", &asked(1, 0, None), 3600.0), Ok(4.0));
        assert_eq!(price("purdue-anvil", "gpu128-quad-a100", "any", &asked(32, 2, None), 3600.0), Ok(2.0));
        assert!(price("purdue-anvil", "ai96-quad-h100", "any", &asked(1, 1, None), 1.0).is_err());
        assert!(price("sdsc-expanse", "gpu40-quad-v100", "any", &asked(1, 1, None), 1.0).is_err());
        // the study's own at every site it was written for
        for (site, node_type, partition) in [
            ("osc-owens", "broadwell28-p100", "serial"),
            ("osc-pitzer", "cascade48-dual-v100", "serial"),
            ("osc-cardinal", "gpu96-quad-h100", "gpu"),
        ] {
            let found = price(site, node_type, partition, &asked(28, 1, None), 516.0).unwrap();
            assert!((found - 0.025).abs() < 0.000_6, "{site}: {found}");
        }
    }

    #[test]
    fn own_profiles_come_first() {
        let own = |description: &str| {
            let text = embedded().map(|(_, text)| text)[embedded().len() - 1].replacen(
                "description = \"",
                &format!("description = \"{description}"),
                1,
            );
            ("my.toml".to_owned(), text)
        };
        let site = find("cloud", &[own("first "), own("second ")]).unwrap();
        assert!(site.description.starts_with("second "));
        assert!(find("osc-pitzer", &[]).is_ok());
        let message = find("moon", &[]).unwrap_err().to_string();
        assert!(
            message.starts_with("there is no site `moon`; known are cloud, local, ncsa-delta, "),
            "{message}"
        );
    }

    #[test]
    fn a_wrong_profile_is_an_error_not_a_gap() {
        let error = find("cloud", &[("my.toml".into(), "name = 3".into())]).unwrap_err();
        assert!(error.to_string().starts_with("my.toml:1:"), "{error}");
    }
}
