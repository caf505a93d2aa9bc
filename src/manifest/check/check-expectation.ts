import { describeValue, isMap, type JsonMap, ownValue, unknownValue } from '../../ground/values.ts';
import { kinds } from '../../kinds/index.ts';
import type { TellTask } from '../tell-task.ts';

/** Reports what `expect` asks for that no file of this kind can satisfy. */
export function checkExpectation(id: string, task: JsonMap, tell: TellTask): void {
  const expect = ownValue(task, 'expect');
  const kindName = ownValue(task, 'kind');
  if (!isMap(expect) || expect === unknownValue) return;
  for (const name of ['width', 'height', 'duration', 'bytes']) {
    const range = ownValue(expect, name);
    const [min, max] = [ownValue(range, 'min'), ownValue(range, 'max')];
    if (typeof min !== 'number' || typeof max !== 'number' || min <= max) continue;
    tell(
      { key: 'expect', part: name, of: 'key' },
      {
        message: `\`expect.${name}\` of task \`${id}\` has a \`min\` of ${min} above its \`max\` of ${max}, so nothing fits`,
        hint: `write { min: ${max}, max: ${min} }`,
      },
    );
  }
  const media = typeof kindName === 'string' ? kinds[kindName]?.media : undefined;
  if (media === undefined) return;
  if (media === 'none') {
    const message = `\`expect\` of task \`${id}\` checks nothing: a task of kind ${kindName} has no output file`;
    tell({ key: 'expect', of: 'key' }, { message, hint: 'remove it' });
    return;
  }
  const type = ownValue(expect, 'type');
  if (typeof type === 'string' && /^(?:image|audio|video)(?:\/|$)/.test(type) && type.split('/')[0] !== media) {
    const message = `\`expect.type\` of task \`${id}\` is ${describeValue(type)}, and a task of kind ${kindName} gives ${media} files`;
    tell({ key: 'expect', part: 'type', of: 'value' }, { message, hint: `write ${media}, or one type of it` });
  }
  const unknowable = { image: ['duration'], audio: ['width', 'height', 'ratio'], video: [] }[media];
  for (const name of unknowable) {
    if (ownValue(expect, name) === undefined) continue;
    const message = `\`expect.${name}\` of task \`${id}\` can never be met: a task of kind ${kindName} gives ${media} files, and these have no ${name}`;
    tell({ key: 'expect', part: name, of: 'key' }, { message, hint: 'remove it' });
  }
}
