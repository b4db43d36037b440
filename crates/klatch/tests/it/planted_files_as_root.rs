//! Root does not use files that another user planted. Each case has network and mount namespaces of its own, with an empty
//! `/run` and `/var/lib`.

use std::process::Command;

use klatch_testing::{Need, needs};

/// A setting of the network namespace: its value, and the value that a restore of planted files would give it.
const TTL: &str = "/proc/sys/net/ipv4/ip_default_ttl";

/// Standard output of a script in new namespaces. `planted NAME` prints saved values that would set `net.ipv4.NAME` to 71.
fn prints(script: &str) -> String {
    let out = tempfile::tempdir().unwrap();
    // Another user must be able to reach it.
    std::fs::set_permissions(out.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let set_up = format!(
        r#"set -eu
mount -t tmpfs -o mode=755 none /run
mount -t tmpfs -o mode=755 none /var/lib
echo 70 > {TTL}
planted() {{
    printf '{{"pid":1,"boot":"%s","network":"%s","values":[{{"name":"net.ipv4.%s","before":"71","set":"%s"}}]}}' \
        "$(cat /proc/sys/kernel/random/boot_id)" "$(readlink /proc/self/ns/net)" "$1" "$(cat /proc/sys/net/ipv4/$1)"
}}
show() {{ "$KLATCH" schema study 2>&1 >"$OUT/schema"; cat {TTL}; }}
umask 022
"#
    );
    let done = Command::new("unshare")
        .args(["--net", "--mount", "sh", "-c", &format!("{set_up}\n{script}")])
        .env("KLATCH", env!("CARGO_BIN_EXE_klatch"))
        .env("OUT", out.path())
        .env_remove("XDG_CACHE_HOME")
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

#[test]
fn values_that_root_saved_are_restored() {
    needs!(Need::NetworkNamespaces);
    let finished = prints("mkdir -m 700 /run/klatch; planted ip_default_ttl > /run/klatch/1.json; show");
    assert!(finished.ends_with("it is restored to 71\n71\n"), "{finished}");
}

#[test]
fn saved_values_that_another_user_could_have_written_are_not_restored() {
    needs!(Need::NetworkNamespaces);
    for (planted, why) in [
        ("chown 65534 /run/klatch/1.json", "it belongs to user 65534"),
        ("chmod 666 /run/klatch/1.json", "others can write it (mode 666)"),
        ("mv /run/klatch/1.json $OUT; ln -s $OUT/1.json /run/klatch", "it is a symbolic link"),
        ("ln /run/klatch/1.json /run/klatch/second", "it is not a plain file of one name"),
        ("chown 65534 /run/klatch", "it belongs to user 65534"),
        ("chmod 1777 /run/klatch", "others can write it (mode 1777)"),
        ("mv /run/klatch /run/other; ln -s other /run/klatch", "it is a symbolic link"),
        ("chmod 777 /run", "/run is not used: others can write it (mode 777)"),
    ] {
        let make = "mkdir -m 700 /run/klatch; planted ip_default_ttl > /run/klatch/1.json";
        let finished = prints(&format!("{make}; {planted}; show"));
        assert!(finished.contains(why) && finished.ends_with("\n70\n"), "{planted}: {finished}");
    }
}

#[test]
fn unknown_settings_are_not_restored() {
    needs!(Need::NetworkNamespaces);
    let finished = prints(
        "mkdir -m 700 /run/klatch; planted ip_nonlocal_bind > /run/klatch/1.json; show
         cat /proc/sys/net/ipv4/ip_nonlocal_bind",
    );
    assert!(
        finished.contains("net.ipv4.ip_nonlocal_bind is not a setting that klatch changes"),
        "{finished}"
    );
    assert!(finished.ends_with("\n0\n"), "{finished}");
}

#[test]
fn caches_and_temporary_folders_of_other_users_are_never_read() {
    needs!(Need::NetworkNamespaces);
    let finished = prints(
        "for folder in $OUT/klatch/sysctls $OUT/.cache/klatch/sysctls; do
             mkdir -p $folder; planted ip_default_ttl > $folder/1.json
         done
         chown -R 65534 $OUT/klatch $OUT/.cache
         HOME=$OUT; export HOME; show
         TMPDIR=$OUT; export TMPDIR; unset HOME; show
         XDG_CACHE_HOME=$OUT; export XDG_CACHE_HOME; show",
    );
    assert_eq!(finished, "70\n70\n70\n");
}

#[test]
fn a_cache_of_another_user_is_refused_and_root_has_one_of_its_own() {
    needs!(Need::NetworkNamespaces);
    let run = "run --platform java-threads --rooms 1 --users 2 --count 1 --trials 1 --warmups 0 --out $OUT";
    let finished = prints(&format!(
        "ip link set lo up; mkdir $OUT/klatch; chown 65534 $OUT/klatch
         XDG_CACHE_HOME=$OUT $KLATCH {run} 2>&1 || true
         HOME=$OUT $KLATCH {run} >$OUT/finished 2>&1 || cat $OUT/finished
         stat -c '%a %u' /var/lib/klatch; ls /var/lib/klatch"
    ));
    assert!(finished.contains("klatch is not used: it belongs to user 65534"), "{finished}");
    assert!(finished.contains("\n700 0\nklatch-"), "{finished}");
}
