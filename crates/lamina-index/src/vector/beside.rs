//! A thread that compares vectors while whoever asks searches by words.
//!
//! It is there all the time: to start one for each question takes longer than a scope of ten thousand is worth. It takes a
//! question only when it has none; whoever comes meanwhile compares for himself, so nobody waits in a queue.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use super::Vector;
use super::cache::Block;
use super::scan::{VectorHit, VectorQuery, nearest};
use crate::filter::Filter;

/// What is compared, and whom it is told.
struct Job {
    blocks: Vec<Arc<Block>>,
    vector: Vector,
    limit: usize,
    filter: Filter<'static>,
    reply: SyncSender<Vec<VectorHit>>,
}

/// The thread. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Beside {
    to: Option<SyncSender<Job>>,
}

impl Beside {
    /// Starts it. If there are no threads to be had, everybody compares for himself.
    pub(crate) fn start() -> Beside {
        // Nothing waits in between: sending succeeds when the thread is waiting, and only then.
        let (to, from) = sync_channel::<Job>(0);
        let thread = std::thread::Builder::new().name("lamina-compare".to_owned());
        let started = thread.spawn(move || run(&from));
        Beside { to: started.is_ok().then_some(to) }
    }

    /// Has these compared, if the thread is free and the filter looks at nothing but what is here. What comes may be
    /// nothing, if the thread ends before.
    pub(crate) fn compare(
        &self,
        blocks: &[Arc<Block>],
        query: &VectorQuery<'_>,
    ) -> Option<Receiver<Vec<VectorHit>>> {
        let Filter { visible: None, layers, valid, recorded_until, .. } = &query.filter else {
            return None;
        };
        let (reply, answer) = sync_channel(1);
        let job = Job {
            blocks: blocks.to_vec(),
            vector: query.vector.clone(),
            limit: query.limit,
            filter: Filter {
                layers: *layers,
                valid: *valid,
                recorded_until: *recorded_until,
                ..Filter::within(Vec::new())
            },
            reply,
        };
        self.to.as_ref()?.try_send(job).is_ok().then_some(answer)
    }
}

fn run(jobs: &Receiver<Job>) {
    for Job { blocks, vector, limit, filter, reply } in jobs {
        let near = nearest(&blocks, &vector, limit, &|seen| filter.passes(seen));
        // Who asked may be gone.
        drop(reply.try_send(near));
    }
}

#[cfg(test)]
mod tests;
