//! The store of runs, and the dataset made from it
