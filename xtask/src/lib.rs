//! What the chores share with the fuzz targets.

pub mod feed;
