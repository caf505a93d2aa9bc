import type { Graph, OpenRequest, Step } from '../../src/graph/graph.ts';
import { findReferences, fingerprintStep, replaceReferences } from '../../src/graph/render/fingerprint.ts';
import { defined } from '../../src/ground/values.ts';

/** A step as a test writes it: references by address, the rest as a graph would make it. */
export type WrittenStep = Pick<Step, 'address' | 'kind'> &
  Partial<Pick<Step, 'needs' | 'file' | 'save'>> &
  Omit<NonNullable<Step['rules']>, 'pin'> & {
    request: OpenRequest;
    /** The part of another step's output that it is about, from 0. */
    part?: { of: string; index: number };
  };

/** A graph without a manifest, for what the engine does with it. Steps stand after what they need. */
export function graphOfSteps(written: WrittenStep[], more: Partial<Graph> = {}): Graph {
  const fingerprints = new Map<string, string>();
  const fingerprintOf = (address: string) => fingerprints.get(address) ?? address;
  const at = { line: 1, column: 1, offset: 0 };
  const steps = written.map(({ part, needs = [], timeoutMs, retry, expect, ...step }): Step => {
    const rules = defined({ timeoutMs, retry, expect });
    const replaced = replaceReferences(step.request, fingerprintOf);
    const paidRequest = step.file === undefined ? replaced : { ...replaced, file: { $sha256: step.file.sha256 } };
    const fingerprint = fingerprintStep({ kind: step.kind, paidRequest });
    fingerprints.set(step.address, fingerprint);
    const own = part === undefined ? undefined : { ...part, fingerprint: fingerprintOf(part.of) };
    return {
      save: ['upload', 'post'].includes(step.kind) ? '' : `output/${step.address.replace('@', '-')}`,
      ...step,
      task: step.address.split('@')[0] ?? step.address,
      matrix: {},
      paidRequest,
      fingerprint,
      ...(Object.keys(rules).length > 0 && { rules }),
      needs: [...new Set([...findReferences(step.request), ...needs, ...(part === undefined ? [] : [part.of])])].sort(),
      ...(own !== undefined && { part: own }),
      tags: [],
      place: { file: 'campaign.yaml', start: at, end: at },
    };
  });
  const tasks = [...new Set(steps.map(({ task }) => task))];
  return {
    name: 'test',
    steps,
    tasks: tasks.map((id) => {
      const own = steps.filter(({ task }) => task === id);
      return { id, kind: own[0]?.kind ?? '', steps: own.length };
    }),
    selectors: {},
    prices: {},
    warnings: [],
    ...more,
  };
}
