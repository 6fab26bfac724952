//! Node types, partitions, limits and prices of a computing site
