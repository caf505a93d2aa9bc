import { createSandbox } from '../../../src/sandbox/index.ts';

/** A sandbox in a process of its own: prints its URL, hangs after booking the first create. */
const [, , dataDir = ''] = process.argv;
const sandbox = createSandbox({ files: { dataDir }, faults: [{ on: 'create', do: { type: 'hang', booked: true } }] });
const { url } = await sandbox.listen();
process.stdout.write(`${url}\n`);
