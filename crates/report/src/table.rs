//! Tables and texts of the terminal. They are as wide as it is: a narrow one gets fewer columns, and no word is ever broken.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::io::IsTerminal;

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Width, presets};

/// Space between two columns.
const GAP: usize = 2;

/// The narrowest column of words.
const WORDS_MIN: usize = 20;

/// The narrowest width that counts, so that one that makes no sense does no harm.
const WIDTH_MIN: usize = 40;

/// Whether a terminal of this type (`TERM`) can draw over what it shows. One that is `dumb`, or whose type is unknown, cannot.
pub fn can_move_cursor(term: Option<OsString>) -> bool {
    term.is_some_and(|term| !term.is_empty() && term != "dumb")
}

thread_local! {
    /// The width of [`at_width`].
    static GIVEN: Cell<Option<usize>> = const { Cell::new(None) };
}

/// What `write` makes for a terminal with this number of columns.
pub fn at_width<R>(columns: usize, write: impl FnOnce() -> R) -> R {
    let before = GIVEN.replace(Some(columns));
    let made = write();
    GIVEN.set(before);
    made
}

/// The columns of the terminal: those of the variable COLUMNS, or of the terminal itself. `None` if standard output is none, and
/// nothing limits a line.
pub fn width() -> Option<usize> {
    if let Some(columns) = GIVEN.get() {
        return Some(columns);
    }
    let given = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let own = || {
        let is_terminal = std::io::stdout().is_terminal();
        is_terminal
            .then(|| ratatui::crossterm::terminal::size().ok())
            .flatten()
            .map(|(columns, _)| columns.into())
    };
    given.or_else(own).filter(|columns| *columns > 0).map(|columns: usize| columns.max(WIDTH_MIN))
}

/// A column of a table.
pub struct Column {
    title: String,
    content: Content,
    /// Place in the order in which columns give way; 0 stays.
    rank: u8,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Content {
    Name,
    Number,
    Words,
}

impl Column {
    /// A column of names, aligned to the left.
    pub fn name(title: impl Into<String>) -> Column {
        Column { title: title.into(), content: Content::Name, rank: 0 }
    }

    /// A column of numbers with their units, aligned to the right.
    pub fn number(title: impl Into<String>) -> Column {
        Column { content: Content::Number, ..Column::name(title) }
    }

    /// A column of sentences, which take several lines where there is little width.
    pub fn words(title: impl Into<String>) -> Column {
        Column { content: Content::Words, ..Column::name(title) }
    }

    /// The same, for a column that a narrow terminal does not show. Those of the highest rank go first, and all of a rank together.
    #[must_use]
    pub fn less(self, rank: u8) -> Column {
        Column { rank, ..self }
    }
}

/// How a table fits.
struct Layout {
    /// The columns that are shown.
    kept: Vec<usize>,
    /// The width of each column with words, if it is less than they would take.
    words: Option<BTreeMap<usize, usize>>,
    breaks_titles: bool,
}

/// A table of the terminal. It displays itself in its width.
pub struct TextTable {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

impl TextTable {
    /// A table with these columns. Without any title it has no head.
    pub fn new(columns: impl IntoIterator<Item = Column>) -> TextTable {
        TextTable { columns: columns.into_iter().collect(), rows: Vec::new() }
    }

    /// Adds a row with a cell for each column.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        let row: Vec<String> = cells.into_iter().map(Into::into).collect();
        debug_assert_eq!(row.len(), self.columns.len(), "a cell for each column: {row:?}");
        self.rows.push(row);
    }

    /// The text of the table, without a line feed at the end; `width`: columns of the terminal, or no limit.
    pub fn fitted(&self, width: Option<usize>) -> String {
        let Layout { kept, words, breaks_titles } = self.layout(width);
        let mut table = comfy_table::Table::new();
        table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        if self.columns.iter().any(|column| !column.title.is_empty()) {
            table.set_header(kept.iter().map(|at| match breaks_titles {
                true => self.broken_title(*at),
                false => self.columns[*at].title.clone(),
            }));
        }
        for row in &self.rows {
            table.add_row(kept.iter().map(|at| row[*at].as_str()));
        }
        if words.is_some() {
            table.set_content_arrangement(ContentArrangement::Dynamic).set_width(u16::MAX);
        }
        for (column, at) in table.column_iter_mut().zip(&kept) {
            column.set_padding((0, GAP as u16));
            if self.columns[*at].content == Content::Number {
                column.set_cell_alignment(CellAlignment::Right);
            }
            if let Some(room) = words.as_ref().and_then(|words| words.get(at)) {
                column.set_constraint(ColumnConstraint::Absolute(Width::Fixed((room + GAP) as u16)));
            }
        }
        let hidden: Vec<&str> = self
            .columns
            .iter()
            .enumerate()
            .filter(|(at, column)| !kept.contains(at) && !column.title.is_empty())
            .map(|(_, column)| column.title.as_str())
            .collect();
        let text = table.to_string();
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        match hidden.is_empty() {
            true => lines.join("\n"),
            false => format!("{}\n(a wider terminal also shows {})", lines.join("\n"), hidden.join(", ")),
        }
    }

    /// The layout for a terminal of `width` columns. Titles have several lines where the columns that must stay are too wide.
    fn layout(&self, width: Option<usize>) -> Layout {
        let mut kept: Vec<usize> = (0..self.columns.len()).collect();
        let Some(width) = width else { return Layout { kept, words: None, breaks_titles: false } };
        let is_words = |at: &&usize| self.columns[**at].content == Content::Words;
        let rigid = |kept: &[usize], breaks_titles: bool| {
            let taken = |at: &usize| self.natural(*at, breaks_titles) + GAP;
            kept.iter().filter(|at| !is_words(at)).map(taken).sum::<usize>()
        };
        let whole: usize = kept.iter().filter(is_words).map(|at| self.natural(*at, false) + GAP).sum();
        if rigid(&kept, false) + whole <= width + GAP {
            return Layout { kept, words: None, breaks_titles: false };
        }
        loop {
            let least = |at: &usize| self.longest_word(*at).max(WORDS_MIN.min(self.natural(*at, false)));
            let words: BTreeMap<usize, usize> =
                kept.iter().filter(is_words).map(|at| (*at, least(at))).collect();
            let of_words = words.values().map(|room| room + GAP).sum::<usize>();
            let needed = |breaks_titles| rigid(&kept, breaks_titles) + of_words;
            let rank = kept.iter().map(|at| self.columns[*at].rank).max().unwrap_or(0);
            let breaks_titles = rank == 0 && needed(false) > width + GAP;
            if rank == 0 || needed(breaks_titles) <= width + GAP {
                let left = (width + GAP).saturating_sub(needed(breaks_titles));
                let words = (!words.is_empty()).then(|| self.shared(words, left));
                return Layout { kept, words, breaks_titles };
            }
            kept.retain(|at| self.columns[*at].rank < rank);
        }
    }

    /// Columns of words with `left` more, which goes to the narrowest first and to none that needs no more.
    fn shared(&self, mut words: BTreeMap<usize, usize>, left: usize) -> BTreeMap<usize, usize> {
        for _ in 0..left {
            let wanting = words.iter_mut().filter(|(at, room)| **room < self.natural(**at, false));
            match wanting.min_by_key(|(_, room)| **room) {
                Some((_, room)) => *room += 1,
                None => break,
            }
        }
        words
    }

    fn cells(&self, at: usize) -> impl Iterator<Item = &str> {
        let title = self.columns[at].title.as_str();
        std::iter::once(title).chain(self.rows.iter().map(move |row| row[at].as_str()))
    }

    /// The width of a column whose lines are whole, but for those of its title if that is broken.
    fn natural(&self, at: usize, breaks_titles: bool) -> usize {
        let widest =
            |lines: &mut dyn Iterator<Item = &str>| lines.map(|line| line.chars().count()).max().unwrap_or(0);
        match breaks_titles {
            true => {
                let title = self.broken_title(at);
                widest(&mut title.lines().chain(self.cells(at).skip(1).flat_map(str::lines)))
            }
            false => widest(&mut self.cells(at).flat_map(str::lines)),
        }
    }

    /// The title of a column in as many lines as its cells need.
    fn broken_title(&self, at: usize) -> String {
        let title = &self.columns[at].title;
        let pieces: Vec<&str> = title.split_inclusive([' ', ':', ',']).collect();
        let longest = |pieces: &mut dyn Iterator<Item = &str>| {
            pieces.map(|piece| piece.trim_end().chars().count()).max().unwrap_or(0)
        };
        let room = longest(&mut pieces.iter().copied())
            .max(longest(&mut self.cells(at).skip(1).flat_map(str::lines)));
        let mut lines = vec![String::new()];
        for piece in pieces {
            let line = lines.last_mut().expect("it begins with one");
            if !line.is_empty() && line.chars().count() + piece.trim_end().chars().count() > room {
                lines.push(piece.to_owned());
            } else {
                line.push_str(piece);
            }
        }
        lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n")
    }

    fn longest_word(&self, at: usize) -> usize {
        self.cells(at).flat_map(str::split_whitespace).map(|word| word.chars().count()).max().unwrap_or(0)
    }
}

impl fmt::Display for TextTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.fitted(width()))
    }
}

/// The text with every longer line continued below its second column, or, without one, below its beginning.
pub fn fitted(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else { return text.to_owned() };
    text.split_inclusive('\n').map(|line| fitted_line(line, width)).collect()
}

fn fitted_line(line: &str, width: usize) -> String {
    let bare = line.trim_end();
    if bare.chars().count() <= width {
        return line.to_owned();
    }
    let indent = hanging(bare).min(width / 2);
    let start = bare.len() - bare.trim_start().len();
    let (mut lines, mut now) = (Vec::new(), bare[..start].to_owned());
    for word in bare[start..].split_inclusive(' ') {
        let is_first = now.trim().is_empty();
        if !is_first && now.chars().count() + word.trim_end().chars().count() > width && word != " " {
            lines.push(now.trim_end().to_owned());
            now = " ".repeat(indent);
        }
        now.push_str(word);
    }
    lines.push(now);
    lines.join("\n") + &line[bare.len()..]
}

/// Where the second column of a line begins: after its first two spaces.
fn hanging(line: &str) -> usize {
    let start = line.len() - line.trim_start().len();
    let gap = line[start..].find("  ").map(|gap| start + gap);
    let second = gap
        .map(|gap| line[..gap].chars().count() + line[gap..].chars().take_while(|one| *one == ' ').count());
    second.unwrap_or(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> TextTable {
        let mut table = TextTable::new([
            Column::name("cell"),
            Column::number("messages/s"),
            Column::number("p99").less(1),
            Column::name("in turn").less(2),
            Column::words("verdict"),
        ]);
        table.row([
            "rooms-5",
            "13,418",
            "24.7 ms",
            "▅█▁",
            "valid after five trials, which are within two per cent",
        ]);
        table.row(["rooms-10", "9,311", "31.0 ms", "▁█▅", "failed"]);
        table
    }

    #[test]
    fn a_dumb_terminal_gets_plain_lines() {
        let can = |term: Option<&str>| can_move_cursor(term.map(OsString::from));
        assert!(can(Some("xterm-256color")) && can(Some("linux")));
        assert!(!can(Some("dumb")) && !can(Some("")) && !can(None));
    }

    #[test]
    fn a_narrow_table_has_fewer_columns_and_whole_words() {
        let table = table();
        let widths = |text: &str| text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(table.fitted(None).lines().all(|line| !line.contains("wider")));
        let wide = table.fitted(Some(100));
        assert_eq!(wide.lines().count(), 3, "{wide}");
        assert_eq!(
            wide.lines().nth(2).unwrap().find("9,311"),
            wide.lines().nth(1).unwrap().find("3,418"),
            "{wide}"
        );
        let middle = table.fitted(Some(64));
        assert!(widths(&middle) <= 64 && middle.contains("in turn"), "{middle}");
        let narrow = table.fitted(Some(45));
        assert!(
            widths(&narrow) <= 46 && narrow.contains("(a wider terminal also shows p99, in turn)"),
            "{narrow}"
        );
        for text in [&wide, &middle, &narrow] {
            for word in "valid after five trials, which are within two per cent".split(' ') {
                assert!(text.contains(word), "{word}: {text}");
            }
        }
    }

    /// The title of a column of numbers has as many lines as it takes to keep the column narrow.
    #[test]
    fn long_titles_are_broken_between_their_words() {
        let mut table = TextTable::new([
            Column::name("mean"),
            Column::number("java-threads@25:gc=zgc,heap=256m (base)"),
            Column::number("jetty@25:threads=platform"),
            Column::name("").less(1),
            Column::words(""),
        ]);
        table.row(["server CPU per message", "100 µs", "81.0 µs", "──●─│──", "19 % less (17–21 %)"]);
        let text = table.fitted(Some(80));
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(text.contains("19 % less (17–21 %)") && !text.contains("──●─│──"), "{text}");
        for word in ["java-threads@25:", "gc=zgc,", "heap=256m", "(base)", "jetty@25:", "threads=platform"] {
            assert!(text.contains(word), "{word}: {text}");
        }
    }

    /// A column with a long word leaves another less room, and not more than there is.
    #[test]
    fn columns_of_words_share_the_room_by_their_longest_words() {
        let mut table = TextTable::new([Column::name("name"), Column::words("what"), Column::words("here")]);
        let version = "17.0.21.1+2-1-deb12u1-Debian";
        table.row([
            "java-selector-coalesce@17",
            "Java: NIO event loops, batched deliveries",
            &format!("OpenJDK 64-Bit Server VM {version}"),
        ]);
        let text = table.fitted(Some(80));
        assert!(text.lines().all(|line| line.chars().count() <= 80) && text.contains(version), "{text}");
    }

    #[test]
    fn a_long_line_is_continued_below_its_second_column() {
        let text =
            "crowd     native; ten rooms of twenty users who say one hundred messages each\nshort\n\n  a b\n";
        let expected = "crowd     native; ten rooms of twenty\n          users who say one hundred\n          messages each\nshort\n\n  a b\n";
        assert_eq!(fitted(text, Some(40)), expected);
        assert_eq!(fitted(text, None), text);
        assert_eq!(fitted("one two three", Some(8)), "one two\nthree");
        let path = "records: /a/path/that/is/longer/than/the/terminal/is/wide";
        assert!(fitted(path, Some(20)).contains("/a/path/that/is/longer/than/the/terminal/is/wide"));
    }
}
