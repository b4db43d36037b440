//! Platforms of the VolanoMark test.

use crate::catalog::catalog;
use crate::platform_error::PlatformError;
use crate::resolve::{DEFAULTS, PlatformRequest, unknown};
use crate::setting::Setting;
use crate::volanomark_crowd::VolanoMarkCrowd;

/// The platform and the crowd of the VolanoMark test: that of the request, else the default.
///
/// # Errors
/// The platform does not exist, or is none of the VolanoMark test.
pub fn volanomark_test(request: &PlatformRequest) -> Result<(String, VolanoMarkCrowd), PlatformError> {
    let name = request.name.as_deref().unwrap_or(DEFAULTS[0]);
    let base = name.split('@').next().unwrap_or(name);
    let entries = catalog(request.catalog.as_deref())?;
    let crowd = entries.iter().find(|entry| entry.name == base).map(|entry| entry.volanomark_crowd);
    match crowd {
        Some(Some(crowd)) => Ok((name.to_owned(), crowd)),
        Some(None) => {
            let with_crowd = entries.iter().filter(|entry| entry.volanomark_crowd.is_some());
            let available = with_crowd.map(|entry| entry.name.as_str()).collect::<Vec<_>>().join(" or ");
            Err(PlatformError::NotVolanoMark { name: base.to_owned(), available })
        }
        None => Err(unknown(base, &entries)),
    }
}

/// Adds the yields of the VolanoMark test to settings that do not mention them.
pub fn add_volanomark_yield(settings: &mut Vec<Setting>) {
    const YIELD: &str = "yield";
    if !settings.iter().any(|setting| setting.name == YIELD) {
        settings.push(Setting { name: YIELD.to_owned(), value: "on".to_owned() });
    }
}
