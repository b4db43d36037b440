//! Reports against snapshots, and pages in a browser.

mod browser;
mod exact;
mod golden;
mod histograms;
mod pprof;
mod support;
mod terminal;
mod viewer;
mod why;
