// Loaded before the command: counts what is done to the names of outputs and of kept files – links, copies, renames,
// removals, folders synced –, and kills the process, with no chance to clean up, just before the operation KILL_AT.
import fs, { promises } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const at = Number(process.env.KILL_AT ?? 0);
let count = 0;

function countOne() {
  count += 1;
  if (count !== at) return;
  process.kill(process.pid, 'SIGKILL');
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
}

const isOurs = (path) => /[\\/](?:out|kept)(?:[\\/][^\\/]*)?$/.test(String(path));

for (const name of ['link', 'copyFile', 'unlink', 'open']) {
  const own = promises[name];
  promises[name] = (...paths) => {
    if (paths.some(isOurs)) countOne();
    // The control: the old file is not kept, whatever the caller is told.
    if (process.env.DROP_LINKS === '1' && name === 'link' && isOurs(paths[1])) return Promise.resolve();
    return own.call(promises, ...paths);
  };
}
const { renameSync, unlinkSync } = fs;
fs.unlinkSync = (path) => {
  if (isOurs(path)) countOne();
  unlinkSync(path);
};
fs.renameSync = (from, to) => {
  if (isOurs(to)) countOne();
  if (process.env.DROP_LINKS !== '1' || !/[\\/]kept[\\/]/.test(String(to))) renameSync(from, to);
};
syncBuiltinESMExports();

process.on('exit', () => {
  if (process.env.REPORT_COUNT === '1') process.stderr.write(`\noperations: ${count}\n`);
});
