//! `sinew studio`: the studio in the browser.

use crate::{console::Console, licenses};
use clap::Args;
use serde_json::json;
use sinew_studio::{StudioOptions, serve};
use std::path::PathBuf;
use std::{
    path::Path,
    process::{Command, Stdio},
};

/// Open the studio in the browser, on a file or the built-in sample; the same as `sinew` without a command
#[derive(Args, Default)]
pub struct StudioArgs {
    /// Project, character, mesh or folder of frames to open [default: the built-in sample]
    pub file: Option<PathBuf>,
    /// Port on this machine [default: any free one]
    #[arg(long, value_name = "P", default_value_t = 0, hide_default_value = true)]
    pub port: u16,
    /// Print the address without opening the browser
    #[arg(long)]
    pub no_open: bool,
    /// Accept connections from the network at this address; visitors need the printed launch link
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<std::net::IpAddr>,
    /// Folder that the studio may open from and save to [default: the folder of FILE, else the current one]
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
}

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
