//! Tests of the ad tables and of the search, with hand-made tables.

use super::*;

const EVERYBODY: u32 = 0x3fff_ffff;

fn tables(users: &[u32], change: impl Fn(usize, &mut Ad)) -> AdTables {
    let mut ads = vec![Ad { demographics: 0, weights: 0x12345, minimum: 1, expires_s: 50 }; ADS as usize];
    ads.iter_mut().enumerate().for_each(|(number, ad)| change(number, ad));
    AdTables { now_s: 50, users: users.into(), ads: ads.into() }
}

#[test]
fn groups_are_the_published_masks() {
    for group in &GROUPS {
        assert_eq!(group.mask, ((1 << group.bits) - 1) << group.first);
    }
    assert_eq!(GROUPS.iter().map(|group| group.mask).sum::<u32>(), EVERYBODY);
    let weights = GROUPS.each_ref().map(|group| weight(group.mask, 0x12345));
    assert_eq!(weights, [1, 2, 3, 4, 5], "gender, age, region and two interests");
    assert_eq!(weight(EVERYBODY, 0xfffff), 75);
}

#[test]
fn the_search_begins_after_the_last_ad_and_leaves_it_out() {
    let only =
        |wanted: usize| tables(&[EVERYBODY], move |number, ad| ad.demographics = u32::from(number == wanted));
    for wanted in [0, 1, 7, 358, 359] {
        for last_ad in 0..360 {
            let found = only(wanted).choose(0, last_ad);
            let expected = (wanted != usize::from(last_ad)).then_some(wanted as u16);
            assert_eq!(found.ad, expected, "after {last_ad}");
        }
    }
    let all = tables(&[EVERYBODY], |_, ad| ad.demographics = 1);
    assert_eq!([0, 5, 359].map(|last_ad| all.choose(0, last_ad).ad), [Some(1), Some(6), Some(0)]);
}

#[test]
fn the_weight_must_reach_the_minimum() {
    let tables = tables(&[0x1100_0000, 0x2000_0000], |number, ad| {
        ad.demographics = 0x1100_0000;
        ad.minimum = if number == 9 { 3 } else { 4 };
    });
    assert_eq!(tables.choose(0, 0), AdChoice { ad: Some(9), weight: 3, expired: false });
    assert_eq!(tables.choose(1, 0), AdChoice::NONE);
    assert_eq!(tables.choose(2, 0), AdChoice::NONE, "there are two users");
    assert_eq!(tables.choose(0, 360), AdChoice::NONE, "there are 360 ads");
}

#[test]
fn an_ad_expires_after_its_time() {
    let tables = tables(&[EVERYBODY], |number, ad| {
        ad.demographics = 1;
        ad.expires_s = 48 + number as i64;
    });
    assert_eq!([0, 1, 2].map(|last_ad| tables.choose(0, last_ad).expired), [true, false, false]);
}

#[test]
fn searches_find_various_ads_and_about_half_have_expired() {
    let tables = AdTables::new(7, &TableOptions::default());
    let choices: Vec<_> = (0..100).flat_map(|user| (0..360).map(move |last_ad| (user, last_ad))).collect();
    let choices: Vec<_> = choices.into_iter().map(|(user, last_ad)| tables.choose(user, last_ad)).collect();
    let ads: std::collections::BTreeSet<_> = choices.iter().map(|choice| choice.ad).collect();
    let expired = choices.iter().filter(|choice| choice.expired).count();
    assert!(ads.len() > 200 && !ads.contains(&None), "{}", ads.len());
    assert!((12_000..24_000).contains(&expired), "{expired} of 36,000 have expired");
}

#[test]
fn records_have_the_published_sizes() {
    let tables = AdTables::new(7, &TableOptions { users: USERS_MAX, ..TableOptions::default() });
    let (users, ads) = (tables.user_personality(), tables.custom_ads());
    assert_eq!((users.len(), ads.len()), (15 * 100_000, 39 * 360));
    assert!(users.lines().all(|line| line.len() == 14));
    assert!(ads.lines().all(|line| line.len() == 38));
    let fields: Vec<_> = ads.lines().nth(54).unwrap().split_whitespace().collect();
    assert_eq!((fields[0], fields.len()), ("54", 5));
    assert_eq!(u32::from_str_radix(fields[1], 16).unwrap(), tables.ads[54].demographics);
    assert_eq!(fields[1].len(), 8, "every ad is for one gender");
}

#[test]
fn options_must_fit_into_the_records() {
    let options = TableOptions::default();
    assert!(options.fit());
    for wrong in [
        TableOptions { users: 0, ..options },
        TableOptions { users: USERS_MAX + 1, ..options },
        TableOptions { now_s: 86_399, ..options },
        TableOptions { now_s: 9_999_999_999, ..options },
        TableOptions { now_s: i64::MAX, ..options },
    ] {
        assert!(!wrong.fit(), "{wrong:?}");
    }
}

#[test]
fn cookies_parse_back_and_others_do_not() {
    let choice = AdChoice { ad: Some(359), weight: 75, expired: false };
    for (choice, text) in [
        (choice, "found_cookie=Ad_id=359&Ad_weight=75&Expired=0"),
        (AdChoice::NONE, "found_cookie=Ad_id=-1&Ad_weight=0&Expired=1"),
    ] {
        let mut cookie = Vec::new();
        choice.write_cookie(&mut cookie);
        assert_eq!(cookie, text.as_bytes());
        assert_eq!(AdChoice::parse_cookie(&cookie), Some(choice));
        assert_eq!(AdChoice::parse_cookie(&[&cookie[..], b"; Path=/"].concat()), Some(choice));
    }
    for wrong in [
        "",
        "found_cookie=Ad_id=360&Ad_weight=75&Expired=0",
        "found_cookie=Ad_id=&Ad_weight=75&Expired=0",
        "found_cookie=Ad_id=1&Ad_weight=76&Expired=0",
        "found_cookie=Ad_id=1&Ad_weight=75&Expired=2",
        "found_cookie=Ad_id=1&Ad_weight=75",
        "my_cookie=Ad_id=1&Ad_weight=75&Expired=0",
    ] {
        assert_eq!(AdChoice::parse_cookie(wrong.as_bytes()), None, "{wrong}");
    }
}
