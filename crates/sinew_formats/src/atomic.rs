//! Writing a file so that a reader sees the old one or the new one, never half of it.

use crate::FormatError;
use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

/// Replace a file as one step: a temporary file beside it is written, flushed to disk and renamed.
///
/// # Errors
/// Whatever the system reports; the temporary file is then removed and the old file is untouched.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<(), FormatError> {
    let temporary = temporary_beside(path);
    let write = || {
        let mut file = File::create_new(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, path)?;
        // The new name is safe only once the folder is, too; systems that cannot do this do not need it.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
        Ok(())
    };
    write().map_err(|source: io::Error| {
        // Nothing more can be done if even the removal fails.
        let _ = fs::remove_file(&temporary);
        FormatError::io(path, source)
    })
}

/// A name no other process or thread of ours is writing to.
fn temporary_beside(path: &Path) -> PathBuf {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}-{}.tmp", std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed)));
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

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
