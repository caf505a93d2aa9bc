import type { Database } from '../../../src/cluster/database/database.ts';

type Answers = readonly [statement: RegExp, answer: (values: readonly unknown[]) => unknown[] | Promise<unknown[]>];

/**
 * A database that answers each statement by the first entry that it matches, when that entry has its answer: a test lets something
 * else happen meanwhile.
 */
export function scriptedDatabase(...script: readonly Answers[]): Database {
  const query = async <Row>(text: string, values: readonly unknown[] = []) => {
    const [, answer] = script.find(([statement]) => statement.test(text)) ?? [];
    if (answer === undefined) throw new Error(`nobody said what answers ${text}`);
    return (await answer(values)) as Row[];
  };
  return {
    query,
    transaction: (work) => work({ query }),
    persist: (act) => act(),
    ask: (text, values) => query(text, values),
    listen: () => () => {},
    unreachableSince: undefined,
    close: async () => {},
  };
}
