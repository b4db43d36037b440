//! Platforms of the classic VolanoMark test.

use crate::catalog::catalog;
use crate::classic_crowd::ClassicCrowd;
use crate::platform_error::PlatformError;
use crate::resolve::{DEFAULTS, PlatformRequest, unknown};
use crate::setting::Setting;

/// The platform and the crowd of the classic test: that of the request, else the default.
///
/// # Errors
/// The platform does not exist, or is none of the classic test.
pub fn classic_test(request: &PlatformRequest) -> Result<(String, ClassicCrowd), PlatformError> {
    let name = request.name.as_deref().unwrap_or(DEFAULTS[0]);
    let base = name.split('@').next().unwrap_or(name);
    let entries = catalog(request.catalog.as_deref())?;
    let crowd = entries.iter().find(|entry| entry.name == base).map(|entry| entry.classic_crowd);
    match crowd {
        Some(Some(crowd)) => Ok((name.to_owned(), crowd)),
        Some(None) => {
            let classic = entries.iter().filter(|entry| entry.classic_crowd.is_some());
            let available = classic.map(|entry| entry.name.as_str()).collect::<Vec<_>>().join(" or ");
            Err(PlatformError::NotClassic { name: base.to_owned(), available })
        }
        None => Err(unknown(base, &entries)),
    }
}

/// Adds the yields of the classic test to settings that do not mention them.
pub fn add_classic_yield(settings: &mut Vec<Setting>) {
    const YIELD: &str = "yield";
    if !settings.iter().any(|setting| setting.name == YIELD) {
        settings.push(Setting { name: YIELD.to_owned(), value: "on".to_owned() });
    }
}
