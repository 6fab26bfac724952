//! Chooses an allocation under a limit and writes the job script
