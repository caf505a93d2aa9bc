import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, onTestFinished } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { temporaryFolder } from '../rig/command.ts';
import { bufferTerminal } from './buffer-terminal.ts';

/** Where a test stands: a folder of its own, as the working folder of this process. */
export interface Workplace {
  readonly folder: string;
  run(...args: string[]): Promise<{ code: number; out: string; err: string }>;
  write(name: string, text: string): void;
  read(name: string): string;
}

/** A new folder for each test of a file. The commands run in this process: only those that meet no signals. */
export function workplaceForEach(): Workplace {
  let folder = '';
  beforeEach(() => {
    const temporary = temporaryFolder();
    const before = process.cwd();
    process.chdir(temporary.path);
    folder = temporary.path;
    onTestFinished(() => {
      process.chdir(before);
      temporary.remove();
    });
  });
  return {
    get folder() {
      return folder;
    },
    async run(...args) {
      const { terminal, said } = bufferTerminal();
      const code = await main(args, terminal);
      return { code, ...said };
    },
    write: (name, text) => writeFileSync(join(folder, name), text),
    read: (name) => readFileSync(join(folder, name), 'utf8'),
  };
}

export const products = 'sku,name\nlamp,Aurora Lamp\nvase,Tide Vase\n';

/** Two pictures. */
export const manifest = `version: 1
name: spring
defaults:
  image: { model: alpha-2, resolution: 1k }
tasks:
  hero:
    kind: image
    foreach: products.csv
    key: "{{row.sku}}"
    with:
      prompt: "{{row.name}} on an oak table"
    save: images/{{row.sku}}
`;
