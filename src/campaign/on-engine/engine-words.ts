import type { Engine } from '../../cluster/open-engine.ts';
import type { RunRecord } from '../../cluster/run-record.ts';
import type { EngineChoice } from '../apply-options.ts';

export function attachedText({ submitted, origin, state }: RunRecord, { shown }: Engine): string {
  const from = `${origin.user === '' ? '' : `${origin.user} on `}${origin.host}`;
  const how = state === 'ended' ? 'it has ended meanwhile' : 'nothing is submitted again';
  return `attached to the run on ${shown} that ${from} submitted at ${submitted.toISOString()}: ${how}`;
}

export function detachedText({ shown }: Engine, { url }: EngineChoice): string {
  if (url === 'embedded') return 'the embedded engine stops with this command: the same command goes on with its run';
  return `detached: the run goes on at ${shown}. The same command attaches to it again; \`cancel\` with the same --engine stops it`;
}
