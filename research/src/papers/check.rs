//! Compares the table of the papers with the committed files that it quotes.

use std::path::Path;

use super::data::{Finding, Paper, PaperResult};
use super::numbers::unquoted_numbers;

/// Every number or quotation of the papers that the files below `root` do not have, as a sentence.
pub fn faults(papers: &[Paper], root: &Path) -> Vec<String> {
    let read = |file: &str| std::fs::read_to_string(root.join(file)).map_err(|error| error.to_string());
    faults_in(papers, &read)
}

/// The same with the texts from `read`.
fn faults_in(papers: &[Paper], read: &dyn Fn(&str) -> Result<String, String>) -> Vec<String> {
    let results = papers.iter().flat_map(|paper| &paper.results);
    results.flat_map(|result| result_faults(result, read)).collect()
}

fn result_faults(result: &PaperResult, read: &dyn Fn(&str) -> Result<String, String>) -> Vec<String> {
    let mut faults: Vec<String> = result
        .findings
        .iter()
        .flat_map(|finding| finding_faults(finding, &result.all_published(), read))
        .collect();
    let quotes = result.findings.iter().flat_map(|finding| &finding.quotes).map(String::as_str);
    let published = result.all_published();
    let sources: Vec<&str> = quotes.chain([published.as_str(), result.quantity.as_str()]).collect();
    for (part, text) in [("the reason", &result.because), ("`found`", &result.found)] {
        let unquoted = unquoted_numbers(text.as_deref().unwrap_or_default(), &sources);
        faults.extend(
            unquoted.into_iter().map(|number| format!("{part} has {number}, which no finding quotes")),
        );
    }
    faults.into_iter().map(|fault| format!("result {}: {fault}", result.number)).collect()
}

fn finding_faults(
    finding: &Finding,
    published: &str,
    read: &dyn Fn(&str) -> Result<String, String>,
) -> Vec<String> {
    let file = &finding.file;
    let text = match read(file) {
        Ok(text) => one_line(&text),
        Err(error) => return vec![format!("cannot read {file}: {error}")],
    };
    let absent = finding.quotes.iter().filter(|quote| !text.contains(&one_line(quote)));
    let mut faults: Vec<String> =
        absent.map(|quote| format!("{file} does not contain the quotation `{quote}`")).collect();
    let quotes: Vec<&str> = finding.quotes.iter().map(String::as_str).collect();
    let mut require = |text: &str, sources: &[&str], whose: &str| {
        let unquoted = unquoted_numbers(text, sources);
        faults.extend(unquoted.into_iter().map(|number| format!("{number} stands in no {whose}")));
    };
    let quotation = format!("quotation of {file}");
    require(&finding.text, &quotes, &quotation);
    for ratio in &finding.ratios {
        require(&ratio.found, &quotes, &quotation);
        require(&ratio.published, &[published], "published result");
    }
    faults
}

/// The text with any white space as one space, as a quotation may cross lines.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::data::parse;

    /// A result with one finding, whose sentence and reason are given.
    fn result(quote: &str, text: &str, because: &str) -> Vec<Paper> {
        let file = format!(
            "paper = 'A paper'\nshort = 'A'\n[[result]]\nnumber = '1'\nquantity = 'fall'\npublished = '-19 %'\nfound = '0.87 times'\n\
             verdict = 'in-shape'\nrests_on = ['measured']\nbecause = '{because}'\n[[result.finding]]\n\
             kind = 'measured'\nfile = 'note.md'\nquotes = ['{quote}']\ntext = '{text}'\n\
             ratios = [{{ found = '0.87', published = '-19 %' }}]\n"
        );
        vec![parse("a.toml", &file).expect("a valid file")]
    }

    fn faults_of(papers: &[Paper]) -> Vec<String> {
        faults_in(papers, &|file| {
            let note = "throughput is\n0.87 times (0.78–0.96)\n";
            (file == "note.md").then(|| note.to_owned()).ok_or("No such file".to_owned())
        })
    }

    #[test]
    fn numbers_of_a_quotation_that_crosses_lines_are_accepted() {
        let faults = faults_of(&result("is 0.87 times (0.78–0.96)", "0.87 times", "not 19 but 0.96"));
        assert!(faults.is_empty(), "{faults:?}");
    }

    #[test]
    fn numbers_that_no_quotation_has_are_faults() {
        let faults = faults_of(&result("is 0.87 times", "0.86 times", "a fall of 14"));
        assert_eq!(faults.len(), 2, "{faults:?}");
        assert!(faults[0].contains("0.86 stands in no quotation of note.md"), "{faults:?}");
        assert!(faults[1].contains("the reason has 14"), "{faults:?}");
    }

    #[test]
    fn quotations_that_the_file_lacks_are_faults() {
        let faults = faults_of(&result("0.87 times, exactly", "0.87", "less"));
        assert!(faults[0].contains("note.md does not contain the quotation"), "{faults:?}");
        let mut elsewhere = result("0.87", "0.87", "less");
        elsewhere[0].results[0].findings[0].file = "gone.md".to_owned();
        assert_eq!(faults_of(&elsewhere), ["result 1: cannot read gone.md: No such file"]);
    }
}
