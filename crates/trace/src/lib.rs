//! Job traces of clusters: reading them, and saying how a cluster behaves.
//!
//! Traces are visited job by job, so that a trace of any length can be read; what cannot be read is
//! counted with its line and never dropped silently. Nothing here schedules, learns or prints.

mod anonymise;
mod columns;
mod convert;
mod error;
mod format;
pub mod generate;
mod job;
mod json_lines;
mod lines;
pub mod predict;
mod reading;
mod sacct;
mod sacct_json;
mod source;
mod stamp;
pub mod summary;
mod swf;
mod table;
mod write;
mod zone;

pub use anonymise::Anonymiser;
pub use columns::ColumnMap;
pub use convert::{ConvertOptions, convert};
pub use error::TraceError;
pub use format::Format;
pub use job::{Job, Status, Verdict};
pub use reading::{BadLine, Header, LISTED, Names, Reading, Skipped, Trace};
pub use source::{ReadOptions, read, read_path, visit, visit_path};
pub use write::TraceWriter;
pub use zone::Zone;
