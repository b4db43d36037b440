//! The table of the papers: its numbers stand in committed files, its page is current, its commands parse, and its simulated results
//! come out again.

mod commands;
mod papers;
mod simulated;
