//! Turns results into tables, charts, pages and JSON
