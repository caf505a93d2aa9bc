import { expect, test } from 'vitest';
import { exampleNames, openExample } from '../rig/examples.ts';

test.each(exampleNames())(
  '%s: runs green, and then there is nothing to do',
  async (name) => {
    const { run, sandbox } = await openExample(name);
    const first = await run('apply', 'campaign.yaml', '--yes', '--publish', '--poll-interval', '10');
    expect(first.code, first.err).toBe(0);
    const bought = sandbox.ledger().length;
    const again = await run('apply', 'campaign.yaml', '--yes');
    expect(again.code, again.err).toBe(0);
    expect(again.err).toContain('Nothing to do');
    expect(sandbox.ledger()).toHaveLength(bought);
  },
  60_000,
);
