import type { Kind } from './kind.ts';

/**
 * A post on connected social accounts. Its create request is undocumented. Only generation is documented to cost
 * credits, but if an answer has a charge, the charge is recorded.
 */
export const post: Kind = {
  name: 'post',
  description: 'A post on social accounts. Sent after everything else, at most once.',
  act: 'post',
  media: 'none',
  create: { paths: ['/posts', '/posts/create'], documented: false },
  recovery: 'ask',
  fields: {
    accountIds: { description: 'Which accounts it goes to; `mediabatch list accounts` lists them.', type: 'strings' },
    caption: { description: 'The text of the post.', type: 'string', free: true },
    media: { description: 'What it shows: public https URLs, or outputs of other tasks.', type: 'strings', url: true },
    scheduledAt: {
      description: 'Time of publication, ISO 8601. Omitted: published immediately.',
      type: 'string',
      free: true,
    },
  },
  pricedBy: [],
  free: true,
  outputs: [],
  typicalMs: 5_000,
};
