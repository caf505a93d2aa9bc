import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { type StubConfig, type StubJob, StubJobs } from './stub-jobs.ts';

/**
 * The service with next to nothing behind it, on bare sockets, so that what is measured is the client. Runs as a process
 * of its own: `stub.js CONFIG.json`; prints its base URL, and one without TLS at which `/__stats` tells what was asked.
 */
const config = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as StubConfig;
const jobs = new StubJobs(config);
const picture = makePicture(config.outputBytes);
const video = Buffer.from('\0\0\0\x10ftypisom\0\0\0\0\0\0\0\x08mdat', 'latin1');
let origin = '';

function serve(socket: Socket): void {
  let text = '';
  socket.setEncoding('latin1');
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk: string) => {
    text += chunk;
    let answers = '';
    for (;;) {
      const bodyAt = text.indexOf('\r\n\r\n') + 4;
      if (bodyAt === 3) break;
      const head = text.slice(0, bodyAt);
      const length = head.startsWith('POST') ? Number(/content-length: *(\d+)/i.exec(head)?.[1] ?? 0) : 0;
      if (text.length < bodyAt + length) break;
      const body = text.slice(bodyAt, bodyAt + length);
      text = text.slice(bodyAt + length);
      const path = head.slice(head.indexOf(' ') + 1, head.indexOf(' HTTP/1.1'));
      if (path.startsWith('/api/v1/files/')) {
        if (answers !== '') socket.write(answers, 'latin1');
        answers = '';
        sendFile(socket, path);
      } else if (config.createsPerSecond !== undefined && head.startsWith('POST')) {
        // Whoever creates does so on a connection of its own.
        setTimeout(() => socket.end(answer(head, path, body), 'latin1'), jobs.turnOfCreate());
        return;
      } else {
        answers += answer(head, path, body);
      }
      if (/\r\nconnection: close/i.test(head)) {
        socket.end(answers, 'latin1');
        return;
      }
    }
    if (answers !== '') socket.write(answers, 'latin1');
  });
}

/** Every byte is under way for so long, in each direction; those of the handshake as well. */
function delay(from: Socket, to: Socket, delayMs: number): void {
  from.on('data', (chunk: Buffer) => setTimeout(() => to.write(chunk), delayMs));
  from.on('end', () => setTimeout(() => to.end(), delayMs));
  from.on('error', () => to.destroy());
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

const plain = await listen(createServer({ noDelay: true }, serve));
origin = `http://127.0.0.1:${plain}/api/v1`;
if (config.far !== undefined) {
  const { delayMs, key, certificate } = config.far;
  const encrypted = await listen(createTlsServer({ key, cert: certificate, noDelay: true }, serve));
  const far = createServer({ noDelay: true, allowHalfOpen: true }, (socket) => {
    const inner = connect({ port: encrypted, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
    delay(socket, inner, delayMs);
    delay(inner, socket, delayMs);
  });
  origin = `https://127.0.0.1:${await listen(far)}/api/v1`;
}
process.stdout.write(`${origin} http://127.0.0.1:${plain}\n`);

function answer(head: string, path: string, body: string): string {
  if (path === '/__stats') return json('200 OK', JSON.stringify(jobs.stats()));
  const [, , , room = '', second = '', id = ''] = path.split('/');
  if (head.startsWith('POST')) {
    const key = /\r\nidempotency-key: *([^\r]+)/i.exec(head)?.[1];
    const job = jobs.create(room, { key: room === 'image-generations' ? key : undefined, body });
    // Only the peer that shows the limit looks at `readyInMs`: it stands for an oracle.
    return json(
      '200 OK',
      `{"success":true,"generation":{"id":"${job.id}","status":"QUEUED"},"creditsDeducted":1,"creditsRemaining":1000000,"readyInMs":${job.durationMs}}`,
    );
  }
  if (second === 'status') {
    jobs.counts.polls += 1;
    if (!jobs.allowsRead()) return refused();
    const job = jobs.byId.get(id);
    return job === undefined ? notFound() : json('200 OK', `{"success":true,"data":${view(job)}}`);
  }
  if (second.startsWith('all')) {
    jobs.counts.listReads += 1;
    return jobs.allowsRead() ? json('200 OK', page(room, second)) : refused();
  }
  return notFound();
}

/** As the list shows it; the status view has less, and nobody minds more. */
function view(job: StubJob): string {
  const done = jobs.notify(job);
  const file = `${origin}/files/${job.id}.${job.kind === 'image-generations' ? 'png' : 'mp4'}`;
  const created = new Date(job.createdAt).toISOString();
  const ended = done ? new Date(job.doneAt).toISOString() : created;
  const output = done
    ? `"outputUrl":"${file}","outputAsset":{"id":"asset_${job.id}","url":"${file}"},"completedAt":"${ended}",`
    : '';
  return `{"id":"${job.id}","status":"${done ? 'COMPLETED' : 'PROCESSING'}",${output}"error":null,"createdAt":"${created}","updatedAt":"${ended}"}`;
}

function page(kind: string, query: string): string {
  const all = jobs.byKind.get(kind) ?? [];
  const limit = Math.min(100, Number(/limit=(\d+)/.exec(query)?.[1] ?? 12));
  const current = Number(/page=(\d+)/.exec(query)?.[1] ?? 1);
  const end = Math.max(0, all.length - (current - 1) * limit);
  const items = all
    .slice(Math.max(0, end - limit), end)
    .reverse()
    .map((job) => `${view(job).slice(0, -1)},"prompt":"${job.prompt}","creditsUsed":1}`);
  const pages = Math.max(1, Math.ceil(all.length / limit));
  const pagination = `{"currentPage":${current},"totalPages":${pages},"totalCount":${all.length},"limit":${limit},"hasNextPage":${current < pages},"hasPreviousPage":${current > 1}}`;
  return `{"success":true,"generations":[${items.join(',')}],"pagination":${pagination}}`;
}

function sendFile(socket: Socket, path: string): void {
  jobs.counts.downloads += 1;
  const isVideo = path.endsWith('.mp4');
  const bytes = isVideo ? video : picture;
  const head = `HTTP/1.1 200 OK\r\ncontent-type: ${isVideo ? 'video/mp4' : 'image/png'}\r\ncontent-length: ${bytes.length}\r\n\r\n`;
  socket.cork();
  socket.write(head, 'latin1');
  socket.write(bytes);
  socket.uncork();
}

function json(status: string, text: string): string {
  return `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
}

function refused(): string {
  const text = '{"success":false,"error":"Too many requests","code":"RATE_LIMITED","message":"slow down"}';
  return json('429 Too Many Requests\r\nretry-after: 1', text);
}

function notFound(): string {
  return json('404 Not Found', '{"success":false,"error":"Not found","code":"NOT_FOUND","message":"no such thing"}');
}

/** A pixel, or a picture that is as big as is wanted: zeros between the head and the end of a PNG. */
function makePicture(bytes: number | undefined): Buffer {
  const pixel = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=',
    'base64',
  );
  if (bytes === undefined) return pixel;
  const picture = Buffer.alloc(bytes);
  pixel.copy(picture, 0, 0, 33);
  pixel.copy(picture, bytes - 12, pixel.length - 12);
  return picture;
}
