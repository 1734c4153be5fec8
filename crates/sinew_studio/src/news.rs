//! What changed: a version for each part of the state, so that a page is told only what it has not heard.

use sinew::session::{Changes, Event};

/// A part of the state that pages show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topic {
    /// Name, path, whether there is something to save, which document it is.
    File,
    /// Counts, bounds and materials of the mesh.
    Surface,
    /// Handles.
    Handles,
    /// Moves.
    Pose,
    /// Stored poses.
    Examples,
    /// Animations.
    Clips,
    /// The method of posing.
    Edit,
    /// Paths, and how examples are searched.
    Motion,
    /// Rules, and what surrounds the skeleton.
    Rules,
    /// What the rules come to.
    Ruled,
    /// The search in progress.
    Reach,
    /// Pairs of poses, and how they are used.
    Puppet,
    /// Flesh: what it is made of, paint, joints.
    Flesh,
    /// How the simulation of flesh goes.
    Fleshed,
    /// The recording of an actor.
    Actor,
    /// The performance in progress.
    Act,
    /// What is shown.
    Looks,
    /// Steps.
    History,
    /// Skins fitted to clips.
    Fit,
    /// Unsaved work that was found, and what the last preparation took.
    Work,
}

const N_TOPICS: usize = Topic::Work as usize + 1;

/// How often each part has changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Versions([u64; N_TOPICS]);

impl Versions {
    /// A part has changed.
    pub fn raise(&mut self, topic: Topic) {
        self.0[topic as usize] += 1;
    }

    /// Every part has.
    pub fn raise_all(&mut self) {
        self.0.iter_mut().for_each(|version| *version += 1);
    }

    /// Whether a part is another than it was then.
    pub fn differs(&self, then: &Self, topic: Topic) -> bool {
        self.0[topic as usize] != then.0[topic as usize]
    }

    /// What happened to the session, as parts of the state. A move in progress is none: pages see it as vertices, and
    /// hear of it when it ends.
    pub fn hear(&mut self, event: &Event) {
        match event {
            Event::Opened => self.raise_all(),
            Event::Changed(changes) => {
                self.raise(Topic::File);
                topics(changes).for_each(|topic| self.raise(topic));
            }
            Event::History => [Topic::History, Topic::File].into_iter().for_each(|topic| self.raise(topic)),
            Event::Saved(_) => self.raise(Topic::File),
            Event::Moving => {}
        }
    }
}

fn topics(changes: &Changes) -> impl Iterator<Item = Topic> {
    let Changes { name, surface, handles, clips, pose, examples, edit, motion, rules, puppet, flesh } =
        *changes;
    let all = [
        (name, Topic::File),
        (surface, Topic::Surface),
        (handles, Topic::Handles),
        (clips, Topic::Clips),
        (pose, Topic::Pose),
        (examples, Topic::Examples),
        (edit, Topic::Edit),
        (motion || surface || handles, Topic::Motion),
        (rules || clips, Topic::Rules),
        (puppet, Topic::Puppet),
        (flesh || surface, Topic::Flesh),
    ];
    all.into_iter().filter(|(is_changed, _)| *is_changed).map(|(_, topic)| topic)
}
