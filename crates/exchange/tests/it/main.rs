//! What workloads send and read, against vectors of independent implementations.

mod files_vectors;
mod web_vectors;
