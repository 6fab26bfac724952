//! Learns time and memory from runs and predicts with an interval
