//! How often Slurm is asked: soon after something has happened, ever more seldom while nothing does, and
//! never so that its answers take more than a small share of the time.

use std::time::{Duration, Instant};

/// Nobody waits longer for news than this.
const LONGEST: Duration = Duration::from_secs(30);

/// The wait for an answer that alone is awaited, at least.
const AWAITED: Duration = Duration::from_millis(300);

/// What does not come for long is awaited more calmly: a wait is at least this part of the time without news.
const CALM: u32 = 10;

/// When to ask next.
#[derive(Debug, Clone)]
pub(super) struct Pace {
    /// The first wait.
    shortest: Duration,
    /// A wait is at least so many times what the last question took.
    gentleness: u32,
    wait: Duration,
    took: Duration,
    asked: Option<Instant>,
    news: Instant,
}

impl Pace {
    /// For the queue, which is in the controller's memory.
    pub(super) fn of_queue() -> Pace {
        Pace::new(Duration::from_millis(700), 20)
    }

    /// For accounting, which searches a database: while jobs are in the queue, there is time.
    pub(super) fn of_accounting() -> Pace {
        Pace::new(Duration::from_secs(20), 50)
    }

    fn new(shortest: Duration, gentleness: u32) -> Pace {
        Pace { shortest, gentleness, wait: shortest, took: Duration::ZERO, asked: None, news: Instant::now() }
    }

    /// Whether it is time, after this wait at least.
    pub(super) fn is_due(&self, now: Instant, least: Duration) -> bool {
        let least = least.max((self.took * self.gentleness).min(LONGEST));
        self.asked.is_none_or(|asked| now.duration_since(asked) >= self.wait.max(least))
    }

    /// Whether it is time when somebody waits for this answer alone.
    pub(super) fn is_awaited(&self, now: Instant) -> bool {
        let calm = (now.duration_since(self.news) / CALM).min(LONGEST);
        self.asked.is_none_or(|asked| now.duration_since(asked) >= calm.max(3 * self.took).max(AWAITED))
    }

    /// Takes note of a question that took some time, and whether there was news.
    pub(super) fn asked(&mut self, now: Instant, took: Duration, news: bool) {
        self.asked = Some(now);
        self.took = took;
        if news {
            self.news = now;
        }
        self.wait = if news { self.shortest } else { (self.wait * 3 / 2).min(LONGEST) };
    }

    /// Something has happened of which Slurm will know more.
    pub(super) fn hurry(&mut self) {
        self.news = Instant::now();
        self.wait = self.shortest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_does_not_come_is_awaited_ever_more_calmly() {
        let mut pace = Pace::of_accounting();
        let begin = Instant::now();
        pace.asked(begin, Duration::from_millis(10), true);
        assert!(pace.is_awaited(begin + Duration::from_millis(300)));
        let late = begin + Duration::from_secs(100);
        pace.asked(late, Duration::from_millis(10), false);
        assert!(!pace.is_awaited(late + Duration::from_secs(9)));
        assert!(pace.is_awaited(late + Duration::from_secs(12)));
    }

    #[test]
    fn it_backs_off_and_hurries() {
        let mut pace = Pace::of_queue();
        let mut now = Instant::now();
        assert!(pace.is_due(now, Duration::ZERO));
        let mut questions = 0;
        let end = now + Duration::from_secs(3600);
        while now < end {
            if pace.is_due(now, Duration::ZERO) {
                pace.asked(now, Duration::from_millis(100), false);
                questions += 1;
            }
            now += Duration::from_millis(100);
        }
        assert!((110..140).contains(&questions), "{questions} questions in an hour");
        pace.hurry();
        pace.asked(now, Duration::from_secs(1), true);
        assert!(
            !pace.is_due(now + Duration::from_secs(19), Duration::ZERO),
            "a slow answer is not asked for at once again"
        );
        assert!(pace.is_due(now + Duration::from_secs(20), Duration::ZERO));
        assert!(!pace.is_due(now + Duration::from_secs(20), Duration::from_secs(30)));
    }
}
