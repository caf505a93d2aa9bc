/** Cause of a failed job: refused prompt or reference, refused output, or an error of the service. */
type FailureClass = 'prompt' | 'output' | 'machine';

const refusal =
  /moderat|polic(?:y|ies)|prohibited|nsfw|unsafe|inappropriate|sensitive|flagged|safety|violat|guidelines|harmful|reject|block/i;
const ofOutput =
  /\boutput\b|did not generate|(?:generated|resulting) (?:image|picture|video|audio|speech|content|media|result)|\bresponse violated/i;
const ofInput = /\b(?:prompt|request|input)\b/i;
const ofMachine =
  /upstream|bad gateway|unavailable|overload|capacity|time[d -]*out|internal (?:server )?error|out of memory|connection|rate limit|try again later|invalid response/i;

/**
 * Rules in order; the first that matches decides. Services document no error codes, only messages. Messages that may
 * mean the prompt count as a refused prompt, because a repeated refusal can be charged.
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

export function classifyFailure(error: string | undefined): FailureClass | undefined {
  return error === undefined ? undefined : rules.find(({ matches }) => matches(error))?.is;
}
