//! Every key of the experiment file, once: the reader, the JSON Schema and the reference page all
//! come from these tables, so that none of them can know a key the others do not.

mod program;
mod sweep;
mod table;

pub(crate) use program::{INPUT, METRIC, PROGRAM, SUCCESS, TEMPLATE};
pub(crate) use sweep::{ALLOCATION, DESIGN, LEARN, PARAMETER, RANGE, ROOT, SCALE_ALLOCATION, SCALE_DESIGN};
pub(crate) use table::{Key, Shape, Table};
