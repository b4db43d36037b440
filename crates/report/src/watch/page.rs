//! The page that draws a run as it happens.

use askama::Template;

use crate::write::{COLORS, HtmlError, policy};

/// The scripts in the order of their execution.
const SCRIPTS: [&str; 4] = [
    include_str!("../../assets/watch/charts.js"),
    include_str!("../../assets/watch/watch.js"),
    include_str!("../../assets/watch/talk.js"),
    include_str!("../../assets/watch/start.js"),
];

#[derive(Template)]
#[template(path = "watch.html")]
struct Page {
    policy: String,
    colors: &'static str,
    style: &'static str,
    scripts: &'static [&'static str],
}

/// The page, which asks its own host for `events` and opens WebSockets on this machine only.
///
/// # Errors
/// Rendering the template failed.
pub fn watch_page() -> Result<String, HtmlError> {
    let page = Page {
        policy: format!("{}; connect-src 'self' ws://127.0.0.1:*", policy(&SCRIPTS)),
        colors: COLORS,
        style: include_str!("../../assets/watch/watch.css"),
        scripts: &SCRIPTS,
    };
    Ok(page.render()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_small_and_names_no_other_host() {
        let page = watch_page().unwrap();
        assert!(page.len() <= 30_000, "{} bytes", page.len());
        assert_eq!(page.matches("://").count(), page.matches("ws://127.0.0.1:*").count());
        assert!(!page.contains("innerHTML") && !page.contains("document.write"), "text is only ever text");
        assert!(SCRIPTS.iter().all(|script| !script.contains("</script") && !script.contains("<!--")));
    }
}
