//! `sinew studio`: the studio in the browser.

use crate::{args::StudioArgs, console::Console, licenses};
use serde_json::json;
use sinew_studio::{StudioOptions, serve};
use std::{
    path::Path,
    process::{Command, Stdio},
};

pub fn run(args: &StudioArgs, console: &Console) -> anyhow::Result<()> {
    let options = StudioOptions {
        file: args.file.clone(),
        port: args.port,
        listen: args.listen,
        root: args.root.clone(),
        home: None,
        licenses: licenses::as_json(&licenses::packages()?).to_string(),
    };
    let progress = console.progress("starting the studio");
    serve(&options, |url, warnings| {
        drop(progress);
        console.warn(args.file.as_deref().unwrap_or(Path::new("sample")), warnings);
        console.result(&json!({ "url": url }), || format!("Sinew studio: {url}\nEnd it with Ctrl-C."))?;
        if !args.no_open && !open_browser(url) {
            console.note("open this address in a browser");
        }
        Ok(())
    })
}

/// Whether a browser was started.
fn open_browser(url: &str) -> bool {
    let (program, args): (&str, &[&str]) = match () {
        () if cfg!(target_os = "macos") => ("open", &[url]),
        () if cfg!(windows) => ("cmd", &["/C", "start", "", url]),
        () => ("xdg-open", &[url]),
    };
    Command::new(program).args(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().is_ok()
}
