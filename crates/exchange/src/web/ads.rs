//! The tables User.Personality and Custom.Ads, and the search for the ad that a page shows to a user.

use std::fmt::Write;

use super::tags::ADS;
use crate::random::{Part, output, part_seed, scale};

/// The number in the cookie of the first user.
pub const FIRST_USER: u32 = 10_000;
/// Most users that the five digits of a record in User.Personality can number.
pub const USERS_MAX: u32 = 100_000;
/// Bytes of a record in User.Personality, its LF included.
pub const USER_RECORD_BYTES: usize = 15;
/// Bytes of a record in Custom.Ads, its LF included.
pub const AD_RECORD_BYTES: usize = 39;
/// The largest sum of the weights of an ad that a minimum can ask for.
const MINIMUM_MAX: u32 = 30;
/// Latest time that the ten digits of a record in Custom.Ads can hold.
const TIME_MAX_S: i64 = 9_999_999_999;

/// A group of characteristics: gender, age, region and two interests.
struct Group {
    mask: u32,
    /// The first of its bits.
    first: u32,
    /// Number of its characteristics, each of which is one bit.
    bits: u32,
}

const GROUPS: [Group; 5] = [
    Group { mask: 0x3000_0000, first: 28, bits: 2 },
    Group { mask: 0x0f00_0000, first: 24, bits: 4 },
    Group { mask: 0x00f0_0000, first: 20, bits: 4 },
    Group { mask: 0x000f_fc00, first: 10, bits: 10 },
    Group { mask: 0x0000_03ff, first: 0, bits: 10 },
];

/// The parameters of the tables, which the command Reset sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableOptions {
    /// Number of users, 1 to [`USERS_MAX`].
    pub users: u32,
    /// The time of reference, in seconds since 1970. Ads expire relative to it, and a server without a clock takes it
    /// for the present.
    pub now_s: i64,
    /// When an ad expires, in seconds after the time of reference: each ad has one of the two.
    pub expiry_s: [i64; 2],
}

impl TableOptions {
    /// One day before and one day after the time of reference, so that clocks need not agree exactly.
    pub const EXPIRY_S: [i64; 2] = [-86_400, 86_400];

    /// Whether all values fit into the records.
    pub fn fit(&self) -> bool {
        let fits = |expiry_s: i64| {
            self.now_s.checked_add(expiry_s).is_some_and(|time_s| (0..=TIME_MAX_S).contains(&time_s))
        };
        (1..=USERS_MAX).contains(&self.users) && fits(0) && self.expiry_s.into_iter().all(fits)
    }
}

impl Default for TableOptions {
    fn default() -> Self {
        TableOptions { users: 1000, now_s: 1_000_000_000, expiry_s: TableOptions::EXPIRY_S }
    }
}

/// One record of Custom.Ads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ad {
    demographics: u32,
    /// Five times four bits: the weights of the groups, the first in the highest bits.
    weights: u32,
    minimum: u32,
    expires_s: i64,
}

/// Both tables for one seed.
pub struct AdTables {
    now_s: i64,
    /// The characteristics of each user.
    users: Box<[u32]>,
    ads: Box<[Ad]>,
}

impl AdTables {
    /// Computes both tables from a seed.
    ///
    /// # Panics
    /// If the options do not [`fit`](TableOptions::fit).
    pub fn new(seed: u64, options: &TableOptions) -> AdTables {
        assert!(options.fit(), "{options:?} do not fit into the tables");
        let (users_seed, ads_seed) = (part_seed(seed, Part::Users), part_seed(seed, Part::Ads));
        let users = (0..options.users).map(|user| demographics(output(users_seed, user.into())));
        let ads = (0..u64::from(ADS)).map(|ad| {
            let bits = output(ads_seed, 2 * ad + 1);
            // A weight of 0 would make a group count for nothing.
            let weights = (0..5).fold(0, |weights, group| weights << 4 | (1 + pick(bits, group, 15)));
            Ad {
                demographics: demographics(output(ads_seed, 2 * ad)),
                weights,
                minimum: 1 + pick(bits, 5, MINIMUM_MAX),
                expires_s: options.now_s + options.expiry_s[pick(bits, 6, 2) as usize],
            }
        });
        AdTables { now_s: options.now_s, users: users.collect(), ads: ads.collect() }
    }

    /// Finds the ad for a user (an index in User.Personality) whose last ad was `last_ad`: the first after it whose weight
    /// is at least its minimum. `last_ad` itself is not considered. Returns [`AdChoice::NONE`] if there is no such ad,
    /// no such user or no ad `last_ad`.
    pub fn choose(&self, user: u32, last_ad: u16) -> AdChoice {
        let Some(user) = self.users.get(user as usize) else { return AdChoice::NONE };
        let last = usize::from(last_ad);
        if last >= self.ads.len() {
            return AdChoice::NONE;
        }
        let (before, after) = (&self.ads[..last], &self.ads[last + 1..]);
        let mut distance = 0;
        for ad in after.iter().chain(before) {
            distance += 1;
            let weight = weight(user & ad.demographics, ad.weights);
            if weight >= ad.minimum {
                let number = (last + distance) % self.ads.len();
                return AdChoice { ad: Some(number as u16), weight, expired: self.now_s > ad.expires_s };
            }
        }
        AdChoice::NONE
    }

    /// The text of User.Personality: records of number and characteristics in hexadecimal, of 15 bytes.
    pub fn user_personality(&self) -> String {
        let mut text = String::with_capacity(self.users.len() * USER_RECORD_BYTES);
        for (user, demographics) in self.users.iter().enumerate() {
            let _ = writeln!(text, "{user:5} {demographics:8X}");
        }
        text
    }

    /// The text of Custom.Ads: records of number, characteristics and weights in hexadecimal, minimum, and the time of
    /// expiry in seconds since 1970, of 39 bytes.
    pub fn custom_ads(&self) -> String {
        let mut text = String::with_capacity(self.ads.len() * AD_RECORD_BYTES);
        for (number, Ad { demographics, weights, minimum, expires_s }) in self.ads.iter().enumerate() {
            let _ = writeln!(text, "{number:5} {demographics:8X} {weights:8X} {minimum:3} {expires_s:10}");
        }
        text
    }
}

/// The result of a search for an ad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdChoice {
    /// The number of the ad, if there is one.
    pub ad: Option<u16>,
    /// The sum of the weights of the groups in which user and ad overlap.
    pub weight: u32,
    /// The ad's time of expiry is over. It is shown nevertheless.
    pub expired: bool,
}

impl AdChoice {
    /// No ad matches, and the tags of the page stay as they are.
    pub const NONE: AdChoice = AdChoice { ad: None, weight: 0, expired: true };

    /// Appends the value of the header Set-Cookie in the reply.
    pub fn write_cookie(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"found_cookie=Ad_id=");
        match self.ad {
            Some(ad) => super::text::push_decimal(out, ad.into()),
            None => out.extend_from_slice(b"-1"),
        }
        out.extend_from_slice(b"&Ad_weight=");
        super::text::push_decimal(out, self.weight.into());
        out.extend_from_slice(if self.expired { b"&Expired=1" } else { b"&Expired=0" });
    }

    /// Parses the value of a header Set-Cookie. Attributes after a semicolon are ignored.
    pub fn parse_cookie(value: &[u8]) -> Option<AdChoice> {
        let value = value.split(|&byte| byte == b';').next()?;
        let value = std::str::from_utf8(value).ok()?.strip_prefix("found_cookie=Ad_id=")?;
        let (ad, rest) = value.split_once("&Ad_weight=")?;
        let (weight, expired) = rest.split_once("&Expired=")?;
        let ad = match ad {
            "-1" => None,
            ad => Some(super::text::decimal(ad.as_bytes(), u64::from(ADS) - 1)? as u16),
        };
        let weight = super::text::decimal(weight.as_bytes(), 75)? as u32;
        let expired = match expired {
            "0" => false,
            "1" => true,
            _ => return None,
        };
        Some(AdChoice { ad, weight, expired })
    }
}

/// Byte `number` of `bits`, scaled to a number below `limit`.
fn pick(bits: u64, number: u32, limit: u32) -> u32 {
    let byte = (bits >> (8 * number)) as u8;
    scale(u32::from(byte) << 24, limit)
}

/// One characteristic of each group.
fn demographics(bits: u64) -> u32 {
    let one = |(number, group): (usize, &Group)| 1 << (group.first + pick(bits, number as u32, group.bits));
    GROUPS.iter().enumerate().map(one).sum()
}

/// The sum of the weights of the groups in which any bit of `overlap` is.
fn weight(overlap: u32, weights: u32) -> u32 {
    let in_group = |(number, group): (usize, &Group)| {
        let weight = weights >> (16 - 4 * number) & 15;
        if overlap & group.mask == 0 { 0 } else { weight }
    };
    GROUPS.iter().enumerate().map(in_group).sum()
}

#[cfg(test)]
#[path = "ads_tests.rs"]
mod tests;
