//! Frames against vectors and a peer of another library.

mod peer;
mod vectors;
