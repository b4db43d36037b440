//! HDR's V2 compressed form of histograms, written, and read without making histograms of it.
//!
//! A histogram of times in ns has some 20,000 buckets, of which an interval of a run fills a few dozen. hdrhistogram
//! reads it in 400 µs, and a thousand shards have 128,000 of them. Tests compare both directions with hdrhistogram.

use std::io::{Read, Write};

use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use hdrhistogram::Histogram;

use crate::LatencyError;
use crate::sums::{TIMES, sum};

/// Version 2 of the HDR encoding, compressed, as the first four bytes say it.
const COMPRESSED: u32 = 0x1c84_9314;
/// Version 2 of the HDR encoding.
const PLAIN: u32 = 0x1c84_9313;
/// Significant digits of all histograms in records.
const DIGITS: u32 = 3;
/// Three digits take 2,048 buckets for each value below that, and half as many for each power of two above.
const HALF_BITS: u32 = 10;
/// More is no histogram of times: all buckets of 64 bits, with nine bytes each.
const BYTES_MAX: u64 = 55 * 1024 * 9;

/// A histogram of three digits in HDR's V2 compressed form, in Base64.
///
/// # Errors
/// A bucket has more times than the form can hold, which is `i64::MAX`.
pub(crate) fn packed(histogram: &Histogram<u64>) -> Result<String, LatencyError> {
    let failed = |why: String| LatencyError::Pack(why);
    let body = body(histogram)?;
    let mut plain = Vec::with_capacity(40 + body.len());
    for number in [PLAIN, body.len() as u32, 0, DIGITS] {
        plain.extend(number.to_be_bytes());
    }
    plain.extend(histogram.low().to_be_bytes());
    plain.extend(histogram.high().to_be_bytes());
    // The ratio of integers to the values that they stand for.
    plain.extend(1.0_f64.to_be_bytes());
    plain.extend(body);
    let mut deflated = ZlibEncoder::new(Vec::new(), Compression::default());
    let deflated = deflated.write_all(&plain).and_then(|()| deflated.finish());
    let deflated = deflated.map_err(|error| failed(error.to_string()))?;
    let head = [COMPRESSED.to_be_bytes(), (deflated.len() as u32).to_be_bytes()];
    Ok(BASE64.encode([head.as_flattened(), &deflated].concat()))
}

/// The counts of the buckets up to the last that has any. A run of empty buckets is one negative number.
fn body(histogram: &Histogram<u64>) -> Result<Vec<u8>, LatencyError> {
    let (mut next, mut out) = (0, Vec::new());
    for recorded in histogram.iter_recorded() {
        let bucket = bucket_of(recorded.value_iterated_to());
        match bucket - next {
            0 => {}
            1 => write_varint(&mut out, 0),
            empty => write_varint(&mut out, from_signed(-(empty as i64))),
        }
        let count = i64::try_from(recorded.count_at_value());
        let count = count.map_err(|_| LatencyError::Pack("a count is above 2^63".to_owned()))?;
        write_varint(&mut out, from_signed(count));
        next = bucket + 1;
    }
    Ok(out)
}

/// Pairs (lowest value of a bucket, how often) of a histogram in HDR's V2 compressed form, in Base64; sorted by value.
///
/// # Errors
/// It is something else, has another precision than three digits, or more times than 64 bits count.
pub(crate) fn unpacked(histogram: &str) -> Result<Vec<(u64, u64)>, LatencyError> {
    let wrong = |why: String| LatencyError::Unpack(why);
    let packed = BASE64.decode(histogram).map_err(|error| wrong(error.to_string()))?;
    let mut rest = &packed[..];
    let cookie = u32_of(&mut rest)?;
    if cookie != COMPRESSED {
        return Err(wrong(format!("it begins with {cookie:#x} instead of {COMPRESSED:#x}")));
    }
    u32_of(&mut rest)?; // its length
    let mut plain = Vec::new();
    let read = ZlibDecoder::new(rest).take(BYTES_MAX).read_to_end(&mut plain);
    read.map_err(|error| wrong(error.to_string()))?;
    counts(&plain)
}

fn counts(mut rest: &[u8]) -> Result<Vec<(u64, u64)>, LatencyError> {
    let rest = &mut rest;
    let wrong = |why: &str| LatencyError::Unpack(why.to_owned());
    if u32_of(rest)? != PLAIN {
        return Err(wrong("it is not version 2"));
    }
    let length = u32_of(rest)? as usize;
    let (offset, digits) = (u32_of(rest)?, u32_of(rest)?);
    let (lowest, _highest, _ratio) = (u64_of(rest)?, u64_of(rest)?, u64_of(rest)?);
    if (offset, digits, lowest) != (0, DIGITS, 1) {
        return Err(wrong("it has another precision than records have"));
    }
    *rest = rest.get(..length).ok_or_else(|| wrong("it is cut short"))?;
    let (mut bucket, mut all) = (0_u64, Vec::new());
    while !rest.is_empty() {
        let number = to_signed(varint(rest)?);
        if number > 0 {
            let value = lowest_value(bucket).ok_or_else(|| wrong("it has too many buckets"))?;
            all.push((value, number.unsigned_abs()));
        }
        // A negative number is that of empty buckets.
        let buckets = if number < 0 { number.unsigned_abs() } else { 1 };
        bucket = bucket.checked_add(buckets).ok_or_else(|| wrong("it has too many buckets"))?;
    }
    sum(TIMES, all.iter().map(|(_, count)| *count))?;
    Ok(all)
}

fn lowest_value(bucket: u64) -> Option<u64> {
    let half = 1 << HALF_BITS;
    let shift = (bucket >> HALF_BITS).saturating_sub(1);
    let digits = if bucket < half { bucket } else { (bucket & (half - 1)) + half };
    (shift <= 53).then(|| digits << shift)
}

/// The bucket that holds `value`: the inverse of [`lowest_value`].
fn bucket_of(value: u64) -> u64 {
    let shift = (u64::BITS - value.leading_zeros()).saturating_sub(HALF_BITS + 1);
    (u64::from(shift) << HALF_BITS) + (value >> shift)
}

fn write_varint(out: &mut Vec<u8>, mut value: u64) {
    for _ in 0..8 {
        if value < 0x80 {
            break;
        }
        out.push(0x80 | (value & 0x7f) as u8);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Seven bits a byte, the lowest first; the ninth byte has eight.
fn varint(rest: &mut &[u8]) -> Result<u64, LatencyError> {
    let mut value = 0;
    for place in 0..9 {
        let [byte] = bytes(rest)?;
        let last = place == 8 || byte < 0x80;
        let bits = if place == 8 { byte } else { byte & 0x7f };
        value |= u64::from(bits) << (7 * place);
        if last {
            break;
        }
    }
    Ok(value)
}

/// Zigzag: small numbers of either sign become small numbers without one.
fn from_signed(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

fn to_signed(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

fn u32_of(rest: &mut &[u8]) -> Result<u32, LatencyError> {
    bytes(rest).map(u32::from_be_bytes)
}

fn u64_of(rest: &mut &[u8]) -> Result<u64, LatencyError> {
    bytes(rest).map(u64::from_be_bytes)
}

fn bytes<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], LatencyError> {
    let (first, others) =
        rest.split_first_chunk().ok_or_else(|| LatencyError::Unpack("it is cut short".to_owned()))?;
    *rest = others;
    Ok(*first)
}

#[cfg(test)]
mod tests {
    use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::Latency;

    /// The same by the library.
    fn of_the_library(histogram: &str) -> Vec<(u64, u64)> {
        let packed = BASE64.decode(histogram).unwrap();
        let histogram: Histogram<u64> = Deserializer::new().deserialize(&mut packed.as_slice()).unwrap();
        let recorded = histogram.iter_recorded();
        let pair = |value, count| (histogram.lowest_equivalent(value), count);
        recorded.map(|bucket| pair(bucket.value_iterated_to(), bucket.count_at_value())).collect()
    }

    fn of_counts(counts: &[(u64, u64)]) -> Histogram<u64> {
        let mut histogram = Histogram::new(3).unwrap();
        counts.iter().for_each(|&(value, count)| histogram.record_n(value, count).unwrap());
        histogram
    }

    /// Packed by the library; `None` for a count that is too large.
    fn packed_by_the_library(histogram: &Histogram<u64>) -> Option<String> {
        let mut packed = Vec::new();
        V2DeflateSerializer::new().serialize(histogram, &mut packed).ok()?;
        Some(BASE64.encode(packed))
    }

    #[test]
    fn it_writes_the_bytes_of_the_library_at_every_limit() {
        for counts in [
            &[(0, 1)][..],
            &[(0, 1), (2, 1), (5, 1)],
            &[(1_023, 1), (1_024, 1 << 7), (2_047, 1 << 14), (2_048, 1 << 62), (2_049, 1)],
            &[(1, i64::MAX as u64), (u64::MAX, i64::MAX as u64)],
            &[(1, i64::MAX as u64 + 1)],
        ] {
            let histogram = of_counts(counts);
            assert_eq!(packed(&histogram).ok(), packed_by_the_library(&histogram), "{counts:?}");
        }
        assert!(packed(&of_counts(&[(1, u64::MAX)])).unwrap_err().to_string().contains("above 2^63"));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

        #[test]
        fn it_writes_the_bytes_of_the_library(
            counts in vec((0..60_u32, any::<u64>(), 1..u64::MAX >> 20), 1..40)
        ) {
            let values = counts.iter().map(|&(bits, value, count)| ((value >> 4) >> bits, count));
            let histogram = of_counts(&values.collect::<Vec<_>>());
            prop_assert_eq!(packed(&histogram).ok(), packed_by_the_library(&histogram));
        }

        #[test]
        fn it_reads_what_the_library_reads(
            counts in vec((0..60_u32, any::<u64>(), 1..u64::MAX >> 20), 1..40)
        ) {
            let values = counts.iter().map(|&(bits, value, count)| ((value >> 4) >> bits, count));
            let latency = Latency::from_counts_ns(&values.collect::<Vec<_>>()).unwrap().unwrap();
            let read = unpacked(&latency.histogram).unwrap();
            prop_assert_eq!(read, of_the_library(&latency.histogram));
        }

        #[test]
        fn damaged_ones_are_refused_or_read(damage in (any::<usize>(), any::<u8>()), cut in 0..60_usize) {
            let latency = Latency::from_counts_ns(&[(1_000, 3), (2_000_000_000, 1)]).unwrap().unwrap();
            let mut packed = BASE64.decode(&latency.histogram).unwrap();
            let place = damage.0 % packed.len();
            packed[place] ^= damage.1;
            packed.truncate(packed.len().saturating_sub(cut));
            let _ = unpacked(&BASE64.encode(packed));
        }
    }

    #[test]
    fn every_kind_of_damage_has_a_reason() {
        let reason = |packed: &[u8]| unpacked(&BASE64.encode(packed)).unwrap_err().to_string();
        assert!(reason(&[]).ends_with("it is cut short"), "{}", reason(&[]));
        assert!(reason(&[1, 2, 3, 4]).contains("begins with 0x1020304 instead of"));
        assert!(unpacked("!").is_err());
        let mut header = Vec::from(PLAIN.to_be_bytes());
        assert!(counts(&header).is_err());
        header.extend([0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 2]);
        header.extend([0; 24]);
        assert!(counts(&header).unwrap_err().to_string().ends_with("another precision than records have"));
    }
}
