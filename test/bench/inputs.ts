import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BenchStep, thirds } from './steps.ts';

export interface InputOptions {
  kind: 'image' | 'video';
  concurrency: number;
  /** Steps in one layer, where steps need each other. */
  width?: number;
}

/** The stub finds the number of a step in its prompt. */
function promptOf(index: number): string {
  return `Lamp on an oak table, warm light, #${index}`;
}

function bodyOf(index: number): string {
  return JSON.stringify({ prompt: promptOf(index), aspectRatio: '1:1' });
}

export function savePath(index: number, kind: 'image' | 'video'): string {
  return `out/${index}.${kind === 'image' ? 'png' : 'mp4'}`;
}

/** `campaign.yaml`, with its rows in CSV files. Prices are known, so that no step goes ahead alone to find them out. */
export function writeCampaign(folder: string, steps: BenchStep[], options: InputOptions): string {
  mkdirSync(folder, { recursive: true });
  const tasks =
    options.width === undefined ? flatTask(folder, steps, options.kind) : layerTasks(folder, steps, options.width);
  const file = join(folder, 'campaign.yaml');
  const head = `version: 1\nname: bench\nservice: { concurrency: ${options.concurrency} }\nprices: { ${options.kind}: 1 }\n`;
  writeFileSync(file, `${head}tasks:\n${tasks}`);
  return file;
}

function flatTask(folder: string, steps: BenchStep[], kind: 'image' | 'video'): string {
  const rows = steps.map((_, index) => `${index},"${promptOf(index)}"`);
  writeFileSync(join(folder, 'rows.csv'), `n,text\n${rows.join('\n')}\n`);
  const ratio = kind === 'image' ? ', aspectRatio: "1:1"' : '';
  return `  hero:
    kind: ${kind}
    foreach: rows.csv
    key: "{{row.n}}"
    with: { prompt: "{{row.text}}"${ratio} }
    save: out/{{row.n}}
`;
}

/** A task for each third of each layer; which steps of the layer before are meant stands in the rows. */
function layerTasks(folder: string, steps: BenchStep[], width: number): string {
  const tasks: string[] = [];
  for (let layer = 0; layer * width < steps.length; layer += 1) {
    for (const [part, third] of thirds.entries()) {
      const rows: string[] = [];
      for (let place = part; place < width; place += 3) {
        const index = layer * width + place;
        rows.push([index, `"${promptOf(index)}"`, ...(steps[index]?.needs ?? [])].join(','));
      }
      const name = `l${layer}${third}`;
      const before = thirds.map((other) => `l${layer - 1}${other}`);
      const columns = layer === 0 ? '' : ',x,y,z';
      writeFileSync(join(folder, `${name}.csv`), `n,text${columns}\n${rows.join('\n')}\n`);
      const picks = before.map((task, index) => `${task}: { key: "{{row.${'xyz'[index]}}}" }`);
      const joins = layer === 0 ? '' : `    needs: [${before.join(', ')}]\n    from: { ${picks.join(', ')} }\n`;
      tasks.push(`  ${name}:
    kind: image
    foreach: ${name}.csv
    key: "{{row.n}}"
    with: { prompt: "{{row.text}}", aspectRatio: "1:1" }
${joins}    save: out/{{row.n}}
`);
    }
  }
  return tasks.join('');
}

/** What the limit reads: bodies as they are sent. */
export function writeLimitTasks(folder: string, steps: BenchStep[]): string {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'tasks.json');
  const tasks = steps.map(({ needs }, index) => ({
    body: bodyOf(index),
    needs,
    save: savePath(index, 'image'),
  }));
  writeFileSync(file, JSON.stringify(tasks));
  return file;
}

export function writeNaiveTasks(folder: string, steps: BenchStep[], concurrency: number): string {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'tasks.yaml');
  const tasks = steps.map(({ needs }, index) => {
    const list = needs.length === 0 ? '' : `    needs: [${needs.map((need) => `"${need}"`).join(', ')}]\n`;
    return `  - id: "${index}"\n    prompt: "${promptOf(index)}"\n${list}    save: ${savePath(index, 'image')}\n`;
  });
  writeFileSync(file, `concurrency: ${concurrency}\ntasks:\n${tasks.join('')}`);
  return file;
}

/** What the two peers leave behind when they are done: the naive one would need minutes for it. */
export function finishByHand(folder: string, steps: BenchStep[]): void {
  mkdirSync(join(folder, 'out'));
  const indexes = [...steps.keys()];
  for (const index of indexes) writeFileSync(join(folder, savePath(index, 'image')), 'a picture');
  writeFileSync(join(folder, 'journal'), indexes.map((index) => `${index}\n`).join(''));
  const entries = indexes.map((index) => {
    const key = createHash('sha256')
      .update(`${index} ${bodyOf(index)}`)
      .digest('hex');
    return [String(index), { key, job: `job_${index}`, done: true }];
  });
  writeFileSync(join(folder, 'lock.json'), JSON.stringify(Object.fromEntries(entries), null, 1));
}
