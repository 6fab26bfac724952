//! The experiment file: read, checked, and turned into the list of configurations to run
