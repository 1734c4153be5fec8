//! HTTP around the studio.

use crate::{
    assets::{TRACKER, asset},
    capabilities::FilePart,
    door::{Connection, Door},
    engine,
    files::{Files, MAX_UPLOAD, default_home},
    guard::{Guard, NEEDS_LINK, TRACKER_POLICY, policy, secret},
    socket,
    studio::Studio,
    wire::{Level, registry},
};
use anyhow::Context;
use axum::{
    Extension, Router,
    body::{Body, Bytes, HttpBody},
    extract::{Path as UrlPath, Query, Request, State, WebSocketUpgrade},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde::Deserialize;
use sinew::{
    formats::gltf::Appearance,
    geom::{Warnings, sample::Sample},
    session::{grow_sample, open_file},
};
use std::{
    future::poll_fn,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    ops::ControlFlow,
    path::{Path, PathBuf},
    pin::Pin,
    sync::Arc,
    time::Duration,
};
use tokio::{io::AsyncWriteExt, net::TcpListener, sync::Semaphore};

/// Vertices of the sample a first start shows.
const SAMPLE_VERTICES: usize = 10_000;
/// How often the progress of jobs is sent to pages.
const JOB_EVERY: Duration = Duration::from_millis(200);

/// Pages that may be open at once.
const MAX_PAGES: usize = 32;
/// Uploads that may run at once; browsers open six connections.
const MAX_UPLOADS: usize = 8;
/// Time without a byte after which an upload has failed.
const UPLOAD_PAUSE: Duration = Duration::from_secs(30);

/// What browsers may give the page: the camera, if the user says so, and nothing else of the kind.
const PERMISSIONS: &str = "camera=(self), microphone=(), geolocation=(), display-capture=()";

/// How to serve.
#[derive(Debug, Clone, Default)]
pub struct StudioOptions {
    /// What to open; the sample character if absent.
    pub file: Option<PathBuf>,
    /// The port; any free one if 0.
    pub port: u16,
    /// Let others on the network in: the address to listen on.
    pub listen: Option<IpAddr>,
    /// Where unsaved work and exports are kept; the user's folder for such things if absent.
    pub home: Option<PathBuf>,
    /// The folder the page may open from and save to; that of the file, or the present one, if absent.
    pub root: Option<PathBuf>,
    /// What the program is made of, with licences: the object that the page asks for at `/licenses.json`.
    pub licenses: String,
}

/// Serve until the program is ended. `ready` is given the link to open, which works once.
///
/// # Errors
/// If the file cannot be opened or the port is taken.
pub fn serve(
    options: &StudioOptions,
    ready: impl FnOnce(&str, &Warnings) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let run = secret()?;
    let here = std::env::current_dir().context("the current folder no longer exists")?;
    let of_file =
        options.file.as_deref().and_then(Path::parent).filter(|folder| !folder.as_os_str().is_empty());
    let root = options.root.as_deref().or(of_file).unwrap_or(&here);
    let files = Files::new(root, &options.home.clone().unwrap_or_else(default_home), &run)?;
    let mut warnings = Warnings::default();
    let mut go_on = |_| ControlFlow::Continue(());
    let document = match &options.file {
        Some(path) => open_file(path, &mut go_on, &mut warnings)?,
        None => grow_sample(Sample::Biped, SAMPLE_VERTICES, &mut go_on, &mut warnings)?,
    };
    let is_project = |path: &PathBuf| path.to_string_lossy().to_ascii_lowercase().ends_with(".sinew.glb");
    let own = options.file.clone().filter(is_project);
    let studio = Arc::new(Studio::new(run, document, own, files).context("could not start a thread")?);
    studio.exchanged(warnings.clone());
    let engine = {
        let studio = studio.clone();
        std::thread::Builder::new().name("engine".into()).spawn(move || engine::run(&studio))?
    };
    let mut threads = Vec::new();
    for run in studio.capabilities.list().iter().filter_map(|capability| capability.thread()) {
        let studio = studio.clone();
        threads.push(std::thread::Builder::new().name("capability".into()).spawn(move || run(&studio))?);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let done = runtime.block_on(listen(options, studio.clone(), |url| ready(url, &warnings)));
    studio.pending().stop = true;
    studio.ring();
    // It ends as soon as it is notified.
    let _ = engine.join();
    studio.capabilities.list().iter().for_each(|capability| capability.stop());
    for thread in threads {
        let _ = thread.join();
    }
    runtime.shutdown_timeout(Duration::from_secs(1));
    let flushing = studio.session().begin_flush();
    flushing.wait();
    done
}

async fn listen(
    options: &StudioOptions,
    studio: Arc<Studio>,
    ready: impl FnOnce(&str) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let address = SocketAddr::new(options.listen.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST)), options.port);
    let listener = TcpListener::bind(address).await.with_context(|| {
        format!("cannot listen on {address}; is another studio running there? choose another with --port")
    })?;
    let guard = Guard::new(listener.local_addr()?, &studio.files.token()?);
    ready(&guard.link()?)?;
    let licenses = Bytes::from(options.licenses.clone());
    let door = Arc::new(Door::default());
    let links = guard.clone();
    let app = Router::new()
        .route("/", get(page))
        .route("/{file}", get(page))
        .route("/launch", get(async move || launch(&links)))
        .route("/ws", get(upgrade))
        .route("/appearance/{version}", get(appearance))
        .route("/appearance/{version}/{what}/{index}", get(appearance_part))
        .route("/thumbnail/{index}", get(thumbnail))
        .route("/pair/{index}", get(pair_picture))
        .route("/recovery/{id}", get(recovery_picture))
        .route("/download/{id}", get(download))
        .route("/fit/{version}", get(fit_maps))
        .route("/upload", post(upload))
        .route("/licenses.json", get(async move || json_response(licenses)))
        .with_state(Served { studio: studio.clone(), limits: Arc::default() })
        .layer(from_fn_with_state((guard, door.clone()), check));
    tokio::spawn(report_jobs(studio));
    tokio::select! {
        () = door.open(listener, app) => Ok(()),
        _ = tokio::signal::ctrl_c() => Ok(()),
    }
}

/// What requests share.
#[derive(Debug, Clone)]
struct Served {
    studio: Arc<Studio>,
    limits: Arc<Limits>,
}

/// Limits of what may run at once.
#[derive(Debug)]
struct Limits {
    pages: Arc<Semaphore>,
    uploads: Semaphore,
    pictures: Semaphore,
}

impl Default for Limits {
    fn default() -> Self {
        let (pages, uploads) = (Arc::new(Semaphore::new(MAX_PAGES)), Semaphore::new(MAX_UPLOADS));
        Self { pages, uploads, pictures: Semaphore::new(1) }
    }
}

/// A page with another launch link, for another browser.
fn launch(guard: &Guard) -> Response {
    match guard.link() {
        Ok(link) => simple_page(
            StatusCode::OK,
            &format!("Open this link in another browser. It works once.</p><p>{link}"),
        ),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{error:#}\n")).into_response(),
    }
}

fn simple_page(status: StatusCode, text: &str) -> Response {
    let html = format!(
        "<!doctype html><meta charset=\"utf-8\"><title>Sinew studio</title><h1>Sinew studio</h1><p>{text}</p>\n"
    );
    (status, [(header::CONTENT_TYPE, "text/html; charset=utf-8")], html).into_response()
}

/// Every request passes here first.
async fn check(
    State((guard, door)): State<(Guard, Arc<Door>)>,
    Extension(connection): Extension<Connection>,
    request: Request,
    next: Next,
) -> Response {
    let is_page = request.uri().path() == "/";
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or("");
    let policy = match request.uri().path() {
        TRACKER => Ok(HeaderValue::from_static(TRACKER_POLICY)),
        _ => HeaderValue::from_str(&policy(host)),
    };
    let checked = guard.check(request.method(), request.uri(), request.headers());
    let mut response = match &checked {
        Ok(_) if door.recognise(connection) => next.run(request).await,
        Ok(_) => {
            (StatusCode::SERVICE_UNAVAILABLE, "too many connections; close other pages\n").into_response()
        }
        Err((StatusCode::UNAUTHORIZED, _)) if is_page => {
            simple_page(StatusCode::UNAUTHORIZED, &NEEDS_LINK.replace('`', ""))
        }
        Err((status, cause)) => (*status, format!("{cause}\n")).into_response(),
    };
    let headers = response.headers_mut();
    // The host is plain letters, so that it is a header.
    if let Ok(policy) = policy {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert("permissions-policy", HeaderValue::from_static(PERMISSIONS));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    if let Ok(Some(cookie)) = checked {
        headers.insert(header::SET_COOKIE, cookie);
    }
    response
}

async fn report_jobs(studio: Arc<Studio>) {
    let mut clock = tokio::time::interval(JOB_EVERY);
    let mut reported: Vec<(u64, Option<f64>)> = Vec::new();
    let mut fault = None;
    loop {
        clock.tick().await;
        report_fault(&studio, &mut fault);
        let jobs = studio.jobs.list();
        for job in &jobs {
            // Preparing is reported once it takes long.
            let is_news = reported.iter().any(|(id, share)| *id == job.id() && *share != job.share());
            if is_news {
                studio.report_job(job, false, None);
            }
        }
        reported = jobs.iter().map(|job| (job.id(), job.share())).collect();
    }
}

/// Say at once when unsaved work is no longer safe on disk, or is again.
fn report_fault(studio: &Studio, known: &mut Option<String>) {
    let fault = studio.session().journal_fault();
    if fault == *known {
        return;
    }
    if let Some(fault) = &fault {
        studio.notice(Level::Error, &format!("{fault}; save now, or make room on the disk"));
    }
    studio.raise::<FilePart>();
    *known = fault;
}

async fn page(file: Option<UrlPath<String>>, request: HeaderMap) -> Response {
    asset(file.as_ref().map_or("", |UrlPath(name)| name), &request)
}

async fn upgrade(State(Served { studio, limits }): State<Served>, upgrade: WebSocketUpgrade) -> Response {
    let Ok(place) = limits.pages.clone().try_acquire_owned() else {
        return (StatusCode::SERVICE_UNAVAILABLE, "too many pages are open; close some\n").into_response();
    };
    upgrade.max_message_size(registry().max_bytes()).on_upgrade(async move |socket| {
        socket::talk(socket, studio).await;
        drop(place);
    })
}

/// The materials at an address.
async fn find_appearance(studio: Arc<Studio>, version: &str) -> Option<Arc<Appearance>> {
    let address = format!("/appearance/{version}");
    tokio::task::spawn_blocking(move || studio.appearance(&address)).await.ok().flatten()
}

async fn appearance(
    State(Served { studio, .. }): State<Served>,
    UrlPath(version): UrlPath<String>,
) -> Response {
    match find_appearance(studio, &version).await {
        Some(found) => {
            let uv_sets: Vec<&usize> = found.uvs.keys().collect();
            let text = serde_json::json!({ "gltf": found.json, "flat": found.flat, "uv_sets": uv_sets });
            json_response(text.to_string())
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// A picture of a material, or a set of texture coordinates.
async fn appearance_part(
    State(Served { studio, .. }): State<Served>,
    UrlPath((version, what, index)): UrlPath<(String, String, usize)>,
) -> Response {
    let Some(found) = find_appearance(studio, &version).await else {
        return StatusCode::NOT_FOUND.into_response();
    };
    match (what.as_str(), found.pictures.get(&index), found.uvs.get(&index)) {
        ("image", Some(found), _) => picture(found.mime, found.bytes.clone()),
        ("uv", _, Some(uvs)) => {
            let bytes: Vec<u8> = uvs.as_flattened().iter().flat_map(|x| x.to_le_bytes()).collect();
            ([(header::CONTENT_TYPE, "application/octet-stream")], bytes).into_response()
        }
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn thumbnail(State(Served { studio, .. }): State<Served>, UrlPath(index): UrlPath<usize>) -> Response {
    let document = studio.session().document().clone();
    match document.examples.get(index).and_then(|example| example.thumbnail.clone()) {
        Some(png) => picture("image/png", png.to_vec()),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// A picture of unsaved work as it would come back.
async fn recovery_picture(
    State(Served { studio, limits }): State<Served>,
    UrlPath(id): UrlPath<String>,
) -> Response {
    let found = studio.recoveries().iter().find(|recovery| recovery.id() == id).cloned();
    let Some(recovery) = found else { return StatusCode::NOT_FOUND.into_response() };
    // One after the other: each reads a whole document.
    let Ok(_place) = limits.pictures.acquire().await else { return StatusCode::NOT_FOUND.into_response() };
    match tokio::task::spawn_blocking(move || recovery.picture()).await {
        Ok(Ok(png)) => picture("image/png", png),
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn pair_picture(
    State(Served { studio, .. }): State<Served>,
    UrlPath(index): UrlPath<usize>,
) -> Response {
    let document = studio.session().document().clone();
    match document.puppet.pairs.get(index).and_then(|pair| pair.thumbnail.clone()) {
        Some(png) => picture("image/png", png.to_vec()),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// A picture, of a type that we found ourselves: a file may claim to be anything.
fn picture(mime: &'static str, bytes: Vec<u8>) -> Response {
    ([(header::CONTENT_TYPE, mime), (header::CACHE_CONTROL, "private, max-age=3600")], bytes).into_response()
}

/// What a fit looks like on the surface.
async fn fit_maps(State(Served { studio, .. }): State<Served>, UrlPath(version): UrlPath<u32>) -> Response {
    match crate::capabilities::fit_maps(&studio, version) {
        Some(bytes) => ([(header::CONTENT_TYPE, "application/octet-stream")], bytes).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn download(State(Served { studio, .. }): State<Served>, UrlPath(id): UrlPath<String>) -> Response {
    let Some(download) = studio.files.download(&id) else { return StatusCode::NOT_FOUND.into_response() };
    match tokio::fs::read(&download.path).await {
        Ok(bytes) => {
            let ascii: String = download
                .name
                .chars()
                .map(|c| if c.is_ascii_graphic() && c != '"' { c } else { '_' })
                .collect();
            let encoded: String = download.name.bytes().map(|byte| format!("%{byte:02X}")).collect();
            let disposition = format!("attachment; filename=\"{ascii}\"; filename*=UTF-8''{encoded}");
            let headers = [
                (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
                (header::CONTENT_DISPOSITION, disposition),
            ];
            (headers, bytes).into_response()
        }
        Err(_) => StatusCode::GONE.into_response(),
    }
}

#[derive(Deserialize)]
struct Drop {
    drop: String,
    name: String,
}

async fn upload(
    State(Served { studio, limits }): State<Served>,
    Query(drop): Query<Drop>,
    request: Request,
) -> Response {
    let Ok(_place) = limits.uploads.try_acquire() else {
        return (StatusCode::SERVICE_UNAVAILABLE, "too many uploads at once; wait for them to end\n")
            .into_response();
    };
    let path = match studio.files.upload(&drop.drop, &drop.name) {
        Ok(path) => path,
        Err(error) => return (StatusCode::BAD_REQUEST, format!("{error:#}\n")).into_response(),
    };
    let claimed =
        request.headers().get(header::CONTENT_LENGTH).and_then(|n| n.to_str().ok()?.parse::<u64>().ok());
    if claimed.is_some_and(|n| n > MAX_UPLOAD) {
        return too_large();
    }
    match receive(request.into_body(), &path, &studio.files).await {
        Ok(Some(bytes)) => json_response(format!("{{\"bytes\":{bytes}}}")),
        Ok(None) => {
            let _ = tokio::fs::remove_file(&path).await;
            too_large()
        }
        Err(error) => {
            let _ = tokio::fs::remove_file(&path).await;
            (StatusCode::INTERNAL_SERVER_ERROR, format!("{}: {error}\n", drop.name)).into_response()
        }
    }
}

fn too_large() -> Response {
    let text = "the file is larger than 1 GB, or the files of this drop larger than 4 GB; put them into the folder of the open dialog and \
         open them from there\n";
    (StatusCode::PAYLOAD_TOO_LARGE, text).into_response()
}

fn json_response(text: impl Into<Body>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], text.into()).into_response()
}

/// Write what comes to a file; `None` if it is too much.
async fn receive(mut body: Body, path: &Path, files: &Files) -> std::io::Result<Option<u64>> {
    if let Some(folder) = path.parent() {
        tokio::fs::create_dir_all(folder).await?;
    }
    let mut file = tokio::fs::File::create(path).await?;
    let mut n_bytes = 0;
    let late = |_| std::io::Error::other("nothing came for a while");
    while let Some(frame) = {
        let next = poll_fn(|context| Pin::new(&mut body).poll_frame(context));
        tokio::time::timeout(UPLOAD_PAUSE, next).await.map_err(late)?
    } {
        let frame = frame.map_err(std::io::Error::other)?;
        if let Ok(data) = frame.into_data() {
            n_bytes += data.len() as u64;
            if n_bytes > MAX_UPLOAD || !files.may_upload(data.len() as u64) {
                return Ok(None);
            }
            file.write_all(&data).await?;
        }
    }
    file.flush().await?;
    Ok(Some(n_bytes))
}
