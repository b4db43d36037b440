//! What workloads send and read, against vectors of independent implementations.

mod files_vectors;
mod shared;
mod web_vectors;
