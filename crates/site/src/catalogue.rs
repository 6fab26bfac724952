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
pub fn embedded() -> [(&'static str, &'static str); 2] {
    [
        ("osc-pitzer.toml", include_str!("../profiles/osc-pitzer.toml")),
        ("cloud.toml", include_str!("../profiles/cloud.toml")),
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
    fn own_profiles_come_first() {
        let own = |description: &str| {
            let text =
                embedded()[1].1.replacen("description = \"", &format!("description = \"{description}"), 1);
            ("my.toml".to_owned(), text)
        };
        let site = find("cloud", &[own("first "), own("second ")]).unwrap();
        assert!(site.description.starts_with("second "));
        assert!(find("osc-pitzer", &[]).is_ok());
        let message = find("moon", &[]).unwrap_err().to_string();
        assert_eq!(message, "there is no site `moon`; known are cloud, local, osc-pitzer");
    }

    #[test]
    fn a_wrong_profile_is_an_error_not_a_gap() {
        let error = find("cloud", &[("my.toml".into(), "name = 3".into())]).unwrap_err();
        assert!(error.to_string().starts_with("my.toml:1:"), "{error}");
    }
}
