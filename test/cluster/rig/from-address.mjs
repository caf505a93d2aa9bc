// Loaded before a command: what it asks of the service comes from an address of its own on this machine, so that the
// service can tell the processes apart. `MEDIABATCH_TEST_FROM`: the address, 127.0.0.2 and so on (Linux).
import net from 'node:net';

const from = process.env.MEDIABATCH_TEST_FROM;
const service = new URL(process.env.MEDIABATCH_BASE_URL ?? 'http://127.0.0.1:0').port;

if (from !== undefined) {
  for (const name of ['connect', 'createConnection']) {
    const own = net[name];
    net[name] = (options, ...rest) =>
      String(options?.port) === service ? own({ ...options, localAddress: from }, ...rest) : own(options, ...rest);
  }
}
