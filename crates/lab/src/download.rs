//! Downloads a kernel once, checks it, and caches it.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use klatch_host::privileges::{Program, cache_folder, sha256_hex, temporary_folder};

use crate::debian_mirror::debian_mirror;
use crate::error::LabError;
use crate::kernels::{Kernel, Package, Part};
use crate::package::each_file;
use crate::preparing::{Preparing, watched};

/// Longest time for a download: 50 MB at 85 kB/s.
const DOWNLOAD_TIMEOUT: Duration = Duration::from_secs(600);
/// Longest time without an answer to a connection, or without a byte.
const SILENCE_MAX: Duration = Duration::from_secs(30);
/// Bytes of a download between two updates of what is shown.
const PART_BYTES: u64 = 256 * 1024;

/// Path of the cached kernel, downloaded if it is missing; checked in both cases. `progress` receives what is downloaded.
///
/// # Errors
/// See [`LabError`].
pub(crate) fn kernel_file(
    kernel: &'static Kernel,
    progress: impl Fn(Preparing<'_>),
) -> Result<PathBuf, LabError> {
    Ok(cached(kernel, &kernel.image, progress)?.0)
}

/// The configuration of a kernel.
///
/// # Errors
/// See [`LabError`].
pub(crate) fn kernel_config(
    kernel: &'static Kernel,
    progress: impl Fn(Preparing<'_>),
) -> Result<Vec<u8>, LabError> {
    Ok(cached(kernel, &kernel.config, progress)?.1)
}

/// The modules that make up the module `name` of a kernel, in the order in which they are to be loaded.
///
/// # Errors
/// The kernel has no such module here; or see [`LabError`].
pub(crate) fn module_files(
    kernel: &'static Kernel,
    name: &str,
    progress: impl Fn(Preparing<'_>),
) -> Result<Vec<Vec<u8>>, LabError> {
    let unpacked = |module: &Part| {
        let (path, packed) = cached(kernel, module, &progress)?;
        let mut bytes = Vec::new();
        let mut decoder = liblzma::read::XzDecoder::new(&packed[..]);
        decoder.read_to_end(&mut bytes).map_err(|source| LabError::File { what: "unpack", path, source })?;
        Ok(bytes)
    };
    kernel.modules_for(name)?.iter().map(unpacked).collect()
}

/// Path and content of a part of the kernel's packages. If it is missing, its package is downloaded and all parts of it are saved.
fn cached(
    kernel: &'static Kernel,
    part: &Part,
    progress: impl Fn(Preparing<'_>),
) -> Result<(PathBuf, Vec<u8>), LabError> {
    let cache = cache_folder()?;
    let folder = cache.path();
    let file_name = |part: &Part| format!("{}-{}", part.name, kernel.version);
    let path = folder.join(file_name(part));
    // No other user can write to the folder, so the file stays as it was checked.
    match std::fs::read(&path) {
        Ok(bytes) => {
            check(&bytes, part.sha256, &path.display().to_string(), &path)?;
            return Ok((path, bytes));
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(source) => return Err(LabError::File { what: "read", path, source }),
    }
    let package = kernel.package_of(part);
    let what = format!("downloading the kernel {} once, to {}", kernel.version, folder.display());
    progress(Preparing::Download { what: &what, bytes: Some(package.bytes) });
    let bytes = download(kernel, package, folder, |bytes| progress(Preparing::Received(bytes)))?;
    check(&bytes, package.sha256, &format!("the package of the kernel {}", kernel.version), &path)?;
    let parts = unpack(&bytes, kernel, package)
        .map_err(|error| LabError::Package { version: kernel.version, cause: error.to_string() })?;
    for (part, bytes) in &parts {
        check(bytes, part.sha256, &format!("{} in the package of the kernel", part.name), &path)?;
        let save = |source| LabError::file("save the kernel as", &path, source);
        cache.write(&file_name(part), bytes).map_err(save)?;
    }
    let wanted = parts.into_iter().find(|(other, _)| other.name == part.name);
    let missing =
        || LabError::Package { version: kernel.version, cause: format!("it contains no {}", part.name) };
    Ok((path, wanted.ok_or_else(missing)?.1))
}

fn check(bytes: &[u8], expected: &'static str, what: &str, path: &Path) -> Result<(), LabError> {
    let got = sha256_hex(bytes);
    if got == expected {
        return Ok(());
    }
    Err(LabError::Checksum { what: what.to_owned(), path: path.to_owned(), expected, got })
}

fn download(
    kernel: &'static Kernel,
    package: &Package,
    folder: &Path,
    received: impl Fn(u64),
) -> Result<Vec<u8>, LabError> {
    let mirror = debian_mirror();
    let mut causes = Vec::new();
    if mirror.is_none() {
        causes.push("apt has no Debian mirror here, set DEBIAN_MIRROR to the address of one".to_owned());
    }
    for url in kernel.urls(package, mirror.as_deref()) {
        let bytes = match url.starts_with("http:") {
            true => fetch(&url, package.bytes, DOWNLOAD_TIMEOUT, &received),
            false => fetch_by_apt(&url, &received),
        };
        match bytes {
            Ok(bytes) => return Ok(bytes),
            Err(error) => causes.push(format!("{url}: {error}")),
        }
    }
    Err(LabError::Fetch { version: kernel.version, cause: causes.join("; "), cache: folder.to_owned() })
}

/// Downloads at most one byte more than expected, which is enough for the checksum to fail.
fn fetch(
    url: &str,
    bytes: u64,
    timeout: Duration,
    received: impl Fn(u64),
) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let silence_max = Some(SILENCE_MAX.min(timeout));
    let limits = ureq::Agent::config_builder()
        .timeout_global(Some(timeout))
        .timeout_connect(silence_max)
        .timeout_recv_response(silence_max)
        .timeout_per_read(silence_max);
    let mut response = limits.build().new_agent().get(url).call()?;
    let mut package = Vec::new();
    let mut content = response.body_mut().as_reader().take(bytes + 1);
    while content.by_ref().take(PART_BYTES).read_to_end(&mut package)? > 0 {
        received(package.len() as u64);
    }
    Ok(package)
}

/// Downloads with apt, which has the certificates and proxies of its configured mirror.
fn fetch_by_apt(url: &str, received: impl Fn(u64)) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let folder = temporary_folder()?;
    let package = folder.path().join("package");
    let mut apt = Program::new("/usr/lib/apt/apt-helper");
    let silence_max = SILENCE_MAX.as_secs();
    for scheme in ["http", "https"] {
        apt.arg(format!("--option=Acquire::{scheme}::Timeout={silence_max}"));
    }
    apt.arg("download-file").arg(url).arg(&package);
    let output = watched(folder.path(), received, || apt.output_within(DOWNLOAD_TIMEOUT));
    let output = output.map_err(|error| match error.kind() {
        std::io::ErrorKind::TimedOut => format!("apt: {error}"),
        _ => format!("only apt can download from such an address: {error}"),
    })?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().replace('\n', ", ").into());
    }
    Ok(std::fs::read(&package)?)
}

/// The parts in a Debian package.
fn unpack<'a>(
    content: &[u8],
    kernel: &'a Kernel,
    package: &Package,
) -> std::io::Result<Vec<(&'a Part, Vec<u8>)>> {
    let mut parts = Vec::new();
    each_file(content, |path, content| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if let Some(part) = kernel.parts_of(package).find(|part| is_file_of(&name, part)) {
            let mut bytes = Vec::new();
            content.read_to_end(&mut bytes)?;
            parts.push((part, bytes));
        }
        Ok(())
    })?;
    Ok(parts)
}

/// Whether a file has the name of a part: the kernel's is followed by its version, a module's by its kind.
fn is_file_of(name: &str, part: &Part) -> bool {
    name.strip_prefix(part.name)
        .is_some_and(|rest| rest.starts_with('-') || rest == ".ko.xz" || rest.is_empty())
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};
    use std::time::Instant;

    use super::*;

    /// The error of a download from a server that does this with the connection, and goes on doing it.
    fn error_of(serve: impl Fn(TcpStream) + Send + 'static) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/package.deb", listener.local_addr().unwrap());
        std::thread::spawn(move || listener.accept().map(|(connection, _)| serve(connection)));
        let started = Instant::now();
        let error = fetch(&url, 1_000, Duration::from_millis(300), |_| {}).unwrap_err().to_string();
        assert!(started.elapsed() < Duration::from_secs(20), "{error}");
        error
    }

    /// Returns when the other side has closed the connection.
    fn wait_for_close(mut connection: TcpStream) {
        let _ = std::io::copy(&mut connection, &mut std::io::sink());
    }

    const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n";

    #[test]
    fn a_download_says_how_much_is_here() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/package.deb", listener.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            let (mut connection, _) = listener.accept().unwrap();
            let _ = std::io::Read::read(&mut connection, &mut [0; 1024]);
            connection.write_all(&[HEAD, &[7; 1000]].concat()).unwrap();
        });
        let here = std::cell::Cell::new(0);
        let package = fetch(&url, 1_000, Duration::from_secs(20), |bytes| here.set(bytes)).unwrap();
        server.join().unwrap();
        assert_eq!((package.len(), here.get()), (1_000, 1_000));
    }

    #[test]
    fn a_download_ends_without_an_answer() {
        assert!(error_of(wait_for_close).contains("timeout"));
    }

    #[test]
    fn a_download_ends_if_the_content_stops() {
        let error = error_of(|mut connection| {
            connection.write_all(&[HEAD, b"half"].concat()).unwrap();
            wait_for_close(connection);
        });
        assert!(error.contains("timeout"), "{error}");
    }

    #[test]
    fn a_download_ends_if_the_content_trickles() {
        let error = error_of(|mut connection| {
            connection.write_all(HEAD).unwrap();
            while connection.write_all(b"x").is_ok() {
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        assert!(error.contains("timeout"), "{error}");
    }
}
