//! Drives headless Chromium by its DevTools protocol over pipes: JSON messages, each ended by a NUL.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// A browser with one page.
pub struct Chromium {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    session: Option<String>,
    sent: u64,
    /// Errors that the page reported, and network requests that it attempted to others than its own host.
    pub complaints: Vec<String>,
    /// Start of the addresses that the page may ask for.
    own: String,
    /// Number of files saved so far.
    saved: u32,
    folder: tempfile::TempDir,
}

impl Chromium {
    /// Starts a browser.
    ///
    /// # Panics
    /// There is none, or it does not answer.
    #[allow(clippy::new_without_default, reason = "it starts a process")]
    pub fn start() -> Chromium {
        let folder = tempfile::tempdir().expect("a folder for the browser");
        // The browser reads from descriptor 3 and writes to 4.
        let mut child = Command::new("sh")
            .args(["-c", "exec timeout 300 chromium \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1", "sh"])
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
                "--remote-debugging-pipe",
            ])
            .arg("--disable-dev-shm-usage")
            .arg(format!("--user-data-dir={}", folder.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("sh can be started");
        let input = child.stdin.take().expect("it was piped");
        let output = BufReader::new(child.stdout.take().expect("it was piped"));
        let mut browser = Chromium {
            child,
            input,
            output,
            session: None,
            sent: 0,
            complaints: Vec::new(),
            own: String::new(),
            saved: 0,
            folder,
        };
        let page = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": page["targetId"], "flatten": true });
        let session = browser.call("Target.attachToTarget", attach);
        let saving = browser.folder.path().join("saved");
        let saving = json!({ "behavior": "allow", "downloadPath": saving, "eventsEnabled": true });
        browser.call("Browser.setDownloadBehavior", saving);
        browser.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Runtime", "Log", "Network", "Page"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// Opens a page with this HTML at this width, and waits until it is drawn.
    ///
    /// # Panics
    /// The browser does not answer.
    pub fn open(&mut self, html: &str, width: u32, dark: bool) {
        let path = self.folder.path().join("report.html");
        std::fs::write(&path, html).expect("the page can be written");
        self.visit(&format!("file://{}", path.display()), width, dark);
        self.settle();
    }

    /// Opens the page at this address at this width, and waits until it is loaded.
    ///
    /// # Panics
    /// The browser does not answer.
    pub fn visit(&mut self, url: &str, width: u32, dark: bool) {
        url.clone_into(&mut self.own);
        let size = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", size);
        let scheme =
            json!([{ "name": "prefers-color-scheme", "value": if dark { "dark" } else { "light" } }]);
        self.call("Emulation.setEmulatedMedia", json!({ "features": scheme }));
        self.call("Page.navigate", json!({ "url": url }));
        self.until("Page.loadEventFired");
    }

    /// Waits until a condition of the page is true.
    ///
    /// # Panics
    /// The browser does not answer; it ends after a time limit.
    pub fn wait_for(&mut self, condition: &str) {
        self.evaluate(&format!(
            "new Promise((done) => {{
                const look = () => ({condition}) ? done(true) : setTimeout(look, 20);
                look();
            }})"
        ));
    }

    /// Waits until every figure is drawn and the layout is stable.
    ///
    /// # Panics
    /// The browser does not answer.
    pub fn settle(&mut self) {
        self.evaluate(
            "new Promise((done) => {
                const look = () => {
                    const figures = [...document.querySelectorAll('figure')];
                    if (figures.every((figure) => figure.querySelector('.plot svg'))) {
                        requestAnimationFrame(() => requestAnimationFrame(() => done(true)));
                    } else requestAnimationFrame(look);
                };
                look();
            })",
        );
    }

    /// The value of a script in the page; promises are awaited.
    ///
    /// # Panics
    /// The script throws, or the browser does not answer.
    pub fn evaluate(&mut self, script: &str) -> Value {
        let parameters = json!({ "expression": script, "awaitPromise": true, "returnByValue": true });
        let result = self.call("Runtime.evaluate", parameters);
        assert!(result["exceptionDetails"].is_null(), "{script}: {}", result["exceptionDetails"]);
        result["result"]["value"].clone()
    }

    /// Presses a key in the focused element.
    ///
    /// # Panics
    /// The browser does not answer.
    pub fn press(&mut self, key: &str) {
        for kind in ["keyDown", "keyUp"] {
            self.call("Input.dispatchKeyEvent", json!({ "type": kind, "key": key }));
        }
    }

    /// Clicks the selected element, waits for the file that it saves, and returns its name and text.
    ///
    /// # Panics
    /// The browser does not answer.
    pub fn saved(&mut self, selector: &str) -> (String, String) {
        let before = self.saved;
        self.evaluate(&format!("document.querySelector({selector:?}).click()"));
        while self.saved == before {
            self.next();
        }
        let folder = self.folder.path().join("saved");
        let mut files: Vec<_> = std::fs::read_dir(folder).expect("a file was saved").flatten().collect();
        files
            .sort_by_key(|file| file.metadata().and_then(|data| data.modified()).expect("a file has a time"));
        let file = files.last().expect("a file was saved");
        let text = std::fs::read_to_string(file.path()).expect("it is text");
        (file.file_name().to_string_lossy().into_owned(), text)
    }

    fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.sent += 1;
        let mut message = json!({ "id": self.sent, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let sent = write!(self.input, "{message}\0").and_then(|()| self.input.flush());
        sent.unwrap_or_else(|error| self.gone(&error.to_string()));
        loop {
            let answer = self.next();
            if answer["id"] == self.sent {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
        }
    }

    fn until(&mut self, event: &str) {
        while self.next()["method"] != event {}
    }

    /// The next message. Errors of the page are collected in `complaints`.
    fn next(&mut self) -> Value {
        let mut bytes = Vec::new();
        let read = self.output.read_until(0, &mut bytes);
        if !read.as_ref().is_ok_and(|read| *read > 0) {
            self.gone("its pipe has ended");
        }
        bytes.pop();
        let message: Value = serde_json::from_slice(&bytes).expect("the browser writes JSON");
        let parameters = &message["params"];
        match message["method"].as_str().unwrap_or_default() {
            "Runtime.exceptionThrown" => self.complaints.push(parameters["exceptionDetails"].to_string()),
            "Runtime.consoleAPICalled" => self.complaints.push(parameters["args"].to_string()),
            "Log.entryAdded" => self.complaints.push(parameters["entry"].to_string()),
            "Network.requestWillBeSent" => {
                let url = parameters["request"]["url"].as_str().unwrap_or_default();
                if !url.starts_with(self.own.as_str())
                    && !url.starts_with("data:")
                    && !url.starts_with("blob:")
                {
                    self.complaints.push(format!("it asked for {url}"));
                }
            }
            "Browser.downloadProgress" if parameters["state"] == "completed" => self.saved += 1,
            _ => {}
        }
        message
    }

    fn gone(&mut self, why: &str) -> ! {
        let status = self.child.wait();
        panic!("Chromium does not answer ({why}, {status:?}); scripts/setup.sh test-all installs it");
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // On `Browser.close` the browser ends all of its processes.
        let _ = write!(self.input, "{}\0", json!({ "id": 0, "method": "Browser.close" }));
        let _ = self.input.flush();
        while self.output.read_until(0, &mut Vec::new()).is_ok_and(|read| read > 0) {}
        let _ = self.child.wait();
    }
}
