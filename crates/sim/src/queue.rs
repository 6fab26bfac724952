//! The waiting jobs in order of their score, in blocks that remember their smallest job, so that a
//! search for a job that fits passes over blocks where none can.
//!
//! Blocks keep the cost of a scheduling pass small when tens of thousands of jobs wait, and cost
//! nothing when ten do.

/// Most entries of a block.
const BLOCK: usize = 64;

/// A waiting job.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Waiting {
    /// Its score; the lowest comes first.
    pub(crate) score: f64,
    /// Its place in the workload; breaks ties.
    pub(crate) index: u32,
    pub(crate) processors: u32,
    pub(crate) estimate: i64,
}

impl Waiting {
    fn precedes(&self, other: &Waiting) -> bool {
        self.score.total_cmp(&other.score).then(self.index.cmp(&other.index)).is_lt()
    }
}

/// What a job must satisfy to overtake: fit into `free`, and either take no longer than `longest` or
/// fit into `extra`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gap {
    pub(crate) free: u32,
    pub(crate) extra: u32,
    pub(crate) longest: i64,
}

impl Gap {
    pub(crate) fn admits(&self, processors: u32, estimate: i64) -> bool {
        processors <= self.free && (estimate <= self.longest || processors <= self.extra)
    }
}

#[derive(Debug, Default)]
struct Block {
    entries: Vec<Waiting>,
    fewest_processors: u32,
    shortest: i64,
}

impl Block {
    fn of(entries: Vec<Waiting>) -> Self {
        let mut block = Block { entries, fewest_processors: 0, shortest: 0 };
        block.summarise();
        block
    }

    fn summarise(&mut self) {
        self.fewest_processors = self.entries.iter().map(|entry| entry.processors).min().unwrap_or(u32::MAX);
        self.shortest = self.entries.iter().map(|entry| entry.estimate).min().unwrap_or(i64::MAX);
    }
}

/// A place in the queue.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cursor {
    block: usize,
    entry: usize,
}

/// The waiting jobs.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    blocks: Vec<Block>,
    length: usize,
}

impl Queue {
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    pub(crate) fn first(&self) -> Option<&Waiting> {
        self.blocks.first()?.entries.first()
    }

    /// Just behind the head.
    pub(crate) fn second_place() -> Cursor {
        Cursor { block: 0, entry: 1 }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Waiting> {
        self.blocks.iter().flat_map(|block| &block.entries)
    }

    pub(crate) fn insert(&mut self, waiting: Waiting) {
        self.length += 1;
        let last_precedes = |block: &Block| block.entries.last().is_some_and(|last| last.precedes(&waiting));
        let mut place = match self.blocks.last() {
            // nearly always: the newest job comes last
            Some(last) if last_precedes(last) => self.blocks.len() - 1,
            _ => self.blocks.partition_point(last_precedes),
        };
        if place == self.blocks.len() {
            self.blocks.push(Block::of(vec![waiting]));
            return;
        }
        if self.blocks[place].entries.len() == BLOCK {
            let middle = if last_precedes(&self.blocks[place]) { BLOCK } else { BLOCK / 2 };
            let upper = self.blocks[place].entries.split_off(middle);
            self.blocks[place].summarise();
            self.blocks.insert(place + 1, Block::of(upper));
            place += usize::from(last_precedes(&self.blocks[place]));
        }
        let block = &mut self.blocks[place];
        let position = block.entries.partition_point(|entry| entry.precedes(&waiting));
        block.entries.insert(position, waiting);
        block.fewest_processors = block.fewest_processors.min(waiting.processors);
        block.shortest = block.shortest.min(waiting.estimate);
    }

    pub(crate) fn remove_first(&mut self) {
        self.remove_at(Cursor::default());
    }

    /// Takes out the job at a place; the place is then that of the next job.
    pub(crate) fn remove_at(&mut self, cursor: Cursor) {
        let block = &mut self.blocks[cursor.block];
        let gone = block.entries.remove(cursor.entry);
        self.length -= 1;
        if block.entries.is_empty() {
            self.blocks.remove(cursor.block);
        } else if gone.processors == block.fewest_processors || gone.estimate == block.shortest {
            block.summarise();
        }
    }

    /// Takes out a job that is known to wait.
    pub(crate) fn remove(&mut self, waiting: &Waiting) {
        let block = self
            .blocks
            .partition_point(|block| block.entries.last().is_some_and(|last| last.precedes(waiting)));
        let Some(found) = self.blocks.get(block) else { return };
        let entry = found.entries.partition_point(|entry| entry.precedes(waiting));
        if found.entries.get(entry).is_some_and(|entry| entry.index == waiting.index) {
            self.remove_at(Cursor { block, entry });
        }
    }

    /// The first job at or after `cursor` that the gap admits; `cursor` is moved there.
    pub(crate) fn next_admitted(&self, cursor: &mut Cursor, gap: Gap) -> Option<Waiting> {
        while let Some(block) = self.blocks.get(cursor.block) {
            let possible = block.fewest_processors <= gap.free
                && (block.shortest <= gap.longest || block.fewest_processors <= gap.extra);
            if possible {
                let rest = block.entries.get(cursor.entry..).unwrap_or(&[]);
                let found = rest.iter().position(|entry| gap.admits(entry.processors, entry.estimate));
                if let Some(found) = found {
                    cursor.entry += found;
                    return Some(rest[found]);
                }
            }
            *cursor = Cursor { block: cursor.block + 1, entry: 0 };
        }
        None
    }

    /// Gives every job a new score and sorts again.
    pub(crate) fn rescore(&mut self, score: impl Fn(&Waiting) -> f64) {
        let mut all: Vec<Waiting> =
            self.iter().map(|entry| Waiting { score: score(entry), ..*entry }).collect();
        all.sort_unstable_by(|a, b| a.score.total_cmp(&b.score).then(a.index.cmp(&b.index)));
        self.blocks = all.chunks(BLOCK).map(|chunk| Block::of(chunk.to_vec())).collect();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn waiting(index: u32, score: f64, processors: u32, estimate: i64) -> Waiting {
        Waiting { score, index, processors, estimate }
    }

    proptest! {
        #[test]
        fn behaves_as_a_sorted_list(
            jobs in proptest::collection::vec((0u8..20, 1u32..30, 1i64..30), 1..400),
            removals in proptest::collection::vec(any::<proptest::sample::Index>(), 0..200),
            free in 0u32..30, extra in 0u32..10, longest in 0i64..30,
        ) {
            let mut queue = Queue::default();
            let mut plain = Vec::new();
            for (index, &(score, processors, estimate)) in jobs.iter().enumerate() {
                let entry = waiting(index as u32, f64::from(score), processors, estimate);
                queue.insert(entry);
                plain.push(entry);
            }
            plain.sort_by(|a, b| a.score.total_cmp(&b.score).then(a.index.cmp(&b.index)));
            for removal in removals {
                if plain.is_empty() { break; }
                let gone = plain.remove(removal.index(plain.len()));
                queue.remove(&gone);
            }
            prop_assert_eq!(queue.iter().copied().collect::<Vec<_>>(), plain.clone());
            prop_assert_eq!(queue.len(), plain.len());
            let gap = Gap { free, extra, longest };
            let expected: Vec<Waiting> =
                plain.iter().skip(1).filter(|e| gap.admits(e.processors, e.estimate)).copied().collect();
            let mut found = Vec::new();
            let mut cursor = Queue::second_place();
            while let Some(entry) = queue.next_admitted(&mut cursor, gap) {
                found.push(entry);
                queue.remove_at(cursor);
            }
            prop_assert_eq!(found, expected);
            queue.rescore(|entry| -f64::from(entry.index));
            prop_assert!(queue.iter().map(|entry| entry.index).is_sorted_by(|a, b| a > b));
        }
    }
}
