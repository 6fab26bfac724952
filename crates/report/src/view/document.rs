//! A page of sections: what a reader looks for first, then texts, charts and tables in order.

use super::{BarsView, LinesView};
use crate::Table;

/// A piece of a section.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// A paragraph.
    Text(String),
    /// Sentences, each with whether it holds (`None` where that is not known).
    Statements(Vec<(Option<bool>, String)>),
    /// Lines over an axis.
    Lines(LinesView),
    /// Bars in groups.
    Bars(BarsView),
    /// A table under a small heading.
    Table(String, Table),
}

/// A section.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SectionView {
    /// Its heading.
    pub title: String,
    /// What is in it.
    pub parts: Vec<Part>,
}

/// A page.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DocumentView {
    /// The window's title.
    pub title: String,
    /// A line above the headline.
    pub kicker: String,
    /// The page in one sentence.
    pub headline: String,
    /// Figures with what they mean.
    pub facts: Vec<(String, String)>,
    /// What must be known before trusting the page.
    pub warnings: Vec<String>,
    /// The sections.
    pub sections: Vec<SectionView>,
    /// How it was made: names and texts.
    pub made: Vec<(String, String)>,
    /// The command that makes it again.
    pub command: String,
    /// The version of harp.
    pub harp_version: String,
}
