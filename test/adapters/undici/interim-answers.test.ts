import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { withInterimAnswers } from '../../../adapters/undici/connection-pool.js';

/** What is read when these pieces arrive one by one, each read before the next comes. */
function readIn(pieces: readonly string[], expected: () => boolean = () => true): string[] {
  const socket = new Socket();
  const arrived: Buffer[] = [];
  socket.read = () => arrived.shift() ?? null;
  const reader = withInterimAnswers(socket, expected);
  const read: string[] = [];
  for (const piece of pieces) {
    arrived.push(Buffer.from(piece, 'latin1'));
    for (let chunk: unknown = reader.read(); Buffer.isBuffer(chunk); chunk = reader.read()) {
      read.push(chunk.toString('latin1'));
    }
  }
  return read;
}

const interim = 'HTTP/1.1 100 Continue\r\nserver: x\r\n\r\n';
const passed = 'HTTP/1.1 102 Continue\r\nserver: x\r\n\r\n';
const last = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';

describe('an unasked 100', () => {
  it('is read as another interim answer, wherever its bytes are split', () => {
    const whole = interim + last;
    for (let at = 1; at < whole.length; at += 1) {
      expect(readIn([whole.slice(0, at), whole.slice(at)]).join('')).toBe(passed + last);
    }
    expect(readIn([...whole]).join('')).toBe(passed + last);
  });

  it('is looked for at the beginning of a head only', () => {
    const bytes = `HTTP/1.1 200 OK\r\nx-note: HTTP/1.1 100\r\n\r\n${interim}`;
    expect(readIn([bytes])).toEqual([bytes]);
    expect(readIn([interim], () => false)).toEqual([interim]);
  });

  it('holds nothing back that is no HTTP', () => {
    expect(readIn(['SSH-2.0', 'H', 'TTX'])).toEqual(['SSH-2.0', 'HTTX']);
  });
});
