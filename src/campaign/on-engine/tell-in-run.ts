import type { RunEvent } from '../../contract/event.ts';
import type { Tell } from '../../contract/notice.ts';

/** A screen draws over what is written beside it, so while a run is watched a notice is one of its events. */
export interface TellInRun {
  tell: Tell;
  /** From the run's first event to its last one notices go to `on`, too. */
  from(on: (event: RunEvent) => void): (event: RunEvent) => void;
  /** Nobody hears events any more. */
  end(): void;
}

export function makeTellInRun(tell: Tell, now: () => number): TellInRun {
  let hear: ((event: RunEvent) => void) | undefined;
  return {
    tell(news) {
      if (hear === undefined || news.is !== 'notice') tell(news);
      else hear({ at: new Date(now()).toISOString(), event: 'noticed', message: news.text });
    },
    from: (on) => (event) => {
      if (event.event === 'run-ended') hear = undefined;
      on(event);
      if (event.event === 'run-started') hear = on;
    },
    end() {
      hear = undefined;
    },
  };
}
