//! The body of a reply as its bytes arrive, compared with the first one of its URL. Nothing is kept of one that is equal.

use crate::urls::{Seen, Urls};

#[derive(Default)]
pub(crate) struct ComparedBody {
    /// Bytes so far.
    length: usize,
    /// The first of them that is not that of the first body.
    differs_at: Option<usize>,
    /// Those from there, as far as they are kept.
    rest: Vec<u8>,
}

impl ComparedBody {
    /// Bytes so far.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// Begins another body.
    pub(crate) fn clear(&mut self) {
        (self.length, self.differs_at) = (0, None);
        self.rest.clear();
    }

    /// Compares the next bytes with those of the first body.
    pub(crate) fn feed(&mut self, data: &[u8], urls: &Urls, url: usize) {
        let (first, kept_bytes_max) = (&urls.url(url).body, urls.kept_bytes_max());
        let begin = self.length;
        self.length += data.len();
        if self.differs_at.is_none() {
            if first.get(begin..self.length) == Some(data) {
                return;
            }
            let expected = first.get(begin..).unwrap_or_default();
            let common = data.iter().zip(expected).take_while(|(byte, other)| byte == other).count();
            self.differs_at = Some(begin + common);
            self.rest.extend_from_slice(&data[common..][..(data.len() - common).min(kept_bytes_max)]);
        } else {
            self.rest.extend_from_slice(&data[..data.len().min(kept_bytes_max - self.rest.len())]);
        }
    }

    /// What is wrong with the reply that ends with this body; `None` if nothing is.
    pub(crate) fn fault(&self, urls: &Urls, url: usize, status: u16) -> Option<String> {
        let is_short = self.length < urls.url(url).body.len();
        let differs_at = self.differs_at.or(is_short.then_some(self.length));
        urls.fault(url, &Seen { status, length: self.length, differs_at, rest: &self.rest })
    }
}
