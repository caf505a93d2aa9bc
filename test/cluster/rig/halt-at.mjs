// Loaded before a command: it ends or stops itself at a moment that is known by what it writes to a socket.
//   HALT_PATTERN  what is written then, as a regular expression; the first time counts
//   HALT_WHEN     before (it is written), written, confirmed (something came back on that connection)
//   HALT_SIGNAL   what it gives itself. Default: SIGKILL
//   HALT_LOG      file that is there from then on
import { writeFileSync } from 'node:fs';
import net from 'node:net';

const pattern = new RegExp(process.env.HALT_PATTERN ?? '$.', 's');
const when = process.env.HALT_WHEN ?? 'before';
const signal = process.env.HALT_SIGNAL ?? 'SIGKILL';
let isSeen = false;
let asked;

function halt() {
  writeFileSync(process.env.HALT_LOG ?? '/dev/null', 'seen\n');
  process.kill(process.pid, signal);
}

function textOf(chunks) {
  return chunks.map((chunk) => (typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('latin1'))).join('');
}

function around(socket, chunks, write) {
  if (isSeen || !pattern.test(textOf(chunks))) return write();
  isSeen = true;
  if (when === 'before') halt();
  const result = write();
  if (when === 'written') halt();
  asked = socket;
  return result;
}

const { _write, _writev, push } = net.Socket.prototype;

net.Socket.prototype._write = function (chunk, encoding, done) {
  return around(this, [chunk], () => _write.call(this, chunk, encoding, done));
};

net.Socket.prototype._writev = function (chunks, done) {
  const parts = chunks.map(({ chunk }) => chunk);
  return around(this, parts, () => _writev.call(this, chunks, done));
};

net.Socket.prototype.push = function (chunk, encoding) {
  if (asked === this && chunk !== null && when === 'confirmed') {
    asked = undefined;
    halt();
  }
  return push.call(this, chunk, encoding);
};
