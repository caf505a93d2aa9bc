import { connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { listenHere } from './listen.ts';

/** A line to a server that can lose answers: the request arrives and is carried out, and then the line is cut. */
export interface LosingLine {
  /** The address, through this line. */
  url: string;
  /** The next `count` requests with this text get no answer. */
  lose(text: string, count?: number): void;
  /** How many answers were lost. */
  readonly lost: number;
}

/** Between a test and the Postgres at `url`; gone with the test. */
export async function losingLine(url: string): Promise<LosingLine> {
  const target = new URL(url);
  let [wanted, left, lost] = ['', 0, 0];
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const far = connect(Number(target.port), target.hostname);
    let isLosing = false;
    const cut = () => {
      client.destroy();
      far.destroy();
    };
    for (const socket of [client, far]) {
      open.add(socket);
      socket.on('error', cut);
      socket.on('close', () => {
        open.delete(socket);
        cut();
      });
    }
    client.on('data', (piece) => {
      if (left > 0 && !isLosing && piece.includes(wanted)) {
        isLosing = true;
        left -= 1;
      }
      far.write(piece);
    });
    far.on('data', (piece) => {
      // `Z`: it is ready for the next statement, so this one has been carried out.
      if (!isLosing) client.write(piece);
      else if (piece.at(-6) === 0x5a) {
        lost += 1;
        cut();
      }
    });
  });
  const own = new URL(url);
  own.port = new URL(await listenHere(server)).port;
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
  });
  return {
    url: own.href,
    lose(text, count = 1) {
      [wanted, left] = [text, count];
    },
    get lost() {
      return lost;
    },
  };
}
