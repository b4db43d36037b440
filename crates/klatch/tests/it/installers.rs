//! What installs a release: the script for one user, and the formula.

use std::path::Path;
use std::process::{Command, Output};

use crate::support::root;
use klatch_testing::{Need, needs};

fn shell(folder: &Path, script: &str) -> Output {
    let output = Command::new("sh").args(["-euc", script]).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{script}: {output:?}");
    output
}

/// The files of a release whose program says its version, for both architectures.
fn release(folder: &Path) {
    let version = env!("CARGO_PKG_VERSION");
    for architecture in ["x86_64", "aarch64"] {
        let name = format!("klatch-{version}-{architecture}-linux");
        std::fs::create_dir(folder.join(&name)).unwrap();
        klatch_testing::write_program(
            &folder.join(&name).join("klatch"),
            "#!/bin/sh\necho klatch of the archive\n",
        );
        shell(folder, &format!("tar --create --xz --file {name}.tar.xz {name} && rm -r {name}"));
    }
    shell(folder, "sha256sum -- *.tar.xz >SHA256SUMS");
    let script = root().join("scripts/installers.sh");
    let output = Command::new(script).arg("owner/klatch").arg(folder).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

fn install(folder: &Path, bin: &Path) -> Output {
    let mut command = Command::new("sh");
    command.arg(folder.join("install.sh")).env("KLATCH_BIN", bin);
    command.env("KLATCH_RELEASE", format!("file://{}", folder.display())).output().unwrap()
}

#[test]
fn a_release_is_installed_for_one_user_if_its_sum_is_right() {
    needs!(Need::Program("curl", "curl"), Need::Program("xz", "xz-utils"));
    let folder = tempfile::tempdir().unwrap();
    let (folder, bin) = (folder.path(), folder.path().join("bin"));
    release(folder);
    let installed = install(folder, &bin);
    let out = String::from_utf8(installed.stdout).unwrap();
    assert!(installed.status.success() && out.starts_with("klatch of the archive is in "), "{out}");
    assert!(out.contains("export PATH="), "{out}");
    std::fs::remove_file(bin.join("klatch")).unwrap();
    shell(folder, "for file in *.tar.xz; do printf tea >>\"$file\"; done");
    let refused = install(folder, &bin);
    let err = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(2), "{err}");
    assert!(err.contains("does not have its sum in SHA256SUMS, so nothing was installed"), "{err}");
    assert!(!bin.join("klatch").exists());
    let sums = std::fs::read_to_string(folder.join("SHA256SUMS")).unwrap();
    let formula = std::fs::read_to_string(folder.join("klatch.rb")).unwrap();
    for line in sums.lines() {
        assert!(formula.contains(&format!("sha256 \"{}\"", &line[..64])), "{formula}");
    }
    assert!(
        !formula.contains("@SHA") && !formula.contains("@V") && formula.contains("owner/klatch/releases"),
        "{formula}"
    );
}

/// The settings of both packages are in the manifest, where nothing but `scripts/dist.sh` reads them.
#[test]
fn both_packages_contain_program_pages_completions_licences_and_bill() {
    let manifest = std::fs::read_to_string(root().join("crates/klatch/Cargo.toml")).unwrap();
    let manifest: toml::Table = toml::from_str(&manifest).unwrap();
    let metadata = &manifest["package"]["metadata"];
    let deb = metadata["deb"]["assets"].as_array().unwrap().iter().map(|asset| &asset[1]);
    let rpm = metadata["generate-rpm"]["assets"].as_array().unwrap().iter().map(|asset| &asset["dest"]);
    for (kind, contents) in [("deb", deb.collect::<Vec<_>>()), ("rpm", rpm.collect())] {
        let contents: Vec<&str> = contents.into_iter().map(|path| path.as_str().unwrap()).collect();
        for part in ["usr/bin/", "man/man1/", "bash-completion/", "zsh/", "fish/"] {
            assert!(
                contents.iter().any(|path| path.contains(part)),
                "the .{kind} has no {part}: {contents:?}"
            );
        }
    }
    let sources = manifest.to_string();
    for file in ["THIRD-PARTY-LICENSES.txt", "klatch.cdx.json"] {
        assert_eq!(sources.matches(&format!("dist/{file}")).count(), 2, "{file} is in both packages");
    }
}
