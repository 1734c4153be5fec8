//! Long work, and what is reported of it to pages.

use super::Studio;
use crate::wire::{JobKind, JobState, Level, Notice, typed};
use sinew::session::{Job, SessionError};
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// Documents that may be opened at once.
const MAX_OPENING: usize = 2;
/// Long requests that may run at once.
const MAX_JOBS: usize = 8;

impl Studio {
    fn send_to_pages(&self, message: String) {
        // An error means that there is no page to send it to.
        let _ = self.words.send(message.into());
    }

    /// Show every page a notice.
    pub fn notice(&self, level: Level, text: &str) {
        self.send_to_pages(typed("notice", &Notice { level, text: text.to_owned() }));
    }

    /// Report how far a job is.
    pub fn report_job(&self, job: &Job, done: bool, error: Option<&SessionError>) {
        let error = error.filter(|error| !matches!(error, SessionError::Cancelled));
        self.send_to_pages(typed("job", &JobState::new(job, done, error.map(ToString::to_string))));
    }

    /// Run long work as a job: pages see how far it is and may cancel it.
    ///
    /// # Errors
    /// As the work.
    pub fn job<T>(
        &self,
        kind: JobKind,
        title: &str,
        work: impl FnOnce(&Job) -> Result<T, SessionError>,
    ) -> anyhow::Result<T> {
        // Each holds a whole document.
        let n_opening = self.jobs.list().iter().filter(|job| job.kind() == JobKind::Open.name()).count();
        if kind == JobKind::Open && n_opening >= MAX_OPENING {
            anyhow::bail!("{n_opening} documents are being opened already; wait for them, or cancel one");
        }
        let job = self.jobs.start(kind.name(), title);
        self.report_job(&job, false, None);
        // Whatever error cancelling caused, this is reported.
        let done =
            work(&job).map_err(|error| if job.is_cancelled() { SessionError::Cancelled } else { error });
        self.jobs.finish(&job);
        self.report_job(&job, true, done.as_ref().err());
        Ok(done?)
    }

    /// Room for one more long request; none if too many run.
    pub fn take_place_for_job(&self) -> Option<Place> {
        let take = |n: usize| (n < MAX_JOBS).then_some(n + 1);
        self.n_jobs.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).ok()?;
        Some(Place(self.n_jobs.clone()))
    }
}

/// Room for a long request, as long as it is held.
#[derive(Debug)]
pub struct Place(Arc<AtomicUsize>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
