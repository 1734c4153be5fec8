//! Writing a file so that a reader sees the old one or the new one, never half of it.

use crate::FormatError;
use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

/// Replace a file as one step: a temporary file beside it is written, flushed to disk and renamed. A link is preserved
/// and its target replaced; the permissions of an existing file are preserved, too.
///
/// # Errors
/// Any error of the system; the temporary file is then removed and the old file is unchanged. Folders, devices
/// and pipes are refused.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<(), FormatError> {
    let target = behind_links(path).map_err(|error| FormatError::io(path, error))?;
    let (temporary, is_first) = temporary_beside(&target);
    if is_first {
        remove_abandoned(target.parent().unwrap_or(Path::new("")));
    }
    let write = || {
        let before = fs::metadata(&target).ok();
        if before.as_ref().is_some_and(|before| !before.is_file()) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "this is not a regular file"));
        }
        let mut file = File::create_new(&temporary)?;
        // Held until it is renamed, so that others do not take it for one that was left behind.
        let _ = file.try_lock();
        file.write_all(bytes)?;
        if let Some(before) = before {
            file.set_permissions(before.permissions())?;
        }
        file.sync_all()?;
        fs::rename(&temporary, &target)?;
        // The new name is durable only once the folder is flushed, too; systems that cannot do this do not need it.
        let folder =
            target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
        Ok(())
    };
    write().map_err(|source: io::Error| {
        // Nothing more can be done if even the removal fails.
        let _ = fs::remove_file(&temporary);
        FormatError::io(path, source)
    })
}

/// Links followed before a cycle is assumed, as systems do.
const MAX_LINKS: usize = 40;

/// The path itself or, if it is a link, its final target, which need not exist.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::symlink_metadata(&target) {
            // A relative link is relative to its own folder.
            Ok(meta) if meta.is_symlink() => target = target.with_file_name("").join(fs::read_link(&target)?),
            _ => return Ok(target),
        }
    }
    Err(io::Error::other("too many links point to one another"))
}

/// A name that no other process or thread is writing to, and whether it is the first of this process.
fn temporary_beside(path: &Path) -> (PathBuf, bool) {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}-{number}.tmp", std::process::id()));
    (path.with_file_name(name), number == 0)
}

/// Remove temporary files of [`write_atomic`] in a folder whose program was killed before it could rename them.
pub fn remove_abandoned(folder: &Path) {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().to_str().is_some_and(is_temporary);
        if is_ours && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            let file = File::options().write(true).open(entry.path());
            // One that is being written is locked.
            if file.is_ok_and(|file| file.try_lock().is_ok()) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// Whether a name is one that [`temporary_beside`] makes.
fn is_temporary(name: &str) -> bool {
    let tail = name.strip_prefix('.').and_then(|name| name.strip_suffix(".tmp"));
    let numbers =
        tail.and_then(|tail| tail.rsplit_once('.')).and_then(|(_, numbers)| numbers.split_once('-'));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    numbers.is_some_and(|(process, number)| is_number(process) && is_number(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let dir = std::env::temp_dir().join(format!("sinew-links-{}", std::process::id()));
        fs::create_dir_all(dir.join("inner")).unwrap();
        let (real, link, far) = (dir.join("inner/real.bin"), dir.join("link.bin"), dir.join("far.bin"));
        fs::write(&real, b"old").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("inner/real.bin", &link).unwrap();
        symlink("link.bin", &far).unwrap();
        write_atomic(&far, b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&real).unwrap(), b"new");
        assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
        // A link to a missing file, a cycle, and something that is not a file.
        symlink("inner/fresh.bin", dir.join("hope")).unwrap();
        write_atomic(&dir.join("hope"), b"x").unwrap();
        assert_eq!(fs::read(dir.join("inner/fresh.bin")).unwrap(), b"x");
        symlink("ring", dir.join("ring")).unwrap();
        assert!(write_atomic(&dir.join("ring"), b"x").is_err());
        assert!(write_atomic(&dir.join("inner"), b"x").is_err());
        assert!(write_atomic(Path::new("/dev/null"), b"x").is_err());
        fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn what_a_killed_program_left_is_removed() {
        let dir = std::env::temp_dir().join(format!("sinew-abandoned-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        let names =
            [".a.glb.17-0.tmp", ".a.glb.18-3.tmp", ".mine.tmp", "a.17-0.tmp", ".a.x-0.tmp", ".a.1-.tmp"];
        names.iter().for_each(|name| fs::write(dir.join(name), b"x").unwrap());
        let held = File::options().write(true).open(dir.join(names[1])).unwrap();
        held.try_lock().unwrap();
        remove_abandoned(&dir);
        let stays: Vec<bool> = names.iter().map(|name| dir.join(name).exists()).collect();
        assert_eq!(stays, [false, true, true, true, true, true]);
        fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn replaces_and_leaves_nothing_behind() {
        let dir = std::env::temp_dir().join(format!("sinew-atomic-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        let path = dir.join("a.bin");
        write_atomic(&path, b"old").unwrap();
        write_atomic(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 1);
        assert!(write_atomic(&dir.join("absent/a.bin"), b"x").is_err());
        fs::remove_dir_all(&dir).unwrap();
    }
}
