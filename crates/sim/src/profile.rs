//! How many processors are free from when to when, now and in the future.

/// A step function of time; each step lasts until the next, the last for ever.
#[derive(Debug, Clone)]
pub(crate) struct Profile {
    steps: Vec<Step>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Step {
    from: i64,
    free: i64,
}

impl Profile {
    /// All free from `now` on.
    pub(crate) fn new(now: i64, processors: u32) -> Self {
        Profile { steps: vec![Step { from: now, free: i64::from(processors) }] }
    }

    /// Forgets what is before `now`.
    pub(crate) fn advance(&mut self, now: i64) {
        let current = self.steps.partition_point(|step| step.from <= now).saturating_sub(1);
        self.steps.drain(..current);
        if let Some(first) = self.steps.first_mut() {
            first.from = first.from.max(now);
        }
    }

    /// Adds `change` processors from `start` to `end`.
    pub(crate) fn change(&mut self, start: i64, end: i64, change: i64) {
        if start >= end {
            return;
        }
        let first = self.cut(start);
        let last = self.cut(end);
        for step in &mut self.steps[first..last] {
            step.free += change;
        }
        // a boundary where nothing changes is none
        for boundary in [last, first] {
            if boundary > 0
                && self.steps.get(boundary).is_some_and(|step| step.free == self.steps[boundary - 1].free)
            {
                self.steps.remove(boundary);
            }
        }
    }

    /// The index of the step that begins at `time`, made if there is none.
    fn cut(&mut self, time: i64) -> usize {
        let place = self.steps.partition_point(|step| step.from < time);
        if self.steps.get(place).is_none_or(|step| step.from != time) {
            let free = self.steps[place.saturating_sub(1)].free;
            self.steps.insert(place, Step { from: time, free });
        }
        place
    }

    /// The earliest time from the profile's beginning at which `processors` are free for `duration`.
    pub(crate) fn earliest(&self, processors: u32, duration: i64) -> i64 {
        let needed = i64::from(processors);
        let mut start = self.steps[0].from;
        let mut open = false;
        for step in &self.steps {
            if open && step.from - start >= duration {
                break;
            }
            if step.free < needed {
                open = false;
            } else if !open {
                open = true;
                start = step.from;
            }
        }
        start
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn agrees_with_an_array_of_seconds(
            jobs in proptest::collection::vec((1u32..8, 1i64..12), 1..25), leave in 0i64..10,
        ) {
            let mut profile = Profile::new(0, 8);
            let mut free = [8i64; 400];
            for &(processors, duration) in &jobs {
                let fits = |start: usize| {
                    free[start..start + duration as usize].iter().all(|&n| n >= i64::from(processors))
                };
                let expected = (0..300).find(|&start| fits(start)).unwrap();
                let start = profile.earliest(processors, duration);
                prop_assert_eq!(start, expected as i64);
                profile.change(start, start + duration, -i64::from(processors));
                free[expected..expected + duration as usize].iter_mut().for_each(|n| *n -= i64::from(processors));
            }
            profile.advance(leave);
            let expected = (leave as usize..300).find(|&start| (start..start + 5).all(|t| free[t] >= 3)).unwrap();
            prop_assert_eq!(profile.earliest(3, 5), expected as i64);
        }
    }

    #[test]
    fn boundaries_vanish_when_a_reservation_is_given_back() {
        let mut profile = Profile::new(0, 8);
        profile.change(5, 9, -3);
        profile.change(5, 9, 3);
        assert_eq!(profile.steps.len(), 1);
    }
}
