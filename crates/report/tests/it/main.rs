//! Reports against snapshots and in a browser.

mod browser;
mod golden;
mod support;
