//! How often Slurm is asked: soon after something has happened, ever more seldom while nothing does, and
//! never so that its answers take more than a small share of the time.

use std::time::{Duration, Instant};

/// The first wait.
const SHORTEST: Duration = Duration::from_millis(700);

/// Nobody waits longer for news than this.
const LONGEST: Duration = Duration::from_secs(30);

/// A wait is at least so many times what the last question took.
const GENTLENESS: u32 = 10;

/// When to ask next.
#[derive(Debug, Clone)]
pub(super) struct Pace {
    wait: Duration,
    least: Duration,
    asked: Option<Instant>,
}

impl Pace {
    pub(super) fn new() -> Pace {
        Pace { wait: SHORTEST, least: Duration::ZERO, asked: None }
    }

    /// Whether it is time.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.asked.is_none_or(|asked| now.duration_since(asked) >= self.wait.max(self.least))
    }

    /// Takes note of a question that took some time, and whether there was news.
    pub(super) fn asked(&mut self, now: Instant, took: Duration, news: bool) {
        self.asked = Some(now);
        self.least = (took * GENTLENESS).min(LONGEST);
        self.wait = if news { SHORTEST } else { (self.wait * 3 / 2).min(LONGEST) };
    }

    /// Something has happened of which Slurm will know more.
    pub(super) fn hurry(&mut self) {
        self.wait = SHORTEST;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_backs_off_and_hurries() {
        let mut pace = Pace::new();
        let mut now = Instant::now();
        assert!(pace.is_due(now));
        let mut questions = 0;
        let end = now + Duration::from_secs(3600);
        while now < end {
            if pace.is_due(now) {
                pace.asked(now, Duration::from_millis(100), false);
                questions += 1;
            }
            now += Duration::from_millis(100);
        }
        assert!((110..140).contains(&questions), "{questions} questions in an hour");
        pace.hurry();
        pace.asked(now, Duration::from_secs(2), true);
        assert!(!pace.is_due(now + Duration::from_secs(19)), "a slow answer is not asked for at once again");
        assert!(pace.is_due(now + Duration::from_secs(20)));
    }
}
