// Loaded before a worker: it stops itself, whole, at a chosen call of the system between the intent of one create and the
// record of its answer, as if its machine had frozen there.
//   FREEZE_ADDRESS  the step
//   FREEZE_AT       number of the call, from 1; 0: none, all are noted
//   FREEZE_LOG      file; each call that was passed is a line of it
import { appendFileSync } from 'node:fs';
import net from 'node:net';

const at = Number(process.env.FREEZE_AT ?? 0);
const log = process.env.FREEZE_LOG ?? '';
const address = `"address":"${process.env.FREEZE_ADDRESS}"`;
const service = new URL(process.env.MEDIABATCH_BASE_URL ?? 'http://127.0.0.1').port;

let number = 0;
/** The connection to the database whose next answer says that the intent, or the record, is durable. */
let recording;
let phase = 'before';
const creates = new WeakSet();

function pass(label) {
  number += 1;
  appendFileSync(log, `${label}\n`);
  if (number === at) process.kill(process.pid, 'SIGSTOP');
}

function textOf(chunks) {
  return chunks.map((chunk) => (typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('latin1'))).join('');
}

/** What is about to be written; returns what is to happen when it was. */
function seeWrite(socket, text) {
  if (phase === 'before' && text.includes(address) && /"state":"(intent|unresolved)"/.test(text)) {
    phase = 'intended';
    recording = socket;
    pass('the intent is about to be written');
    return 'the intent is written';
  }
  if (phase === 'intended' && text.startsWith('POST ')) {
    creates.add(socket);
    pass('the create is about to be written');
    return 'the create is written';
  }
  if (phase === 'intended' && text.includes(address) && text.includes('"state":"running"')) {
    phase = 'answered';
    recording = socket;
    pass('the record is about to be written');
    return 'the record is written';
  }
  return undefined;
}

const { _write: write, _writev: writev, push } = net.Socket.prototype;

net.Socket.prototype._write = function (chunk, encoding, done) {
  const label = phase === 'after' ? undefined : seeWrite(this, textOf([chunk]));
  const result = write.call(this, chunk, encoding, done);
  if (label !== undefined) pass(label);
  return result;
};

net.Socket.prototype._writev = function (chunks, done) {
  const label = phase === 'after' ? undefined : seeWrite(this, textOf(chunks.map(({ chunk }) => chunk)));
  const result = writev.call(this, chunks, done);
  if (label !== undefined) pass(label);
  return result;
};

net.Socket.prototype.push = function (chunk, encoding) {
  if (chunk !== null && recording === this) {
    recording = undefined;
    pass(phase === 'answered' ? 'the record is confirmed' : 'the intent is confirmed');
    if (phase === 'answered') phase = 'after';
  } else if (chunk !== null && phase === 'intended' && creates.has(this)) {
    pass('the answer has come');
  }
  return push.call(this, chunk, encoding);
};

for (const name of ['connect', 'createConnection']) {
  const own = net[name];
  net[name] = (options, ...rest) => {
    const isCreate = phase === 'intended' && recording === undefined && String(options?.port) === service;
    if (isCreate) pass('a connection is about to be made');
    const socket = own(options, ...rest);
    if (isCreate) socket.once('connect', () => pass('a connection is made'));
    return socket;
  };
}
