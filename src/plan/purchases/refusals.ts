/** Cause of a failed job: the prompt or a reference was refused, the output was refused, or the service broke. */
export type FailureClass = 'prompt' | 'output' | 'machine';

const refusal =
  /moderat|polic(?:y|ies)|prohibited|nsfw|unsafe|inappropriate|sensitive|flagged|safety|violat|guidelines|harmful|reject|block/i;
const ofOutput =
  /\boutput\b|did not generate|(?:generated|resulting) (?:image|picture|video|audio|speech|content|media|result)|\bresponse violated/i;
const ofInput = /\b(?:prompt|request|input)\b/i;
const ofMachine =
  /upstream|bad gateway|unavailable|overload|capacity|time[d -]*out|internal (?:server )?error|out of memory|connection|rate limit|try again later|invalid response/i;

/**
 * Rules in order; the first that matches decides. Services document no codes for these, only words: where they may mean the
 * prompt they do, because a repeated refusal can be charged.
 */
const rules: readonly { is: FailureClass; matches: (error: string) => boolean }[] = [
  { is: 'output', matches: (error) => ofOutput.test(error) && refusal.test(error) && !ofInput.test(error) },
  { is: 'prompt', matches: (error) => refusal.test(error) },
  {
    is: 'prompt',
    matches: (error) =>
      /invalid(?! response)|\btoo (?:long|large|small|short)\b|unsupported|content checker/i.test(error),
  },
  { is: 'machine', matches: (error) => ofMachine.test(error) },
];

/** Returns the class of a failed job by the service's message. Undefined when its words tell nothing. */
export function classifyFailure(error: string | undefined): FailureClass | undefined {
  return error === undefined ? undefined : rules.find(({ matches }) => matches(error))?.is;
}
