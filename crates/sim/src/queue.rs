//! The waiting jobs in order of their score, in blocks, and blocks in groups, that remember their smallest
//! job, so that a search for a job that fits passes over those where none can.
//!
//! Blocks keep the cost of a scheduling pass small when tens of thousands of jobs wait, groups when millions
//! do; both cost nothing when ten do.

mod gap;

use gap::Least;

pub(crate) use gap::Gap;

/// Most entries of a block, and most blocks of a group; few in tests, so that these see many of both.
const WIDTH: usize = if cfg!(test) { 4 } else { 64 };

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

#[derive(Debug)]
struct Block {
    entries: Vec<Waiting>,
    least: Least,
}

impl Block {
    fn of(entries: Vec<Waiting>) -> Self {
        let least = entries.iter().map(Least::from).fold(Least::OF_NONE, Least::and);
        Block { entries, least }
    }

    fn ends_before(&self, waiting: &Waiting) -> bool {
        self.entries.last().is_some_and(|last| last.precedes(waiting))
    }

    /// Puts a job in its place; a block that would be too long gives its upper part back.
    fn insert(&mut self, waiting: Waiting) -> Option<Block> {
        if self.entries.len() == WIDTH {
            let place = if self.ends_before(&waiting) { WIDTH } else { WIDTH / 2 };
            let mut upper = Block::of(self.entries.split_off(place));
            *self = Block::of(std::mem::take(&mut self.entries));
            let goes_up = self.ends_before(&waiting);
            let _ = if goes_up { upper.insert(waiting) } else { self.insert(waiting) };
            return Some(upper);
        }
        let position = self.entries.partition_point(|entry| entry.precedes(&waiting));
        self.entries.insert(position, waiting);
        self.least = self.least.and(Least::from(&waiting));
        None
    }
}

#[derive(Debug)]
struct Group {
    blocks: Vec<Block>,
    least: Least,
}

impl Group {
    fn of(blocks: Vec<Block>) -> Self {
        let least = blocks.iter().map(|block| block.least).fold(Least::OF_NONE, Least::and);
        Group { blocks, least }
    }

    fn ends_before(&self, waiting: &Waiting) -> bool {
        self.blocks.last().is_some_and(|last| last.ends_before(waiting))
    }

    /// Puts a job in its place; a group that would be too long gives its upper part back.
    fn insert(&mut self, waiting: Waiting) -> Option<Group> {
        let place = place_for(&self.blocks, |block| block.ends_before(&waiting));
        self.least = self.least.and(Least::from(&waiting));
        let upper = self.blocks[place].insert(waiting)?;
        self.blocks.insert(place + 1, upper);
        if self.blocks.len() <= WIDTH {
            return None;
        }
        let last = place + 2 == self.blocks.len();
        let upper = self.blocks.split_off(if last { WIDTH } else { WIDTH / 2 });
        *self = Group::of(std::mem::take(&mut self.blocks));
        Some(Group::of(upper))
    }
}

/// Where a job belongs that comes after all for which `ends_before` holds: the next place, or the last.
fn place_for<T>(parts: &[T], ends_before: impl Fn(&T) -> bool) -> usize {
    let last = parts.len().saturating_sub(1);
    // nearly always: the newest job comes last
    if parts.last().is_some_and(&ends_before) {
        return last;
    }
    parts.partition_point(ends_before).min(last)
}

/// A place in the queue.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cursor {
    group: usize,
    block: usize,
    entry: usize,
}

/// The waiting jobs.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    groups: Vec<Group>,
    length: usize,
}

impl Queue {
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    pub(crate) fn first(&self) -> Option<&Waiting> {
        self.groups.first()?.blocks.first()?.entries.first()
    }

    /// Just behind the head.
    pub(crate) fn second_place() -> Cursor {
        Cursor { entry: 1, ..Cursor::default() }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Waiting> {
        self.groups.iter().flat_map(|group| &group.blocks).flat_map(|block| &block.entries)
    }

    pub(crate) fn insert(&mut self, waiting: Waiting) {
        self.length += 1;
        let place = place_for(&self.groups, |group| group.ends_before(&waiting));
        let Some(group) = self.groups.get_mut(place) else {
            self.groups.push(Group::of(vec![Block::of(vec![waiting])]));
            return;
        };
        if let Some(upper) = group.insert(waiting) {
            self.groups.insert(place + 1, upper);
        }
    }

    pub(crate) fn remove_first(&mut self) {
        self.remove_at(Cursor::default());
    }

    /// Takes out the job at a place; the place is then that of the next job.
    pub(crate) fn remove_at(&mut self, cursor: Cursor) {
        let group = &mut self.groups[cursor.group];
        let block = &mut group.blocks[cursor.block];
        let gone = Least::from(&block.entries.remove(cursor.entry));
        self.length -= 1;
        if block.entries.is_empty() {
            group.blocks.remove(cursor.block);
        } else if block.least.touches(gone) {
            *block = Block::of(std::mem::take(&mut block.entries));
        }
        if group.blocks.is_empty() {
            self.groups.remove(cursor.group);
        } else if group.least.touches(gone) {
            *group = Group::of(std::mem::take(&mut group.blocks));
        }
    }

    /// Takes out a job that is known to wait.
    pub(crate) fn remove(&mut self, waiting: &Waiting) {
        let group = self.groups.partition_point(|group| group.ends_before(waiting));
        let Some(blocks) = self.groups.get(group).map(|group| &group.blocks) else { return };
        let block = blocks.partition_point(|block| block.ends_before(waiting));
        let Some(entries) = blocks.get(block).map(|block| &block.entries) else { return };
        let entry = entries.partition_point(|entry| entry.precedes(waiting));
        if entries.get(entry).is_some_and(|entry| entry.index == waiting.index) {
            self.remove_at(Cursor { group, block, entry });
        }
    }

    /// The first job at or after `cursor` that the gap admits; `cursor` is moved there.
    pub(crate) fn next_admitted(&self, cursor: &mut Cursor, gap: Gap) -> Option<Waiting> {
        while let Some(group) = self.groups.get(cursor.group) {
            let blocks = if group.least.allows(gap) { group.blocks.as_slice() } else { &[] };
            while let Some(block) = blocks.get(cursor.block) {
                if block.least.allows(gap) {
                    let rest = block.entries.get(cursor.entry..).unwrap_or(&[]);
                    let found = rest.iter().position(|entry| gap.admits(entry.processors, entry.estimate));
                    if let Some(found) = found {
                        cursor.entry += found;
                        return Some(rest[found]);
                    }
                }
                (cursor.block, cursor.entry) = (cursor.block + 1, 0);
            }
            *cursor = Cursor { group: cursor.group + 1, ..Cursor::default() };
        }
        None
    }

    /// Gives every job a new score and sorts again.
    pub(crate) fn rescore(&mut self, score: impl Fn(&Waiting) -> f64) {
        let mut all: Vec<Waiting> =
            self.iter().map(|entry| Waiting { score: score(entry), ..*entry }).collect();
        all.sort_unstable_by(|a, b| a.score.total_cmp(&b.score).then(a.index.cmp(&b.index)));
        let group = |chunk: &[Waiting]| {
            Group::of(chunk.chunks(WIDTH).map(|chunk| Block::of(chunk.to_vec())).collect())
        };
        self.groups = all.chunks(WIDTH * WIDTH).map(group).collect();
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
