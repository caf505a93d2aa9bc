// Loaded before the command: counts what is done to the lock on disk and kills the process, with no chance to clean up,
// just before or just after the operation with the given number.
//   KILL_AT      number of the operation, from 1
//   KILL_WHEN    before | after
//   DROP_INTENTS the control: intents never reach the disk
import fs, { promises } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const at = Number(process.env.KILL_AT ?? 0);
const when = process.env.KILL_WHEN ?? 'before';
const dropIntents = process.env.DROP_INTENTS === '1';
let count = 0;

function die() {
  process.kill(process.pid, 'SIGKILL');
  // The signal is on its way; nothing may happen until it is here.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
}

/** What is to be done when the operation is over. */
function begin() {
  count += 1;
  const mine = count;
  if (mine === at && when === 'before') die();
  return () => {
    if (mine === at && when === 'after') die();
  };
}

async function counted(operation) {
  const end = begin();
  const result = await operation();
  end();
  return result;
}

const isLock = (path) => /\.lock\.jsonl$|\.mediabatch-[0-9a-f]+\.tmp$/.test(String(path));
const { open } = promises;
/** Descriptors of the lock: it is written by them. */
const locks = new Set();

promises.open = async (path, ...rest) => {
  const handle = await open.call(promises, path, ...rest);
  if (!isLock(path)) return handle;
  const { fd } = handle;
  locks.add(fd);
  const close = handle.close.bind(handle);
  handle.close = () => {
    locks.delete(fd);
    return close();
  };
  for (const name of ['write', 'writev', 'writeFile', 'appendFile', 'datasync', 'sync', 'truncate']) {
    const own = handle[name].bind(handle);
    handle[name] = (...args) => counted(() => own(...(dropIntents ? withoutIntents(name, args) : args)));
  }
  return handle;
};

const { writeSync } = fs;
fs.writeSync = (fd, data, ...rest) => {
  if (!locks.has(fd)) return writeSync(fd, data, ...rest);
  const end = begin();
  const written = writeSync(fd, ...(dropIntents ? withoutIntents('write', [data, ...rest]) : [data, ...rest]));
  end();
  return written;
};

const { renameSync } = fs;
fs.renameSync = (from, to) => {
  if (!isLock(to)) return renameSync(from, to);
  const end = begin();
  renameSync(from, to);
  end();
};

syncBuiltinESMExports();

/** The caller is told that everything was written; the intents are not there. */
function withoutIntents(name, args) {
  if (name !== 'write' && name !== 'writeFile' && name !== 'appendFile') return args;
  const [data, ...rest] = args;
  const text = Buffer.isBuffer(data) || data instanceof Uint8Array ? Buffer.from(data).toString() : String(data);
  const blank = text.replace(/^.*"state":"intent".*\n/gm, (line) => `${' '.repeat(Buffer.byteLength(line) - 1)}\n`);
  return [Buffer.from(blank), ...rest];
}

process.on('exit', () => {
  if (process.env.REPORT_COUNT === '1') process.stderr.write(`\nlock operations: ${count}\n`);
});
