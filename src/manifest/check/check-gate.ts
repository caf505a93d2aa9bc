import { isMap, type JsonMap, ownValue, unknownValue } from '../../ground/values.ts';
import { kinds } from '../../kinds/index.ts';
import type { TellTask } from '../tell-task.ts';

/** Reports a gate that its own words, its kind or its takes rule out. Axes and numbers of steps are known only later. */
export function checkGate(id: string, task: JsonMap, tell: TellTask): void {
  const gate = ownValue(task, 'gate');
  if (gate === undefined || gate === unknownValue) return;
  const kind = ownValue(task, 'kind');
  const act = typeof kind === 'string' ? kinds[kind]?.act : undefined;
  if (act === 'upload' || act === 'post') {
    const why = act === 'post' ? 'a post waits for a consent of its own (--publish)' : 'an upload is a file of yours';
    const message = `\`gate\` of task \`${id}\` asks about nothing: ${why}`;
    tell({ key: 'gate', of: 'key' }, { message, hint: 'remove it' });
    return;
  }
  if (isMap(gate)) checkForm(id, gate, { takes: ownValue(task, 'takes'), tell });
}

/** Reports a canary that its kind rules out, or whose question a gate asks already. */
export function checkCanary(id: string, task: JsonMap, tell: TellTask): void {
  const canary = ownValue(task, 'canary');
  if (canary === undefined || canary === unknownValue) return;
  const kind = ownValue(task, 'kind');
  const act = typeof kind === 'string' ? kinds[kind]?.act : undefined;
  if (act === 'upload' || act === 'post') {
    const why = act === 'post' ? 'a post waits for a consent of its own (--publish)' : 'an upload costs nothing';
    tell(
      { key: 'canary', of: 'key' },
      { message: `\`canary\` of task \`${id}\` tries nothing out: ${why}`, hint: 'remove it' },
    );
    return;
  }
  if (!isMap(canary) || ownValue(canary, 'then') !== 'ask' || ownValue(task, 'gate') === undefined) return;
  const message = `\`canary\` of task \`${id}\` asks people, and so does its \`gate\`: one pick would answer both`;
  const hint = 'write then: check, or remove `gate`';
  tell({ key: 'canary', part: 'then', of: 'value' }, { message, hint });
}

function checkForm(id: string, gate: JsonMap, { takes, tell }: { takes: unknown; tell: TellTask }): void {
  const [approve, choose, among] = [ownValue(gate, 'approve'), ownValue(gate, 'choose'), ownValue(gate, 'among')];
  if (approve !== undefined) {
    for (const [part, value] of Object.entries({ choose, among })) {
      if (value === undefined) continue;
      const message = `\`gate\` of task \`${id}\` has \`approve\` and \`${part}\`: each output is looked at, or some of several are chosen`;
      tell(
        { key: 'gate', part, of: 'key' },
        { message, hint: `remove \`${part}\`, or write gate: { choose: 1, among: all }` },
      );
    }
    return;
  }
  if (choose === undefined) {
    const hint = 'add `choose:` with the number that is picked, or write gate: approve';
    tell(
      { key: 'gate', of: 'value' },
      { code: 'MB1102', message: `\`gate\` of task \`${id}\` has no \`choose\``, hint },
    );
    return;
  }
  const hasTakes = takes === unknownValue || (typeof takes === 'number' && takes > 1);
  if (hasTakes || (among !== undefined && among !== 'takes')) return;
  const hint =
    'write `takes: 4` beside it, or choose among an axis of the matrix or `all`, as in gate: { choose: 1, among: all }';
  const message = `\`gate\` of task \`${id}\` chooses among takes, and there is one`;
  tell({ key: 'gate', part: among === undefined ? 'choose' : 'among', of: 'key' }, { message, hint });
}
