import type { ReviewCommands } from '../contract/review.ts';
import { call } from '../plan/advice.ts';
import type { Paste } from '../report/advice-text.ts';

/** Commands that concern the same lock as the running one. */
export function reviewCommands(paste: Paste): ReviewCommands {
  return {
    ...{ pick: paste(call('pick')), reject: paste(call('reject')), unpick: paste(call('unpick')) },
    ...{ redo: paste(call('apply', '--redo')), explain: paste(call('explain')), open: paste(call('open')) },
  };
}
