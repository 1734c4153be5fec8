//! Files that a model file names: material libraries, pictures, buffers.

use std::{fs, io, path::Path};

/// Gives the content of a file named by a relative path (already percent-decoded, never leaving the folder).
pub type SideFiles<'a> = &'a dyn Fn(&str) -> io::Result<Vec<u8>>;

/// Side files for input that has none, such as a GLB from the network.
///
/// # Errors
/// Always: there is nothing to read.
pub fn no_side_files(_: &str) -> io::Result<Vec<u8>> {
    Err(io::Error::new(io::ErrorKind::NotFound, "there are no side files"))
}

/// Side files beside a file on disk. Only regular files are opened, and with a `root` only those that are really
/// below it, also through links.
pub(crate) fn side_files_in<'a>(
    folder: &'a Path,
    root: Option<&'a Path>,
) -> impl Fn(&str) -> io::Result<Vec<u8>> + 'a {
    move |name| {
        let path = folder.join(name);
        if let Some(root) = root {
            check_within(&path, root)?;
        }
        if !fs::metadata(&path)?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "this is not a file"));
        }
        fs::read(path)
    }
}

/// Refuse a path that is outside a folder.
///
/// # Errors
/// If it is outside, or does not exist.
pub(crate) fn check_within(path: &Path, root: &Path) -> io::Result<()> {
    if path.canonicalize()?.starts_with(root.canonicalize()?) {
        return Ok(());
    }
    let cause = format!("this is a link to a file outside {}; put the file itself there", root.display());
    Err(io::Error::new(io::ErrorKind::PermissionDenied, cause))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn links_do_not_lead_out_of_the_folder() {
        let base = std::env::temp_dir().join(format!("sinew-side-{}", std::process::id()));
        let inner = base.join("inner");
        fs::create_dir_all(inner.join("deep")).unwrap();
        fs::write(base.join("secret.bin"), b"secret").unwrap();
        fs::write(inner.join("deep/own.bin"), b"own").unwrap();
        for (target, link) in [
            ("../secret.bin", "out.bin"),
            ("..", "up"),
            ("deep/own.bin", "alias.bin"),
            ("absent", "dangling"),
        ] {
            std::os::unix::fs::symlink(target, inner.join(link)).unwrap();
        }
        // Without a root, links are followed like files.
        assert_eq!(side_files_in(&inner, None)("out.bin").unwrap(), b"secret");
        let read = side_files_in(&inner, Some(&inner));
        assert_eq!(read("deep/own.bin").unwrap(), b"own");
        assert_eq!(read("alias.bin").unwrap(), b"own");
        for name in ["out.bin", "up/secret.bin", "dangling", "deep"] {
            assert!(read(name).is_err(), "{name}");
        }
        assert!(read("out.bin").unwrap_err().to_string().contains("outside"));
        fs::remove_dir_all(base).unwrap();
    }
}
