import type { Notice, Tell } from '../contract/notice.ts';

/** A `tell` that keeps what it is told, and passes it on. */
export function collectNotices(passOn: Tell = () => {}): { notices: readonly Notice[]; tell: Tell } {
  const notices: Notice[] = [];
  return {
    notices,
    tell(notice) {
      notices.push(notice);
      passOn(notice);
    },
  };
}
