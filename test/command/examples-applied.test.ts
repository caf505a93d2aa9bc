import { expect, test } from 'vitest';
import { exampleNames, openExample } from '../rig/examples.ts';

test.each(exampleNames())(
  '%s: runs green, and then there is nothing to do',
  async (name) => {
    const { run, sandbox } = await openExample(name);
    const apply = () => run('apply', 'campaign.yaml', '--yes', '--publish', '--poll-interval', '10');
    let first = await apply();
    // Gate after gate the first that there is to see is picked.
    for (let gates = 0; first.code === 5 && gates < 5; gates++) {
      const status = await run('status', 'campaign.yaml', '--json');
      const open: { toSee: string[] }[] = JSON.parse(status.out).gates;
      const picked = await run('pick', 'campaign.yaml', ...open.flatMap(({ toSee }) => toSee.slice(0, 1)));
      expect(picked.code, picked.err).toBe(0);
      first = await apply();
    }
    expect(first.code, first.err).toBe(0);
    const bought = sandbox.ledger().length;
    const again = await run('apply', 'campaign.yaml', '--yes');
    expect(again.code, again.err).toBe(0);
    expect(again.err).toContain('Nothing to do');
    expect(sandbox.ledger()).toHaveLength(bought);
  },
  60_000,
);
